"""What the pages of systems, benchmarks, labs and runs read, beside the cells of comparisons."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    IntegerField,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Sum,
    When,
)
from django.db.models.functions import Coalesce

from results import actors
from results.actors import Actor
from results.models import (
    AuditEntry,
    Benchmark,
    Lab,
    List,
    ListEntry,
    Measurement,
    Metric,
    Run,
    Source,
    Summary,
    System,
)
from results.queries import (
    Stored,
    public_systems,
    stored,
    summaries,
    systems,
    visible_runs,
    visible_systems,
)

LEAGUE_READS = 2000  # cells that a league table is made from, the best first
SIMILAR = 6
SEARCHED = ("slug", "name", "vendor", "processor__name", "processor__short_name", "memory_config")

# A reported range counts as its ends: two, or one where it is open.
ENDS = Case(
    When(Q(n=0) & (Q(low__isnull=True) | Q(high__isnull=True)), then=F("ranges")),
    default=F("ranges") * 2,
    output_field=IntegerField(),
)
FIGURES = Coalesce(Sum(F("n") + ENDS), 0)


class Totals(NamedTuple):
    """What is published, in counts."""

    systems: int
    benchmarks: int
    labs: int
    values: int
    ranges: int


class Tally(NamedTuple):
    """What a lab has measured, or what is known of a benchmark, in counts."""

    systems: int
    benchmarks: int
    figures: int


def totals() -> Totals:
    """Counts over all that is published. One query."""
    found = Summary.objects.aggregate(
        systems=Count("system", distinct=True),
        benchmarks=Count("benchmark", distinct=True),
        labs=Count("lab", distinct=True),
        values=Coalesce(Sum("n"), 0),
        ranges=Coalesce(Sum("ranges"), 0),
    )
    return Totals(**found)


def labs_with_tallies() -> list[tuple[Lab, Tally]]:
    """The labs that have published something and how much, most first. Two queries."""
    counted = _tallies("lab")
    labs = Lab.objects.filter(pk__in=list(counted))
    return sorted(((lab, counted[lab.pk]) for lab in labs), key=lambda item: -item[1].figures)


def benchmark_tallies() -> dict[str, Tally]:
    """How much is published of each benchmark, by its slug. One query."""
    return _tallies("benchmark__slug")


def metric_tallies(benchmark: Benchmark) -> dict[int, Tally]:
    """How much is published of each metric of a benchmark that has any. One query."""
    return _tallies("metric", Summary.objects.filter(benchmark=benchmark))


def _tallies(by: str, cells: QuerySet[Summary] | None = None) -> dict[Any, Tally]:
    found = Summary.objects.all() if cells is None else cells
    rows = found.values(by).annotate(
        systems=Count("system", distinct=True),
        benchmarks=Count("benchmark", distinct=True),
        figures=FIGURES,
    )
    return {row[by]: Tally(row["systems"], row["benchmarks"], row["figures"]) for row in rows}


def figure_counts(system_ids: Iterable[int]) -> dict[int, int]:
    """Published figures of each of those systems that has any. One query."""
    rows = Summary.objects.filter(system__in=list(system_ids)).values("system")
    return {row["system"]: row["figures"] for row in rows.annotate(figures=FIGURES)}


def find_systems(
    user: Actor, *, text: str = "", lab: str = "", vendor: str = "", isa: str = ""
) -> QuerySet[System]:
    """Systems that fit and that `user` may know of.

    Those with published results first, then those of a known processor.

    `text`: words that must all occur in a name, vendor, processor or memory. `vendor`: of
    the system or its processor. `lab`: by slug, that has published results of it.
    """
    has_results = Exists(Summary.objects.filter(system=OuterRef("pk")))
    found = visible_systems(user).annotate(has_results=has_results)
    for word in text.split()[:8]:
        found = found.filter(_mentions(word))
    if vendor:
        found = found.filter(Q(vendor=vendor) | Q(processor__vendor=vendor))
    if isa:
        found = found.filter(Q(processor__isa=isa) | Q(processor__inferred__isa=isa))
    if lab:
        found = found.filter(Exists(Summary.objects.filter(system=OuterRef("pk"), lab__slug=lab)))
    return found.order_by("-has_results", F("processor__name").asc(nulls_last=True), "name", "slug")


def _mentions(word: str) -> Q:
    clause = Q()
    for name in SEARCHED:
        clause |= Q(**{f"{name}__icontains": word})
    return clause


class Choices(NamedTuple):
    """What the list of systems can be filtered by."""

    labs: list[tuple[str, str]]
    vendors: list[str]
    isas: list[str]


def system_choices(user: Actor) -> Choices:
    """Labs with results, vendors and ISAs of the systems that `user` may know of. Three queries."""
    has_results = Exists(Summary.objects.filter(lab=OuterRef("pk")))
    labs = list(Lab.objects.filter(has_results).values_list("slug", "name"))
    seen = visible_systems(user)
    pairs = seen.order_by().values_list("vendor", "processor__vendor").distinct()
    vendors = sorted({name for pair in pairs for name in pair if name}, key=str.casefold)
    isas = seen.order_by("processor__isa").values_list("processor__isa", flat=True)
    return Choices(labs, vendors, [isa for isa in isas.distinct() if isa])


def similar_systems(system: System) -> list[tuple[System, int]]:
    """Other systems with results of the same metrics, and of how many, most first. Two queries."""
    own = Summary.objects.filter(system=system).values("metric")
    rows = (
        Summary.objects.filter(metric__in=own)
        .exclude(system=system)
        .order_by()
        .values("system")
        .annotate(shared=Count("metric", distinct=True))
        .order_by("-shared", "system")[:SIMILAR]
    )
    shared = {row["system"]: row["shared"] for row in rows}
    found = public_systems().in_bulk(list(shared))
    return [(found[pk], count) for pk, count in shared.items() if pk in found]


def system_page(slug: str, user: Actor) -> System | None:
    """A system with its source, members and `groups`, or None where `user` may not know of it.

    Three queries.
    """
    seen = visible_systems(user)
    around = (Prefetch("members", seen), Prefetch("groups", seen))
    found = seen.filter(slug=slug).select_related("source").prefetch_related(*around)
    return found.first()


def runs_of(system: System, user: Actor) -> QuerySet[Run]:
    """The runs of a system that `user` may see, newest first, with what a list of them says."""
    return (
        visible_runs(user)
        .filter(system=system)
        .select_related("benchmark", "lab", "source")
        .order_by("-id")
    )


def metric_cells(metric: Metric) -> list[Stored]:
    """Cells of a metric over all systems: the best first, then those that are ranges."""
    best = F("median").desc if metric.higher_is_better else F("median").asc
    rows = summaries().filter(metric=metric).order_by(best(nulls_last=True), "id")
    return stored(rows, most=LEAGUE_READS)


def systems_by_id(ids: Collection[int]) -> dict[int, System]:
    """Systems with their processors, by id. One query."""
    return systems().in_bulk(list(ids))


def sources_by_id(ids: Iterable[int | None]) -> dict[int, Source]:
    """Sources by id; None is passed over. One query, none without ids."""
    return Source.objects.in_bulk([pk for pk in ids if pk is not None])


def lists_of(metric: Metric) -> list[List]:
    """The Lists that rank a metric, with their sources and entries. Two queries."""
    entries = ListEntry.objects.select_related("system__processor").order_by("rank", "id")
    found = List.objects.filter(metric=metric).select_related("source")
    return list(found.prefetch_related(Prefetch("entries", entries)))


def readable_runs(user: Actor) -> QuerySet[Run]:
    """The runs whose page `user` may read: visible ones, and what was published once.

    A withdrawn run keeps its address, so that a citation finds the reason.
    """
    once = Q(state=Run.State.WITHDRAWN, published_at__isnull=False)
    return Run.objects.filter(Q(pk__in=visible_runs(user).values("pk")) | once)


def run_page(pk: int, user: Actor) -> Run | None:
    """A run with all that its page shows, or None where `user` may not see it. Four queries."""
    measurements = Measurement.objects.select_related("metric", "artefact").order_by(
        "metric__order", "id"
    )
    return (
        readable_runs(user)
        .filter(pk=pk)
        .select_related(
            "lab",
            "system__processor",
            "benchmark",
            "setup",
            "source",
            "supersedes",
            "superseded_by",
        )
        .prefetch_related("artefacts", Prefetch("measurements", measurements))
        .first()
    )


def is_entitled(run: Run, user: Actor) -> bool:
    """Whether `user` may see what is not public of a run: the staff and its lab."""
    return actors.may_read_lab(user, run.lab_id)


def audit_of(run: Run) -> list[AuditEntry]:
    """Who changed a run's numbers or standing, or its uploads, newest first. One query."""
    about = Q(run_id=run.pk) | Q(upload__in=run.uploads.order_by().values("pk"))
    return list(AuditEntry.objects.filter(about).order_by("-id")[:50])
