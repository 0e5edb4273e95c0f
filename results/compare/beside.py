"""A value that is not published yet beside what is: the same system's, the best other's.

Also what makes a value hard to believe, and which mistaken unit would explain it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from results import catalogue
from results.catalogue.base import Benchmark, Metric, Value
from results.compare.cells import RowKey, best_group, best_point
from results.compare.denominators import Load, denominator
from results.compare.factors import Factor
from results.compare.mistakes import Mistake, mistake
from results.compare.table import speedup
from results.models import System
from results.queries import Stored
from results.queries.beside import Found, Rows

FAR_ABOVE = 3.0  # times better than all that is published: hard to believe
FAR_BELOW = 0.1  # of the worst that is published
ENOUGH_ALIKE = 3  # systems of one kind that say what that kind can do

Scale = frozenset[tuple[str, Value]]


@dataclass(frozen=True)
class Given:
    """A value of an upload, in its metric's unit; None where `low` or `high` is reported.

    `system` and `lab` are slugs. `cores`, `threads`, `nodes`, `smt` say what was loaded.
    `known`: its run is stored already.
    """

    system: str
    lab: str
    benchmark: Benchmark
    metric: Metric
    version: str
    scope: str
    variant: Mapping[str, Value]
    axis: Mapping[str, Value]
    scale: Mapping[str, Value]
    value: float | None
    low: float | None = None
    high: float | None = None
    cores: int | None = None
    threads: int | None = None
    nodes: int | None = None
    smt: str = ""
    known: bool = False

    @cached_property
    def row(self) -> RowKey:
        """The row of a comparison that the value will stand in."""
        points = (p for p in self.axis.items() if self.metric.along.get(p[0]) == "each")
        return RowKey(
            self.benchmark.slug,
            self.metric.name,
            self.scope,
            tuple(sorted(self.variant.items())),
            tuple(sorted(points)),
        )

    @cached_property
    def place(self) -> tuple[RowKey, Scale]:
        return self.row, frozenset(self.scale.items())


@dataclass(frozen=True)
class Own:
    """What is published of the same system in the same row.

    `percent`: the difference from its median, in percent of that; `times`: the quotient.
    `spread`: where the value lies against the published range. `others`: further results.
    `at_point`: both were read at one place of a curve. `together`: the value is among
    those that the median is of.
    """

    cell: Stored
    others: int
    percent: float | None
    times: float | None
    better: bool | None
    spread: Literal["", "below", "inside", "above"]
    at_point: bool
    together: bool = False


@dataclass(frozen=True)
class Rival:
    """The best other system of a row, or the best whose instruction set is of one kind, `isa`.

    `times`: the value divided by the other's. `among`: systems that it is the best of.
    """

    cell: Stored
    times: float | None
    better: bool | None
    among: int
    isa: str = ""


@dataclass(frozen=True)
class Flag:
    """Why to look at a value again.

    "far": far above or below all that is published; "unit": off by a unit's factor from the
    same system; "peak": above what the memory can do, `times` in percent of `amount` GB/s;
    "same": the lab has published this value in `run`. `times` is the value divided by that
    of `cell`, which is `against`.
    """

    kind: Literal["far", "unit", "peak", "same"]
    times: float | None = None
    against: Literal["", "own", "best", "worst"] = ""
    cell: Stored | None = None
    isa: str = ""
    mistake: Mistake | None = None
    amount: float | None = None
    inferred: bool = False
    run: int | None = None

    @property
    def is_exceeded(self) -> bool:
        """Of a peak: whether the value is above it."""
        return self.times is not None and self.times > 100


@dataclass(frozen=True)
class Beside:
    """A value and what it stands beside.

    `first`: nothing is published in its row. `other_scale`: only other work is, of which no
    ratio is made. `best_at`: where on its curve the upload's best value lies, if elsewhere.
    """

    own: Own | None = None
    best: Rival | None = None
    alike: Rival | None = None
    first: bool = False
    other_scale: bool = False
    best_at: Mapping[str, Value] | None = None
    flags: tuple[Flag, ...] = ()


def rows_of(given: Iterable[Given]) -> Rows:
    """What has to be read to set values beside what is published."""
    variants: list[Mapping[str, Value]] = []
    metrics, scopes, seen = set(), set(), set()
    for one in given:
        metrics.add((one.benchmark.slug, one.metric.name))
        scopes.add(one.scope)
        if (key := tuple(one.variant.items())) not in seen:
            seen.add(key)
            variants.append(one.variant)
    return Rows(metrics, scopes, variants)


def set_beside(
    given: Sequence[Given],
    found: Found,
    systems: Mapping[str, System],
    *,
    corrects: bool = False,
) -> list[Beside]:
    """Each value of an upload beside what is published, in their order.

    `systems`: those of the upload that are stored, by slug. With `corrects` the lab's own
    published values are what is being replaced: that they are equal tells nothing.
    """
    shelf = _Shelf(found)
    peaks = _best_points(given)
    return [_one(one, shelf, systems.get(one.system), peaks, corrects) for one in given]


def isa_kind(isa: str) -> str:
    """'x86' for x86-64 and amd64, 'Arm' for Armv9.2 and aarch64; others as they are named."""
    text = isa.strip()
    kinds = {"x86": "x86", "amd64": "x86", "arm": "Arm", "aarch64": "Arm", "riscv": "RISC-V"}
    plain = text.casefold().replace("-", "")
    return next((kind for start, kind in kinds.items() if plain.startswith(start)), text)


def quotient(value: float | None, other: float | None) -> float | None:
    """`value` / `other`; None where either is missing, below 0, or no divisor."""
    if value is None or other is None or value < 0 or other <= 0:
        return None
    times = value / other
    return times if math.isfinite(times) else None


class _Shelf:
    """Published cells by row and scale, looked up once for all values of the row."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self.own: dict[object, list[Stored]] = defaultdict(list)
        self.shared: dict[object, list[Stored]] = defaultdict(list)
        self.rows: dict[RowKey, set[Scale]] = defaultdict(set)
        self._others: dict[object, list[Stored]] = defaultdict(list)
        self._ranking: dict[object, list[Stored]] = {}
        for cells, into in ((found.own, self.own), (found.shared, self.shared)):
            for cell in cells:
                if place := self._place(cell):
                    into[cell.system_id, *place].append(cell)
        for cell in found.others:
            if place := self._place(cell):
                self._others[place].append(cell)

    def _place(self, cell: Stored) -> tuple[RowKey, Scale] | None:
        benchmark = catalogue.get(cell.benchmark)
        if benchmark is None or benchmark.metric(f"{cell.workload}.{cell.metric}") is None:
            return None
        key = RowKey.of(cell, benchmark, Factor("system"), "")
        scale = frozenset(cell.scale.items())
        self.rows[key].add(scale)
        return key, scale

    def ranking(self, one: Given) -> list[Stored]:
        """The cell of each system in the value's row, best first."""
        place = one.place
        if place not in self._ranking:
            by_system: dict[int, list[Stored]] = defaultdict(list)
            for cell in self._others.get(place, ()):
                by_system[cell.system_id].append(cell)
            cells = [best_point(best_group(group)[0], one.metric) for group in by_system.values()]
            higher = one.metric.higher_is_better
            cells.sort(key=lambda cell: cell.median or 0.0, reverse=higher)
            self._ranking[place] = cells
        return self._ranking[place]

    def is_cut(self, one: Given) -> bool:
        """Whether there are worse values than were read."""
        return (one.benchmark.slug, one.metric.name, one.scope) in self.found.cut

    def kind(self, system_id: int) -> str:
        return isa_kind(self.found.isas.get(system_id, ""))


Curve = tuple[str, str, RowKey, Scale]


def _curve(one: Given) -> Curve:
    return one.system, one.version, *one.place


def _best_points(given: Sequence[Given]) -> dict[Curve, Mapping[str, Value]]:
    """Where each curve of the upload has its best value."""
    best: dict[Curve, Given] = {}
    for one in given:
        if one.value is None:
            continue
        leader = best.get(_curve(one))
        if leader is None or _is_better(one.value, leader.value, one.metric):
            best[_curve(one)] = one
    return {curve: one.axis for curve, one in best.items()}


def _is_better(value: float | None, other: float | None, metric: Metric) -> bool | None:
    """None where they are equal or one is missing."""
    if value is None or other is None or value == other:
        return None
    return (value > other) == metric.higher_is_better


def _one(
    one: Given,
    shelf: _Shelf,
    system: System | None,
    peaks: Mapping[Curve, Mapping[str, Value]],
    corrects: bool,
) -> Beside:
    own = _own(one, shelf, system)
    best_at = peaks.get(_curve(one), one.axis)
    leads = dict(best_at) == dict(one.axis)
    best, alike, worst = _rivals(one, shelf, system) if leads else (None, None, None)
    peak = _peak(one, system)
    flags = [peak if peak and peak.is_exceeded else None]
    if own is not None and (leads or own.at_point):
        flags.append(_against_own(one, own))
    elif own is None and leads:
        flags.append(
            _against_others(
                one, best, alike, worst, within=peak is not None and not peak.is_exceeded
            )
        )
    if own is not None and not corrects:
        flags.append(_same(one, shelf.own.get((own.cell.system_id, *one.place), ())))
    scales = shelf.rows.get(one.row, set())
    return Beside(
        own=own,
        best=best,
        alike=alike if alike and best and alike.cell is not best.cell else None,
        first=not scales,
        other_scale=bool(scales) and frozenset(one.scale.items()) not in scales,
        best_at=None if leads else best_at,
        flags=tuple(flag for flag in flags if flag is not None),
    )


def _rivals(
    one: Given, shelf: _Shelf, system: System | None
) -> tuple[Rival | None, Rival | None, Stored | None]:
    """The best other system, the best of the same kind, and the worst if all are known."""
    ranking = [c for c in shelf.ranking(one) if system is None or c.system_id != system.pk]
    kind = _kind_of(system)
    alike = [c for c in ranking if kind and shelf.kind(c.system_id) == kind]
    worst = None if shelf.is_cut(one) or not ranking else ranking[-1]
    return _rival(one, ranking), _rival(one, alike, kind), worst


def _kind_of(system: System | None) -> str:
    processor = system.processor if system else None
    if processor is None:
        return ""
    return isa_kind(processor.isa or str(processor.inferred.get("isa") or ""))


# The same system


def _own(one: Given, shelf: _Shelf, system: System | None) -> Own | None:
    """The cell that a comparison shows of the system: at the value's own point, else the best."""
    if system is None:
        return None
    key = (system.pk, *one.place)
    shared = [cell for cell in shelf.shared.get(key, ()) if cell.n > 1]
    cells = [*shelf.own.get(key, ()), *shared]
    if not cells:
        return None
    there = [cell for cell in cells if dict(cell.axis) == dict(one.axis)]
    group, others = best_group(there or cells)
    cell = best_point(group, one.metric)
    times = quotient(one.value, cell.median)
    return Own(
        cell=cell,
        others=others,
        percent=None if times is None else (times - 1) * 100,
        times=times,
        better=_is_better(one.value, cell.median, one.metric),
        spread=_spread(one.value, cell),
        at_point=bool(there),
        together=any(cell is other for other in shared),
    )


def _spread(value: float | None, cell: Stored) -> Literal["", "below", "inside", "above"]:
    """Where a value lies against several runs or a reported range; "" against a single value."""
    if value is None or cell.n == 1:
        return ""
    if cell.low is not None and value < cell.low:
        return "below"
    return "above" if cell.high is not None and value > cell.high else "inside"


def _against_own(one: Given, own: Own) -> Flag | None:
    ahead = _ahead(one, own.cell)
    found = mistake(own.times, one.metric.unit, fine=own.spread != "inside")
    if ahead is not None and (ahead >= FAR_ABOVE or ahead <= FAR_BELOW):
        return Flag("far", own.times, "own", own.cell, mistake=found)
    return Flag("unit", own.times, "own", own.cell, mistake=found) if found else None


def _ahead(one: Given, cell: Stored) -> float | None:
    """How many times better the value is than a cell's; a rate of 0 is as far behind as can be."""
    if one.value == 0 and cell.median:
        return 0.0 if one.metric.higher_is_better else math.inf
    return speedup(one.value, cell.median, higher_is_better=one.metric.higher_is_better)


def _same(one: Given, cells: Sequence[Stored]) -> Flag | None:
    """A value that the lab has published at the same place already, in another run."""
    if one.known or one.value is None:
        return None
    for cell in cells:
        mine = (cell.lab, cell.version, dict(cell.axis)) == (one.lab, one.version, dict(one.axis))
        if mine and one.value in (cell.median, cell.low, cell.high):
            return Flag("same", run=cell.run, cell=cell)
    return None


# Other systems


def _rival(one: Given, cells: Sequence[Stored], isa: str = "") -> Rival | None:
    """The first of cells that are in order, best first."""
    if not cells:
        return None
    times = quotient(one.value, cells[0].median)
    better = _is_better(one.value, cells[0].median, one.metric)
    return Rival(cells[0], times, better, len(cells), isa)


def _against_others(
    one: Given,
    best: Rival | None,
    alike: Rival | None,
    worst: Stored | None,
    *,
    within: bool,
) -> Flag | None:
    """Whether a system without results of its own is far outside what others show.

    `within`: its memory can deliver that much, however little others have.
    """
    if best is None:
        return None
    held = alike or best
    found = mistake(held.times, one.metric.unit, fine=False)
    for rival in (held, best):
        enough = rival is best or rival.among >= ENOUGH_ALIKE
        if enough and not within and (_ahead(one, rival.cell) or 0.0) >= FAR_ABOVE:
            return Flag("far", held.times, "best", held.cell, held.isa, found)
    behind = _ahead(one, worst) if worst is not None else None
    if worst is None or behind is None or behind > FAR_BELOW:
        return None
    if found is not None:
        return Flag("far", held.times, "best", held.cell, held.isa, found)
    return Flag("far", quotient(one.value, worst.median), "worst", worst)


# What the hardware can do


def _peak(one: Given, system: System | None) -> Flag | None:
    """A bandwidth beside what the memory of what was loaded can deliver, where that is known."""
    if system is None or one.value is None or "peak" not in one.metric.per:
        return None
    load = Load(system, one.scope, one.cores, one.threads, one.nodes, None, one.smt)
    by = denominator(load, "peak", measured_watts=False)
    share = quotient(one.value, by.amount)
    if share is None:
        return None
    return Flag("peak", share * 100, amount=by.amount, inferred=by.inferred)
