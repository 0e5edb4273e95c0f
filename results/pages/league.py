"""League tables: a metric over all systems, across variants and scopes, each entry naming its own.

Also the place that a reader's own value would take there and in external Lists.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from results.catalogue.base import Benchmark, Metric, Value
from results.compare.places import place
from results.models import List, System
from results.queries import Stored
from results.wording import variant_words

SHOWN = 50


@dataclass(frozen=True)
class Entry:
    """A system's result in a league; `rank` None where it is not to be ranked, `why` says why.

    `others` counts results of the same system, scope and variant that are not shown.
    """

    system: System
    cell: Stored
    words: str
    others: int
    rank: int | None
    why: str

    @property
    def value(self) -> float | None:
        return self.cell.median

    @property
    def is_range(self) -> bool:
        return self.cell.median is None


@dataclass(frozen=True)
class League:
    """Entries of one scale, best first, then those without a rank."""

    scale: str
    entries: list[Entry]

    @property
    def ranked(self) -> int:
        return sum(entry.rank is not None for entry in self.entries)

    @property
    def shown(self) -> list[Entry]:
        return self.entries[:SHOWN]

    @property
    def hidden(self) -> int:
        return max(0, len(self.entries) - SHOWN)

    def values(self) -> list[float]:
        """The values that are ranked."""
        return [e.value for e in self.entries if e.rank is not None and e.value is not None]


def leagues(
    benchmark: Benchmark,
    metric: Metric,
    cells: Iterable[Stored],
    systems: Mapping[int, System],
) -> list[League]:
    """A league for each scale that the cells have; usually one."""
    groups: dict[str, list[Stored]] = {}
    for cell in cells:
        if cell.system_id in systems:
            groups.setdefault(_text(cell.scale), []).append(cell)
    return [
        League(_scale_words(benchmark, group[0].scale), _entries(benchmark, metric, group, systems))
        for group in groups.values()
    ]


def _scale_words(benchmark: Benchmark, scale: Mapping[str, Value]) -> str:
    parameters = {p.name: p for p in benchmark.parameters}
    return ", ".join(parameters[k].say(v) for k, v in scale.items() if k in parameters)


def _entries(
    benchmark: Benchmark,
    metric: Metric,
    cells: Iterable[Stored],
    systems: Mapping[int, System],
) -> list[Entry]:
    by_place: dict[tuple[object, ...], list[Stored]] = {}
    for cell in cells:
        by_place.setdefault(_place_key(cell, metric), []).append(cell)
    chosen = [_choose(group, metric) for group in by_place.values()]
    ranked = [
        cell.median
        for cell, _ in chosen
        if cell.median is not None and not _why_not(cell, systems[cell.system_id])
    ]
    entries = [
        Entry(
            system=(system := systems[cell.system_id]),
            cell=cell,
            words=_words(benchmark, metric, cell),
            others=others,
            rank=_rank(cell, system, ranked, metric),
            why=_why_not(cell, system),
        )
        for cell, others in chosen
    ]
    return sorted(entries, key=lambda entry: _position(entry, metric))


def _place_key(cell: Stored, metric: Metric) -> tuple[object, ...]:
    """What tells entries apart: system, scope, variant, and points that have rows of their own."""
    points = {k: v for k, v in cell.axis.items() if metric.along.get(k) == "each"}
    return cell.system_id, cell.scope, _text(cell.variant), _text(points)


def _text(values: Mapping[str, Value]) -> str:
    return json.dumps(values, sort_keys=True)


def _choose(group: Sequence[Stored], metric: Metric) -> tuple[Stored, int]:
    """The best-trusted, then newest setup's best point, and how many setups there are beside it."""
    setups: dict[tuple[object, ...], list[Stored]] = {}
    for cell in group:
        key = (cell.lab, cell.version, cell.fingerprint, cell.ranked)
        setups.setdefault(key, []).append(cell)
    best = min(setups.values(), key=_preference)
    valued = [cell for cell in best if cell.median is not None]
    if not valued:
        return best[0], len(setups) - 1
    pick = max if metric.higher_is_better else min
    return pick(valued, key=lambda cell: cell.median or 0.0), len(setups) - 1


def _preference(setup: Sequence[Stored]) -> tuple[bool, int, float]:
    return (
        not any(cell.ranked for cell in setup),
        min(cell.trust for cell in setup),
        -max(cell.newest.timestamp() for cell in setup),
    )


def _words(benchmark: Benchmark, metric: Metric, cell: Stored) -> str:
    detail = benchmark.workload(metric.workload).detail
    known = {**cell.variant, **cell.axis}
    return " · ".join(variant_words(benchmark, cell.scope, known, detail=detail))


def _rank(cell: Stored, system: System, ranked: Sequence[float], metric: Metric) -> int | None:
    if cell.median is None or _why_not(cell, system):
        return None
    return place(cell.median, ranked, higher_is_better=metric.higher_is_better)


def _why_not(cell: Stored, system: System) -> str:
    """Why a cell has no rank; "" if it has one."""
    if cell.median is None:
        return gettext("range")
    if getattr(system, "is_group", False):
        return gettext("group")
    return "" if cell.ranked else gettext("not ranked")


def _position(entry: Entry, metric: Metric) -> tuple[bool, float]:
    value = entry.value
    if value is None:
        value = entry.cell.high if entry.cell.high is not None else entry.cell.low or 0.0
    return entry.rank is None, -value if metric.higher_is_better else value


@dataclass(frozen=True)
class Placed:
    """The place of a value: `rank` among `among` others and itself; `inside`: within the List."""

    title: str
    rank: int
    among: int
    inside: bool = True
    listed: List | None = None


def place_in_leagues(value: float, metric: Metric, found: Iterable[League]) -> list[Placed]:
    """Where a value would stand in each league: rank N of M, itself counted."""
    placed = []
    for league in found:
        values = league.values()
        rank = place(value, values, higher_is_better=metric.higher_is_better)
        placed.append(Placed(league.scale, rank, len(values) + 1))
    return placed


def place_in_lists(value: float, metric: Metric, lists: Iterable[List]) -> list[Placed]:
    """Where a value would stand in each List; outside, if all its places are better."""
    placed = []
    for one in lists:
        values = [entry.value for entry in one.entries.all()]
        rank = place(value, values, higher_is_better=metric.higher_is_better)
        placed.append(Placed(one.title, rank, one.length, rank <= one.length, one))
    return placed
