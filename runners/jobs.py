"""What is asked of hosts: making and cancelling jobs, and who may do what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from results import actors, sync
from results.actors import Actor, TokenUser
from results.models import Lab, Run, Token
from runners import benchmarks
from runners.benchmarks.base import Runner
from runners.doorbell import ring_on_commit
from runners.machine import Facts
from runners.models import Attempt, Host, Job
from runners.parameters import complete

# More than this waiting at one host is a mistake of whoever asks.
MOST_WAITING = 500


class JobError(ValueError):
    """A request that cannot be met; the message may be shown."""


class NotAllowed(JobError):  # noqa: N818 - a refusal, no failure
    """A request that is not for this account or token to make; the message may be shown."""


class AlreadyOver(JobError):  # noqa: N818 - a refusal, no failure
    """The job has ended: there is nothing to cancel."""


def local_lab() -> Lab:
    """The lab of what the hub's own hosts measure."""
    sync.ensure()
    return Lab.objects.get(slug=sync.LOCAL)


def may_run(actor: Actor | None) -> bool:
    """Whether they may start jobs: the staff, and tokens that were made for it."""
    return actors.is_staff(actor) or _run_token(actor) is not None


def may_cancel(actor: Actor | None, job: Job) -> bool:
    """Whether they may end a job: the staff any, a token those of its lab; of `local`, any."""
    if actors.is_staff(actor):
        return True
    token = _run_token(actor)
    return token is not None and (token.lab_id == job.lab_id or token.lab.slug == sync.LOCAL)


def may_read(actor: Actor | None, job: Job) -> bool:
    """Whether they may read a job's log and record: the staff, the hub's lab, who asked."""
    if actors.is_staff(actor):
        return True
    asked = [job.lab_id] if job.lab_id else []
    wanted = Lab.objects.filter(Q(slug=sync.LOCAL) | Q(pk__in=asked))
    token = _run_token(actor)
    own = [token.lab_id] if token else []
    return wanted.filter(Q(pk__in=actors.reads_labs(actor)) | Q(pk__in=own)).exists()


def _run_token(actor: Actor | None) -> Token | None:
    """The live token that asks, if it is for jobs."""
    token = actor.token if isinstance(actor, TokenUser) else None
    return token if token and token.is_live and token.may(Token.Scope.RUN) else None


@transaction.atomic
def request_job(
    *,
    host: Host,
    benchmark: str,
    preset: str,
    parameters: Mapping[str, Any],
    actor: Actor | None,
    reruns: Run | None = None,
    publish: bool = False,
) -> Job:
    """Put a job in the host's queue. `parameters` are those chosen over the preset's.

    `actor` None: the hub itself asks. `reruns` is a run that `actor` may see. Raises
    ParameterError with a message for each parameter, NotAllowed, or JobError.
    """
    _check_rights(actor, publish=publish)
    runner = _runner(benchmark)
    _check_host(host, benchmark)
    values = complete(runner, preset, parameters, Facts.of(host.facts))
    job = Job.objects.create(
        host=host,
        benchmark=benchmark,
        preset=preset,
        parameters=values,
        publish=publish,
        reruns=reruns,
        lab=actor.token.lab if isinstance(actor, TokenUser) else None,
        created_by=actors.account(actor),
        token=actor.token if isinstance(actor, TokenUser) else None,
        actor_name=actors.name_of(actor),
    )
    ring_on_commit(Attempt.objects.create(job=job, host=host))
    return job


def _check_rights(actor: Actor | None, *, publish: bool) -> None:
    if actor is None:
        return
    if not may_run(actor):
        raise NotAllowed(_("Only the staff, or a token made for it, starts jobs."))
    if publish and not actors.may_publish(actor, local_lab()):
        raise NotAllowed(_("Only the staff publishes what this hub's hosts measure."))


def _runner(benchmark: str) -> Runner:
    runner = benchmarks.get(benchmark)
    if runner is None:
        known = ", ".join(benchmarks.runners())
        message = _("No runner measures %(benchmark)r here; there are: %(known)s.")
        raise JobError(message % {"benchmark": benchmark[:80], "known": known})
    return runner


def _check_host(host: Host, benchmark: str) -> None:
    if not host.is_open:
        raise JobError(_("%(host)s takes no jobs at present.") % {"host": host})
    check = host.runners.get(benchmark, {})
    if not check.get("ready"):
        words = {"host": host, "missing": check.get("missing") or _("it was not looked at yet")}
        raise JobError(_("%(host)s cannot run it: %(missing)s.") % words)
    waiting = host.attempts.filter(state=Attempt.State.QUEUED).count()
    if waiting >= MOST_WAITING:
        message = _("%(count)d jobs wait at %(host)s already.")
        raise JobError(message % {"count": waiting, "host": host})


@transaction.atomic
def cancel_job(job: Job, *, actor: Actor | None) -> Job:
    """End a job: at once while it waits, within a second or so while it runs.

    Returns it as it is then. Raises NotAllowed, or AlreadyOver.
    """
    if actor is not None and not may_cancel(actor, job):
        raise NotAllowed(_("This job is not yours to cancel."))
    # The request first: from then on nobody claims it.
    waits = (Job.State.QUEUED, Job.State.RUNNING)
    asked = Job.objects.filter(pk=job.pk, state__in=waits)
    by = _("cancelled by %(name)s") % {"name": actors.name_of(actor)}
    if not asked.update(cancel_requested_at=Now(), message=by):
        raise AlreadyOver(_("The job is over: there is nothing to cancel."))
    queued = Attempt.objects.filter(job=job, state=Attempt.State.QUEUED)
    if queued.update(state=Attempt.State.CANCELLED, finished_at=Now(), ended_at=Now()):
        Job.objects.filter(pk=job.pk).update(state=Job.State.CANCELLED, finished_at=Now())
    job.refresh_from_db()
    return job
