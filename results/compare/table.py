"""What a comparison is made of. Plain values: pages, API and exports read these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from results.catalogue.base import Benchmark, Metric, Value
from results.models import System

Point = list[Any]  # x, value, low or None, high or None, n


class CompareError(ValueError):
    """A comparison that cannot be made: messages by the field that asked for it."""

    def __init__(self, fields: Mapping[str, list[str]]) -> None:
        self.fields = dict(fields)
        super().__init__("; ".join(text for texts in self.fields.values() for text in texts))


@dataclass(frozen=True)
class Column:
    """A system, or a system pinned to values of the factor."""

    key: str
    system: System
    pins: Mapping[str, str]
    label: str
    position: int = 0


@dataclass
class Cell:
    """A column's number in a row, in the row's unit: normalised `value`, total `raw`.

    A range has no value, but `low` or `high` or both. `missing` says why a normalised
    value is not there. `ratio` above 1 is better than the baseline; None is 'not to be
    compared'. `others` counts further results that the cell could have shown. `along`
    names the axes on which the cell has several points.
    """

    run: int
    raw: float | None
    n: int
    low: float | None
    high: float | None
    qualifier: str
    scope: str
    lab: str
    trust: int
    version: str
    fingerprint: str
    newest: datetime
    ranked: bool
    source: int | None
    scale: Mapping[str, Value]
    tracked: Mapping[str, Value]
    assumed: tuple[str, ...]
    others: int = 0
    value: float | None = None
    denominator: float | None = None
    inferred: bool = False
    basis: str = ""
    missing: str = ""
    above_peak: bool = False
    ratio: float | None = None
    rank: int | None = None
    verdict: str | None = None
    reasons: tuple[Mapping[str, str], ...] = ()
    at: Mapping[str, Value] = field(default_factory=dict)
    along: tuple[str, ...] = ()
    points: list[Point] | None = None

    @property
    def is_range(self) -> bool:
        return self.raw is None

    @property
    def spread(self) -> bool:
        """Whether low and high are to be shown: several runs, or a reported range."""
        return self.is_range or self.n > 1


@dataclass
class Row:
    """One line: a metric of a workload at a scope, in a variant, with a cell a column.

    Whoever asks for its order, its lead or its places finds it complete: they are kept.
    """

    id: str
    benchmark: Benchmark
    metric: Metric
    scope: str | None
    variant: Mapping[str, Value]
    at: Mapping[str, Value]
    unit: str
    per: str
    cells: dict[str, Cell]
    one_scale: bool = True

    @property
    def workload(self) -> str:
        return self.metric.workload

    @property
    def better(self) -> str:
        return "higher" if self.metric.higher_is_better else "lower"

    def valued(self) -> dict[str, Cell]:
        """The cells that have a value of their own."""
        return {key: cell for key, cell in self.cells.items() if cell.value is not None}

    def order(self) -> list[tuple[str, Cell]]:
        """Keys and cells that are ranked, best first; ties in column order."""
        return self._order

    def lead(self) -> float | None:
        """By what factor the first is ahead of the second, or None."""
        return self._lead

    @cached_property
    def _order(self) -> list[tuple[str, Cell]]:
        ranked = [(key, cell) for key, cell in self.cells.items() if cell.rank is not None]
        return sorted(ranked, key=lambda item: item[1].rank or 0)

    @cached_property
    def _lead(self) -> float | None:
        order = self._order
        if len(order) < 2 or order[0][1].rank == order[1][1].rank:
            return None
        return speedup(
            order[0][1].value, order[1][1].value, higher_is_better=self.metric.higher_is_better
        )

    @cached_property
    def shared_at(self) -> Mapping[str, Value]:
        """Where on a curve all cells were read, if at the same place; not the row's own."""
        first, *rest = [cell.at for cell in self.cells.values()]
        return {
            name: value
            for name, value in first.items()
            if name not in self.at and all(at.get(name) == value for at in rest)
        }


@dataclass
class Table:
    """A whole comparison; `geomean` is None without a row that all columns share."""

    columns: list[Column]
    baseline: str
    factor: str
    per: str
    axis: str
    rows: list[Row]
    geomean: dict[str, float] | None
    common_rows: int
    left_out: tuple[str, ...] = ()

    def column(self, key: str) -> Column:
        return next(column for column in self.columns if column.key == key)


def speedup(value: float | None, base: float | None, *, higher_is_better: bool) -> float | None:
    """How many times better `value` is than `base`: above 1 is better, whatever the direction.

    None where either is missing, not above 0, or the quotient is not finite.
    """
    if value is None or base is None or value <= 0 or base <= 0:
        return None
    ratio = value / base if higher_is_better else base / value
    return ratio if 0 < ratio < float("inf") else None
