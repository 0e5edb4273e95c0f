"""From the summaries of one row and column to the cell that the table shows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

from results import catalogue
from results.catalogue.base import Benchmark, Metric, Value
from results.compare import denominators
from results.compare.denominators import Denominator, Load
from results.compare.factors import Factor, natural, scope_position
from results.compare.table import Cell, Point, Row
from results.models import System
from results.queries import Stored

Pairs = tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class RowKey:
    """What a row is: benchmark, metric, scope, variant, and the point where each has a row."""

    benchmark: str
    metric: str
    scope: str | None
    variant: Pairs
    at: Pairs

    @classmethod
    def of(cls, stored: Stored, benchmark: Benchmark, factor: Factor, axis: str) -> RowKey:
        """The row of a summary. `axis`, if wanted as points, makes no rows of its own."""
        metric = f"{stored.workload}.{stored.metric}"
        entry = benchmark.metric(metric)
        along = entry.along if entry else {}
        dropped = factor.drops(benchmark)
        variant = tuple(sorted(v for v in stored.variant.items() if v[0] not in dropped))
        at: Pairs = ()
        if stored.axis and along:
            points = (item for item in stored.axis.items() if along.get(item[0]) == "each")
            at = tuple(sorted(p for p in points if p[0] != axis and p[0] not in dropped))
        scope = None if factor.frees_scope else stored.scope
        return cls(stored.benchmark, metric, scope, variant, at)

    def sort(self) -> tuple[object, ...]:
        values = [natural(f"{name} {value}") for name, value in (*self.variant, *self.at)]
        return scope_position(self.scope), values

    @property
    def id(self) -> str:
        """A short name that stays the same: for links to a row."""
        return _row_id(self)


@lru_cache(maxsize=8192)
def _row_id(key: RowKey) -> str:
    text = json.dumps([key.scope, key.variant, key.at])
    words = f"{key.benchmark}-{key.metric}".replace(".", "-").replace("_", "-").lower()
    return f"r-{words}-{blake2b(text.encode(), digest_size=2).hexdigest()}"


def build_row(
    key: RowKey,
    placed: Mapping[str, list[Stored]],
    systems: Mapping[str, System],
    *,
    per: str,
    axis: str,
) -> Row:
    """A row with a cell for each column that has results; values normalised, not yet judged."""
    benchmark = catalogue.benchmarks()[key.benchmark]
    metric = benchmark.metric(key.metric)
    if metric is None:
        raise LookupError(f"{key.benchmark} has no metric {key.metric}")
    groups = {column: best_group(stored) for column, stored in placed.items()}
    measured = all(one.watts for group, _ in groups.values() for one in group)
    cells = {
        column: _cell(group, others, systems[column], metric, per=per, axis=axis, measured=measured)
        for column, (group, others) in groups.items()
    }
    unit = denominators.unit(metric, per)
    scales = {frozenset(cell.scale.items()) for cell in cells.values()}
    return Row(
        key.id,
        benchmark,
        metric,
        key.scope,
        dict(key.variant),
        dict(key.at),
        unit,
        per,
        cells,
        len(scales) <= 1,
    )


def best_group(stored: Sequence[Stored]) -> tuple[list[Stored], int]:
    """The setup to show and how many others there are: ranked, best trusted, then newest."""
    if len(stored) == 1:
        return list(stored), 0
    groups: dict[tuple[object, ...], list[Stored]] = {}
    for one in stored:
        scale = frozenset(one.scale.items())
        key = (one.lab, one.version, one.fingerprint, scale, one.ranked)
        groups.setdefault(key, []).append(one)
    best = min(groups.values(), key=_preference)
    return best, len(groups) - 1


def _preference(group: list[Stored]) -> tuple[bool, int, float]:
    return (
        not any(one.ranked for one in group),
        min(one.trust for one in group),
        -max(one.newest.timestamp() for one in group),
    )


def _cell(
    group: list[Stored],
    others: int,
    system: System,
    metric: Metric,
    *,
    per: str,
    axis: str,
    measured: bool,
) -> Cell:
    best = best_point(group, metric)
    by = _denominator(best, system, metric, per, measured)
    cell = _bare_cell(best, others)
    cell.value = _divide(best.median, by, per)
    cell.low = _divide(best.low, by, per) if cell.spread else None
    cell.high = _divide(best.high, by, per) if cell.spread else None
    cell.ranked = best.ranked and not getattr(system, "is_group", False)
    if by is not None:
        cell.denominator, cell.inferred = by.amount, by.inferred
        cell.basis, cell.missing = by.basis, by.missing
    cell.above_peak = per == "peak" and by is not None and (cell.value or 0) > 100
    cell.along = _varying(group)
    if axis:
        cell.points = _points(group, system, metric, per=per, axis=axis, measured=measured)
    return cell


def _varying(group: Sequence[Stored]) -> tuple[str, ...]:
    """The axes on which the results have more than one value."""
    if len(group) == 1:
        return ()
    values: dict[str, set[Value]] = {}
    for one in group:
        for name, value in one.axis.items():
            values.setdefault(name, set()).add(value)
    return tuple(name for name, found in values.items() if len(found) > 1)


def _bare_cell(best: Stored, others: int) -> Cell:
    return Cell(
        run=best.run,
        raw=best.median,
        n=best.n or 1,
        low=best.low,
        high=best.high,
        qualifier=best.qualifier,
        scope=best.scope,
        lab=best.lab,
        trust=best.trust,
        version=best.version,
        fingerprint=best.fingerprint,
        newest=best.newest,
        ranked=best.ranked,
        source=best.source,
        scale=best.scale,
        tracked=best.tracked,
        assumed=tuple(best.assumed),
        others=others,
        at=best.axis,
    )


def best_point(group: list[Stored], metric: Metric) -> Stored:
    """The point of a curve that the table shows: the best value, else the newest range."""
    if len(group) == 1:
        return group[0]
    valued = [one for one in group if one.median is not None]
    if not valued:
        return max(group, key=lambda one: one.newest)
    pick = max if metric.higher_is_better else min
    return pick(valued, key=lambda one: one.median or 0.0)


def _denominator(
    one: Stored, system: System, metric: Metric, per: str, measured: bool
) -> Denominator | None:
    if not denominators.applies(metric, per):
        return None
    return denominators.denominator(Load.of(system, one), per, measured_watts=measured)


def _divide(number: float | None, by: Denominator | None, per: str) -> float | None:
    if number is None or by is None:
        return number
    if not by.amount:
        return None
    return number / by.amount * (100 if per == "peak" else 1)


def _points(
    group: list[Stored], system: System, metric: Metric, *, per: str, axis: str, measured: bool
) -> list[Point]:
    """The curve along `axis`: [x, value, low, high, n], by x; the best where other axes differ."""
    by_x: dict[Value, list[Stored]] = {}
    for one in group:
        if axis in one.axis:
            by_x.setdefault(one.axis[axis], []).append(one)
    points = []
    for x in sorted(by_x, key=lambda value: natural(str(value))):
        best = best_point(by_x[x], metric)
        by = _denominator(best, system, metric, per, measured)
        spread = best.median is None or best.n > 1
        low, high = (best.low, best.high) if spread else (None, None)
        points.append(
            [
                x,
                _divide(best.median, by, per),
                _divide(low, by, per),
                _divide(high, by, per),
                best.n or 1,
            ]
        )
    return points
