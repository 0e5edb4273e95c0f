"""What is published of the metrics of an upload, to set beside its values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import reduce
from operator import or_
from typing import NamedTuple

from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, When, Window
from django.db.models.functions import RowNumber

from results.actors import Actor
from results.catalogue.base import Value
from results.models import Artefact, Lab, Measurement, Metric, Run, Summary, System, Upload
from results.queries import Stored, stored, summaries, systems, systems_of_labs, visible_runs

MOST_CELLS = 2_000  # read of one metric, the best first
MOST_SYSTEMS = 20_000
MOST_VARIANTS = 100  # asked for by name; of more, all variants are read
# A benchmark's slug and a metric's full name.
Named = tuple[str, str]


class Rows(NamedTuple):
    """What the rows of an upload are made of; not all of these together have to be one."""

    metrics: Collection[Named]
    scopes: Collection[str]
    variants: Collection[Mapping[str, Value]]


class Found(NamedTuple):
    """Published cells of some metrics.

    `own`: of the systems asked for, all setups; `shared`: those of them that hold runs of
    the upload itself. `others`: of all systems, ranked, the best of each metric and scope
    first; `cut` names metric and scope of which there are more. `isas`: what is known of
    the systems' instruction sets, by id.
    """

    own: list[Stored]
    shared: list[Stored]
    others: list[Stored]
    cut: set[tuple[str, str, str]]
    isas: dict[int, str]


def systems_named(slugs: Collection[str], lab: int | None) -> dict[str, System]:
    """Systems by slug, of those that all know or that the lab (id) has measured. One query."""
    seen = Q(is_public=True)
    if lab is not None:
        seen |= systems_of_labs([lab])
    return {system.slug: system for system in systems().filter(seen, slug__in=slugs)}


def published(rows: Rows, system_ids: Collection[int], upload: int) -> Found:
    """What is published in those rows, of those systems and of others.

    Five queries, however many values the upload has.
    """
    metrics, scopes = _metric_ids(rows.metrics), rows.scopes
    kept = summaries().filter(metric__in=metrics, scope__in=scopes)
    if 0 < len(rows.variants) <= MOST_VARIANTS:
        kept = kept.filter(reduce(or_, (Q(variant=dict(one)) for one in rows.variants)))
    in_it = Measurement.objects.filter(summary=OuterRef("pk"), run__uploads=upload)
    own = kept.filter(system__in=system_ids).order_by("-newest", "id")
    most = MOST_CELLS * max(1, len(metrics))
    each = max(1, MOST_CELLS // max(1, len(scopes)))
    others = stored(_best(kept, each))
    return Found(
        own=stored(own.filter(~Exists(in_it)), most=most),
        shared=stored(own.filter(Exists(in_it)), most=most),
        others=others,
        cut=_full(others, each),
        isas=_isas(metrics),
    )


def _metric_ids(named: Collection[Named]) -> list[int]:
    """Ids of the metrics that are stored. One query."""
    rows = Metric.objects.filter(benchmark__slug__in={slug for slug, _name in named})
    wanted = set(named)
    found = rows.values_list("pk", "benchmark__slug", "workload", "name")
    return [pk for pk, slug, workload, name in found if (slug, f"{workload}.{name}") in wanted]


def _best(
    cells: QuerySet[Summary, tuple[object, ...]], each: int
) -> QuerySet[Summary, tuple[object, ...]]:
    """Of each metric and scope the best values of single systems, at most `each`."""
    better = Case(When(metric__higher_is_better=True, then=-F("median")), default=F("median"))
    place = Window(
        RowNumber(),
        partition_by=[F("metric"), F("scope")],
        order_by=[better.asc(), F("id").asc()],
    )
    members = System.members.through.objects.filter(from_system=OuterRef("system"))
    ranked = cells.filter(~Exists(members), ranked=True, median__isnull=False)
    return ranked.alias(place=place).filter(place__lte=each)


def _full(cells: Iterable[Stored], each: int) -> set[tuple[str, str, str]]:
    counted = Counter((c.benchmark, f"{c.workload}.{c.metric}", c.scope) for c in cells)
    return {key for key, count in counted.items() if count >= each}


def _isas(metrics: Collection[int]) -> dict[int, str]:
    """The instruction sets of the systems that have results of the metrics. One query."""
    measured = Summary.objects.filter(system=OuterRef("pk"), metric__in=metrics)
    rows = System.objects.filter(Exists(measured)).order_by("id")
    pairs = rows.values_list("pk", "processor__isa", "processor__inferred__isa")
    return {pk: str(isa or guessed or "") for pk, isa, guessed in pairs[:MOST_SYSTEMS]}


def lab_names(slugs: Collection[str]) -> dict[str, str]:
    """Names of labs by slug. One query."""
    return dict(Lab.objects.filter(slug__in=slugs).values_list("slug", "name"))


def runs_to_name(ids: Collection[int], user: Actor) -> dict[int, Run]:
    """The runs of those ids that `user` may see. One query."""
    return {run.pk: run for run in visible_runs(user).filter(pk__in=ids)}


def files_named(upload: Upload) -> dict[str, Artefact]:
    """The files of an upload and of its runs by name, as far as they are kept. Two queries."""
    named = Artefact.objects.filter(runs__uploads=upload, stored=True).distinct()
    found = {artefact.name: artefact for artefact in named}
    rows = upload.files.select_related("artefact")
    return found | {row.name: row.artefact for row in rows if row.artefact.stored}
