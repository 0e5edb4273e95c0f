"""Merging measurements into their cells, at a cost that does not grow with what is stored."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from results.catalogue.base import Value
from results.chunks import chunks
from results.freshness import hold, touch
from results.models import Summary
from results.roles import Roles, cell_key

MERGED = (
    *("n", "ranges", "nodes_seen", "node_names", "median", "low", "high", "qualifier", "trust"),
    *("best_run", "newest", "cores", "threads", "nodes", "watts", "assumed", "samples"),
)


class Measured(Protocol):
    """A measurement, stored or on its way."""

    metric_id: int
    value: float | None
    low: float | None
    high: float | None
    qualifier: str
    summary_id: int | None


@dataclass(frozen=True, slots=True)
class Place:
    """What all measurements of a run have in common when they enter their cells."""

    run_id: int
    system_id: int
    lab_id: int
    benchmark_id: int
    benchmark: str
    version: str
    scope: str
    ranked: bool
    node: str
    trust: int
    moment: datetime
    assumed: Sequence[str]
    watts: float | None


@dataclass(frozen=True, slots=True)
class Shape:
    """What parameters and setup make of a cell: its place in the row, and its tracked values."""

    roles: Roles
    tracked: Mapping[str, Value]
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A value or range (value None) of a run on its way into the cell of `key`.

    `measurement` is the one whose cell this is; None where a range covers further cells.
    """

    key: str
    place: Place
    shape: Shape
    metric_id: int
    higher_is_better: bool
    value: float | None
    low: float | None
    high: float | None
    qualifier: str
    measurement: Measured | None


def entries(
    place: Place,
    measurement: Measured,
    shape: Shape,
    covered: Iterable[Shape],
    *,
    higher_is_better: bool,
) -> list[Entry]:
    """The entries of a measurement: its own cell's, and those that its range covers too."""
    found = [_entry(place, measurement, shape, higher_is_better, own=True)]
    for wider in covered:
        item = _entry(place, measurement, wider, higher_is_better, own=False)
        if all(item.key != other.key for other in found):
            found.append(item)
    return found


def _entry(
    place: Place, measurement: Measured, shape: Shape, higher_is_better: bool, *, own: bool
) -> Entry:
    key = cell_key(
        system_id=place.system_id,
        lab_id=place.lab_id,
        benchmark=place.benchmark,
        version=place.version,
        metric_id=measurement.metric_id,
        scope=place.scope,
        roles=shape.roles,
        fingerprint=shape.fingerprint,
        ranked=place.ranked,
    )
    return Entry(
        key,
        place,
        shape,
        measurement.metric_id,
        higher_is_better,
        measurement.value,
        measurement.low,
        measurement.high,
        measurement.qualifier,
        measurement if own else None,
    )


def add(entries: Iterable[Entry]) -> None:
    """Merge entries into their cells and set `summary_id` of their measurements (unsaved).

    Must run in a transaction. IntegrityError if another made the same cell meanwhile.
    """
    by_key: dict[str, list[Entry]] = {}
    for item in entries:
        by_key.setdefault(item.key, []).append(item)
    if by_key:
        hold()
    for keys in chunks(sorted(by_key)):
        ids = _merge({key: by_key[key] for key in keys})
        for key in keys:
            for item in by_key[key]:
                if item.measurement is not None:
                    item.measurement.summary_id = ids[key]
    if by_key:
        touch()


def _merge(by_key: Mapping[str, list[Entry]]) -> dict[str, int]:
    """Write one chunk of cells; their ids by key."""
    stored = Summary.objects.select_for_update().order_by("key").filter(key__in=list(by_key))
    old = {summary.key: summary for summary in stored}
    new = {key: _blank(items[0]) for key, items in by_key.items() if key not in old}
    for key, items in by_key.items():
        _fold(old.get(key) or new[key], items)
    Summary.objects.bulk_create(list(new.values()))
    ids = {key: summary.pk for key, summary in (old | new).items()}
    if old:
        # An upsert is one plain statement for many rows; bulk_update writes a CASE for each.
        for summary in old.values():
            summary.pk = None
        Summary.objects.bulk_create(
            list(old.values()), update_conflicts=True, unique_fields=["key"], update_fields=MERGED
        )
    return ids


def _blank(first: Entry) -> Summary:
    """The cell of an entry, with nothing in it yet."""
    place = first.place
    return Summary(
        key=first.key,
        system_id=place.system_id,
        lab_id=place.lab_id,
        benchmark_id=place.benchmark_id,
        metric_id=first.metric_id,
        version=place.version,
        scope=place.scope,
        fingerprint=first.shape.fingerprint,
        variant=first.shape.roles.variant,
        axis=first.shape.roles.axis,
        scale=first.shape.roles.scale,
        tracked=first.shape.tracked,
        ranked=place.ranked,
        n=0,
        ranges=0,
        trust=0,
        newest=place.moment,
    )


def _fold(summary: Summary, entries: Sequence[Entry]) -> None:
    """Take entries, in the order of their runs, into a cell."""
    values = read_samples(summary.samples)
    for item in entries:
        place = item.place
        if item.value is None:
            summary.ranges += 1
            if not values and (summary.best_run_id is None or place.moment >= summary.newest):
                summary.low, summary.high = item.low, item.high
                _take_best(summary, item)
        else:
            if not values or _is_better(item, summary):
                _take_best(summary, item)
            values.append(item.value)
            summary.low = item.value if len(values) == 1 else min(item.value, summary.low or 0.0)
            summary.high = item.value if len(values) == 1 else max(item.value, summary.high or 0.0)
        summary.trust = max(summary.trust, place.trust)
        summary.newest = max(summary.newest, place.moment)
        if place.node not in summary.node_names:
            summary.node_names = [*summary.node_names, place.node]
        if place.assumed:
            summary.assumed = sorted({*summary.assumed, *place.assumed})
    summary.nodes_seen = len(summary.node_names)
    _set_values(summary, sorted(values))


def _set_values(summary: Summary, values: list[float]) -> None:
    summary.n = len(values)
    summary.samples = write_samples(values)
    if values:
        middle = len(values) // 2
        odd = len(values) % 2
        summary.median = values[middle] if odd else (values[middle - 1] + values[middle]) / 2


def _is_better(item: Entry, summary: Summary) -> bool:
    if item.value is None or summary.low is None or summary.high is None:
        return False
    return item.value > summary.high if item.higher_is_better else item.value < summary.low


def _take_best(summary: Summary, item: Entry) -> None:
    summary.best_run_id = item.place.run_id
    summary.qualifier = item.qualifier
    summary.cores = item.shape.roles.cores
    summary.threads = item.shape.roles.threads
    summary.nodes = item.shape.roles.nodes
    summary.watts = item.place.watts


def read_samples(data: bytes | memoryview) -> list[float]:
    """The values of `Summary.samples`: little-endian doubles, sorted."""
    values = array("d", bytes(data))
    if sys.byteorder == "big":
        values.byteswap()
    return values.tolist()


def write_samples(values: Sequence[float]) -> bytes:
    """Sorted values as `Summary.samples` keeps them."""
    packed = array("d", values)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()
