"""Every read over several tables: rows that the layers above turn into tables and pages."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache, reduce
from typing import Any, NamedTuple

from django.db.models import Exists, F, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast

from results import actors
from results.actors import Actor
from results.catalogue.base import Value
from results.models import Comparison, Lab, Measurement, Processor, Run, Summary, System

# A benchmark's slug, or slug and workload.
Selection = tuple[str, str | None]


class Stored(NamedTuple):
    """A summary as a comparison reads it; names are those of the model."""

    system_id: int
    benchmark: str
    workload: str
    metric: str
    lab: str
    version: str
    scope: str
    fingerprint: str
    ranked: bool
    n: int
    median: float | None
    low: float | None
    high: float | None
    qualifier: str
    trust: int
    run: int
    source: int | None
    newest: datetime
    cores: int | None
    threads: int | None
    nodes: int | None
    watts: float | None
    variant: Mapping[str, Value]
    axis: Mapping[str, Value]
    scale: Mapping[str, Value]
    tracked: Mapping[str, Value]
    assumed: Sequence[str]


FIELDS = (
    "system_id",
    "benchmark__slug",
    "metric__workload",
    "metric__name",
    "lab__slug",
    "version",
    "scope",
    "fingerprint",
    "ranked",
    "n",
    "median",
    "low",
    "high",
    "qualifier",
    "trust",
    "best_run_id",
    "best_run__source_id",
    "newest",
    "cores",
    "threads",
    "nodes",
    "watts",
)
# Read as text: decoding the few different texts once is most of what a comparison saves.
PARTS = ("variant", "axis", "scale", "tracked", "assumed")


def systems_by_slug(slugs: Collection[str]) -> dict[str, System]:
    """The public systems of those slugs, with their processors; others are left out."""
    return {system.slug: system for system in public_systems().filter(slug__in=set(slugs))}


def systems() -> QuerySet[System]:
    """All systems with their processors; `is_group` where a source quotes several as one."""
    return _prepared_systems().all()


def public_systems() -> QuerySet[System]:
    """The systems that all may know of, with their processors."""
    return systems().filter(is_public=True)


def public_slugs() -> list[str]:
    """Names of systems to suggest to whoever has written another, 5,000 at most."""
    return list(System.objects.filter(is_public=True).values_list("slug", flat=True)[:5000])


def visible_systems(user: Actor) -> QuerySet[System]:
    """The systems that `user` may know of, with their processors.

    Public ones, those with runs of their labs, all for the staff.
    """
    return systems().filter(_visible(user, systems_of_labs))


def visible_processors(user: Actor) -> QuerySet[Processor]:
    """The processors that `user` may know of: public ones, and those of visible systems."""
    return Processor.objects.filter(_visible(user, processors_of_labs))


def _visible(user: Actor, of_labs: Callable[[QuerySet[Any, Any]], Q]) -> Q:
    if actors.is_staff(user):
        return Q()
    public = Q(is_public=True)
    return public | of_labs(actors.reads_labs(user)) if user.is_authenticated else public


def systems_of_labs(labs: QuerySet[Any, Any] | Collection[int]) -> Q:
    """Systems with runs of those labs (ids), in any state, and the members of such groups."""
    runs = Run.objects.order_by().filter(lab__in=labs)
    return _measured_in(runs)


def processors_of_labs(labs: QuerySet[Any, Any] | Collection[int]) -> Q:
    """Processors of systems with runs of those labs (ids)."""
    found = System.objects.order_by().filter(systems_of_labs(labs))
    return Q(Exists(found.filter(processor=OuterRef("pk"))))


def systems_free_for(lab: str) -> QuerySet[System]:
    """The systems that results of a lab (slug) may be stored on.

    Public ones, those with runs of the lab, and those that nothing is left of. What another app
    points to, a host that has measured nothing yet, is the hub's own.
    """
    hubs = Exists(Lab.objects.filter(slug=lab, kind=Lab.Kind.LOCAL))
    free = ~_measured_in(Run.objects.order_by()) & (Q(hubs) | ~_pointed_at_by_others())
    return System.objects.filter(Q(is_public=True) | systems_of_labs(_lab(lab)) | free)


def _pointed_at_by_others() -> Q:
    """Systems that a row of another app points to."""
    own = System._meta.app_label
    relations = [r for r in System._meta.related_objects if r.related_model._meta.app_label != own]
    found = Q(pk__in=())
    for relation in relations:
        rows = relation.related_model._default_manager.order_by()
        found |= Q(Exists(rows.filter(**{relation.field.name: OuterRef("pk")})))
    return found


def processors_free_for(lab: str) -> QuerySet[Processor]:
    """The processors that systems of a lab (slug) may have, as `systems_free_for`."""
    used = System.objects.order_by().filter(_measured_in(Run.objects.order_by()))
    taken = Q(Exists(used.filter(processor=OuterRef("pk"))))
    return Processor.objects.filter(Q(is_public=True) | processors_of_labs(_lab(lab)) | ~taken)


def _lab(slug: str) -> QuerySet[Any, Any]:
    return Lab.objects.filter(slug=slug).order_by().values("pk")


def _measured_in(runs: QuerySet[Run]) -> Q:
    """Systems that one of the runs is of, or of a group that they belong to."""
    groups = System.members.through.objects.filter(
        Exists(runs.filter(system=OuterRef("from_system_id"))), to_system=OuterRef("pk")
    )
    return Q(Exists(runs.filter(system=OuterRef("pk")))) | Q(Exists(groups))


@cache
def _prepared_systems() -> QuerySet[System]:
    """Put together once for all, as is `_prepared_cells`: never read, only its copies are."""
    members = System.members.through.objects.filter(from_system=OuterRef("pk"))
    return System.objects.select_related("processor").annotate(is_group=Exists(members))


def stored_cells(system_ids: Iterable[int], selections: Collection[Selection] = ()) -> list[Stored]:
    """The summaries of those systems, of all benchmarks or of the selected ones. One query."""
    found = summaries().filter(system_id__in=list(system_ids))
    if selections:
        found = found.filter(reduce(operator.or_, (_selected(*one) for one in selections)))
    return stored(found.order_by("id"))


def summaries() -> QuerySet[Summary, tuple[Any, ...]]:
    """All summaries, to be filtered and ordered and then read by `stored`."""
    return _prepared_cells().all()


@cache
def _prepared_cells() -> QuerySet[Summary, tuple[Any, ...]]:
    return Summary.objects.values_list(*FIELDS, *(Cast(name, TextField()) for name in PARTS))


def stored(rows: QuerySet[Summary, tuple[Any, ...]], *, most: int | None = None) -> list[Stored]:
    """Summaries as comparisons read them, at most `most` of them."""
    first = len(FIELDS)
    return [Stored._make((*row[:first], *map(_part, row[first:]))) for row in rows[:most]]


@lru_cache(maxsize=20_000)
def _part(text: str) -> Any:
    """A JSON column's value; the same few texts stand in most rows. Not to be changed."""
    return json.loads(text)


def _selected(benchmark: str, workload: str | None) -> Q:
    if workload is None:
        return Q(benchmark__slug=benchmark)
    return Q(benchmark__slug=benchmark, metric__workload=workload)


def default_comparison() -> Comparison | None:
    """The stored comparison that `/compare/` shows without parameters."""
    return Comparison.objects.filter(is_default=True).first()


def visible_runs(user: Actor) -> QuerySet[Run]:
    """The runs that `user` may see: published ones, those of their labs, all for the staff."""
    if actors.is_staff(user):
        return Run.objects.all()
    seen = Q(state=Run.State.PUBLISHED)
    if user.is_authenticated:
        seen |= Q(lab__in=actors.reads_labs(user))
    return Run.objects.filter(seen)


def visible_measurements(user: Actor) -> QuerySet[Measurement]:
    """The measurements of the runs that `user` may see. Cheap at the first page of millions."""
    return Measurement.objects.filter(Exists(visible_runs(user).filter(pk=OuterRef("run_id"))))


def systems_with_results(words: str = "") -> QuerySet[System]:
    """Systems that have something to show; of those only where all `words` are in the names."""
    measured = Summary.objects.filter(system=OuterRef("pk"))
    found = (
        public_systems()
        .filter(Exists(measured))
        .order_by(F("processor__name").asc(nulls_last=True), "name", "slug")
    )
    for word in words.split()[:8]:
        places = ("name", "vendor", "slug", "processor__name", "processor__short_name")
        found = found.filter(
            reduce(operator.or_, (Q(**{f"{place}__icontains": word}) for place in places))
        )
    return found
