"""What the pages of jobs read: lists of jobs, one job, its results, the queue before it."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Count, Exists, OuterRef, Prefetch, Q, QuerySet, Subquery

from results.actors import Actor
from results.models import Comparison, Measurement, Run, System
from results.queries import default_comparison, visible_runs, visible_systems
from runners.engine import processes
from runners.models import Attempt, Host, Job

OPEN = (Job.State.QUEUED, Job.State.RUNNING)
MOST_RUNS = 50  # results of a job that its page shows
MOST_HOSTS = 200  # that are offered in a form
NEWEST = 5  # jobs of a host that its page names


def jobs_listed(*, state: str = "", host: str = "", benchmark: str = "") -> QuerySet[Job]:
    """Jobs that fit, newest first, with their hosts and attempts. Two queries.

    `host` and `benchmark` are slugs; an empty text fits all. What attempts printed stays behind.
    """
    short = Attempt.objects.defer("tail", "record").order_by("number")
    found = Job.objects.select_related("host", "created_by", "token__lab")
    for name, value in (("state", state), ("host__slug", host), ("benchmark", benchmark)):
        if value:
            found = found.filter(**{name: value})
    return found.prefetch_related(Prefetch("attempts", short)).order_by("-pk")


def job_page(pk: int) -> Job | None:
    """A job with its host and attempts, the newest last. Two queries."""
    related = ("host__system", "created_by", "token__lab", "lab", "reruns")
    found = Job.objects.select_related(*related).prefetch_related(
        Prefetch("attempts", Attempt.objects.order_by("number"))
    )
    return found.filter(pk=pk).first()


def results_of(job: Job, user: Actor) -> list[Run]:
    """The runs that came of a job and that `user` may see. Two queries."""
    measurements = Measurement.objects.select_related("metric", "artefact").order_by(
        "metric__order", "id"
    )
    found = visible_runs(user).filter(jobs=job).order_by("pk")
    related = ("benchmark", "system__processor", "setup", "lab", "source")
    prepared = found.select_related(*related).prefetch_related(
        Prefetch("measurements", measurements)
    )
    return list(prepared[:MOST_RUNS])


def repeated_run(job: Job, user: Actor) -> Run | None:
    """The run that a job repeats, for who may see it. One query."""
    if job.reruns_id is None:
        return None
    found = visible_runs(user).filter(pk=job.reruns_id)
    return found.select_related("benchmark", "system__processor").first()


def runs_to_repeat(ids: Iterable[int], user: Actor) -> list[Run]:
    """Those of the runs (ids) that `user` may see, with what a form says of them. One query."""
    found = visible_runs(user).filter(pk__in=list(ids)).order_by("pk")
    return list(found.select_related("benchmark", "system__processor", "lab", "setup"))


def waiting_before(attempt: Attempt) -> int:
    """How many attempts come before a waiting one at its host, the running one among them."""
    states = (Attempt.State.QUEUED, Attempt.State.RUNNING)
    return Attempt.objects.filter(host=attempt.host_id, state__in=states, pk__lt=attempt.pk).count()


def open_hosts() -> list[Host]:
    """The hosts that take jobs. One query."""
    found = Host.objects.filter(is_open=True).select_related("system__processor")
    return list(found[:MOST_HOSTS])


def hosts_named() -> list[tuple[str, str]]:
    """All hosts by slug and name, for a filter. One query."""
    return list(Host.objects.values_list("slug", "name")[:MOST_HOSTS])


def host_here() -> Host | None:
    """The host that this process runs on, if its worker has told where it lives. One query."""
    place = processes.place()
    return Host.objects.filter(place=place).select_related("system").first() if place else None


def default_columns() -> list[str]:
    """The systems (column keys) that are compared by default; none without that comparison."""
    stored: Comparison | None = default_comparison()
    return list(stored.columns) if stored else []


def has_published(system: System | None, benchmarks: Iterable[str]) -> bool:
    """Whether anything of those benchmarks is published of a system. One query, or none."""
    if system is None:
        return False
    found = Run.objects.filter(system=system, state=Run.State.PUBLISHED)
    return found.filter(benchmark__slug__in=list(benchmarks)).exists()


def is_being_measured(host: Host, benchmarks: Iterable[str]) -> bool:
    """Whether a job of those benchmarks waits or runs at a host. One query."""
    return host.jobs.filter(state__in=OPEN, benchmark__in=list(benchmarks)).exists()


def hosts_shown(user: Actor) -> list[Host]:
    """All hosts with what their page says of each. One query.

    `running` and the ids in `newest` are of jobs, `waiting` counts them; `is_system_seen`:
    whether `user` may know of the host's system.
    """
    own = Job.objects.filter(host=OuterRef("pk")).order_by("-pk").values("pk")
    seen = visible_systems(user).filter(pk=OuterRef("system_id"))
    newest = {f"newest_{place}": Subquery(own[place : place + 1]) for place in range(NEWEST)}
    found = Host.objects.annotate(
        running=Subquery(own.filter(state=Job.State.RUNNING)[:1]),
        waiting=Count("jobs", filter=Q(jobs__state=Job.State.QUEUED)),
        is_system_seen=Exists(seen),
        **newest,
    )
    return list(found.select_related("system__processor").order_by("slug")[:MOST_HOSTS])


def newest_jobs(hosts: Iterable[Host]) -> dict[int, list[Job]]:
    """The newest jobs of hosts that `hosts_shown` gave, by the host's id. Two queries."""
    names = [f"newest_{place}" for place in range(NEWEST)]
    ids = [getattr(host, name) for host in hosts for name in names]
    short = Attempt.objects.defer("tail", "record").order_by("number")
    jobs = Job.objects.filter(pk__in=[pk for pk in ids if pk is not None])
    found: dict[int, list[Job]] = {}
    for job in jobs.prefetch_related(Prefetch("attempts", short)).order_by("-pk"):
        found.setdefault(job.host_id, []).append(job)
    return found
