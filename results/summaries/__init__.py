"""Keeping summaries current when stored runs are published, withdrawn or changed.

Taking away works the touched cells out anew from their measurements; adding merges.
Everything here must run in a transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from results.catalogue.base import Benchmark, Value
from results.chunks import chunks
from results.freshness import hold, touch
from results.models import Measurement, Run, Summary, System
from results.roles import Roles, fingerprint, tracked_values
from results.summaries.merging import Entry, Place, Shape, add, entries

POWER = "power"


def system_facts(system: System) -> dict[str, str]:
    """Tracked fields that a system states for all its runs."""
    return {
        "storage.link": system.storage_link,
        "storage.device": system.storage_device,
        "bios.version": system.firmware,
        "bios.profile": system.firmware_profile,
    }


def groups(systems: Collection[int]) -> set[int]:
    """Those of the systems (ids) that are groups, with members: never ranked."""
    rows = System.members.through.objects.filter(from_system__in=systems)
    return set(rows.values_list("from_system_id", flat=True))


def add_runs(ids: Sequence[int]) -> None:
    """Enter runs that have just been published, and link their measurements to the cells."""
    for part in chunks(ids):
        _enter(list(_entries(part)))


def rework_runs(ids: Sequence[int]) -> None:
    """Work the cells of runs out anew: they are published no more, or stand otherwise now."""
    hold()
    touched: set[int] = set()
    for part in chunks(ids):
        linked = Measurement.objects.filter(run__in=part, summary__isnull=False)
        touched.update(linked.values_list("summary_id", flat=True))
        covered = {item.key for item in _entries(part) if item.measurement is None}
        cells = Summary.objects.filter(key__in=covered)
        touched.update(cells.values_list("pk", flat=True))
    for cell_ids in chunks(sorted(touched)):
        _rework(cell_ids)
    touch()


def rebuild(*, systems: Collection[int] | None = None, benchmark: str | None = None) -> int:
    """Work out all cells of some systems (ids) or of a benchmark; returns how many runs.

    For when facts that cells are keyed by have changed: a system's, or the catalogue's.
    """
    hold()
    cells, runs = Summary.objects.all(), Run.objects.filter(state=Run.State.PUBLISHED)
    if systems is not None:
        cells, runs = cells.filter(system__in=systems), runs.filter(system__in=systems)
    if benchmark is not None:
        cells = cells.filter(benchmark__slug=benchmark)
        runs = runs.filter(benchmark__slug=benchmark)
    for part in chunks(list(cells.values_list("pk", flat=True))):
        Summary.objects.filter(pk__in=part).delete()
    ids = list(runs.order_by("pk").values_list("pk", flat=True))
    add_runs(ids)
    return len(ids)


def _rework(cell_ids: Sequence[int]) -> None:
    """Delete cells, and enter anew what published runs have in them."""
    cells = list(Summary.objects.filter(pk__in=cell_ids).only("key", "system", "benchmark"))
    keys = {cell.key for cell in cells}
    own = set(Measurement.objects.filter(summary__in=cell_ids).values_list("pk", flat=True))
    published = Run.objects.filter(state=Run.State.PUBLISHED)
    runs = set(published.filter(measurements__summary__in=cell_ids).values_list("pk", flat=True))
    covering = Measurement.objects.filter(
        run__in=published.filter(
            system__in={cell.system_id for cell in cells},
            benchmark__in={cell.benchmark_id for cell in cells},
        ),
        value__isnull=True,
    ).exclude(covers=[])
    runs.update(covering.values_list("run_id", flat=True))
    Summary.objects.filter(pk__in=cell_ids).delete()
    kept: list[Entry] = []
    for part in chunks(sorted(runs)):
        kept += (item for item in _entries(part) if _is_in(item, own, keys))
    _enter(kept)


def _is_in(item: Entry, own: Collection[int], keys: Collection[str]) -> bool:
    if isinstance(item.measurement, Measurement):
        return item.measurement.pk in own
    return item.key in keys


def _enter(found: Sequence[Entry]) -> None:
    """Merge entries of stored measurements and keep the links to their cells."""
    add(found)
    linked = [item.measurement for item in found if isinstance(item.measurement, Measurement)]
    Measurement.objects.bulk_update(linked, ["summary"], batch_size=200)
    prints = {
        item.place.run_id: item.shape.fingerprint for item in found if item.measurement is not None
    }
    for part in chunks(list(prints)):
        stale = [
            Run(pk=pk, fingerprint=prints[pk])
            for pk, old in Run.objects.filter(pk__in=part).values_list("pk", "fingerprint")
            if old != prints[pk]
        ]
        Run.objects.bulk_update(stale, ["fingerprint"], batch_size=200)


def _entries(ids: Iterable[int]) -> Iterator[Entry]:
    """The entries of stored runs, in the order of their ids, whatever their state."""
    runs = list(
        Run.objects.filter(pk__in=list(ids))
        .select_related("system", "setup", "benchmark")
        .prefetch_related("measurements__metric")
        .order_by("pk")
    )
    never_ranked = groups({run.system_id for run in runs})
    for run in runs:
        yield from _entries_of(run, ranked=run.system_id not in never_ranked)


def _entries_of(run: Run, *, ranked: bool) -> Iterator[Entry]:
    described = run.benchmark.entry
    measurements = list(run.measurements.all())
    place = _place(run, ranked=ranked, watts=watts_of(measurements))
    shape = _shape(run, described, run.parameters)
    for measurement in measurements:
        wider = [_shape(run, described, covered(run.parameters, c)) for c in measurement.covers]
        better = measurement.metric.higher_is_better
        yield from entries(place, measurement, shape, wider, higher_is_better=better)


def _shape(run: Run, described: Benchmark, parameters: Mapping[str, Value]) -> Shape:
    roles = Roles.of(described, parameters)
    return shape_of(
        described,
        version=run.version,
        roles=roles,
        parameters=parameters,
        setup=run.setup.fields,
        facts=system_facts(run.system),
    )


def shape_of(
    described: Benchmark,
    *,
    version: str,
    roles: Roles,
    parameters: Mapping[str, Value],
    setup: Mapping[str, str],
    facts: Mapping[str, str],
) -> Shape:
    """Roles with the tracked values that a setup and a system's facts add to them."""
    tracked = tracked_values(
        described, version=version, roles=roles, parameters=parameters, setup=setup, facts=facts
    )
    return Shape(roles, tracked, fingerprint(tracked))


def covered(parameters: Mapping[str, Value], cover: Mapping[str, Value | None]) -> dict[str, Value]:
    """A run's parameters with those of a further variant that its range was given for."""
    return {name: v for name, v in {**parameters, **cover}.items() if v is not None}


def watts_of(measurements: Iterable[Measurement]) -> float | None:
    """The power that was measured in the same run, watts."""
    for measurement in measurements:
        if measurement.metric.name == POWER and measurement.metric.unit == "W":
            return measurement.value
    return None


def _place(run: Run, *, ranked: bool, watts: float | None) -> Place:
    moment = run.started_at or run.published_at or run.created_at
    return Place(
        run_id=run.pk,
        system_id=run.system_id,
        lab_id=run.lab_id,
        benchmark_id=run.benchmark_id,
        benchmark=run.benchmark.slug,
        version=run.version,
        scope=run.scope,
        ranked=ranked and not run.not_ranked_because,
        node=run.node,
        trust=run.trust,
        moment=moment,
        assumed=run.assumed,
        watts=watts,
    )
