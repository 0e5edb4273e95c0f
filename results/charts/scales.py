"""Round axes and lengths of bars in percent: one geometry for table, bars and charts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from results.compare import Cell, Row

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
MOST_STEPS = 5


@dataclass(frozen=True)
class Axis:
    """An axis from 0 to `top`, in the unit of its values, with round `ticks`."""

    top: float
    ticks: tuple[float, ...]

    def share(self, value: float) -> float:
        """Where `value` lies on the axis, in percent of its length, 0 to 100."""
        return round(min(max(value / self.top, 0.0), 1.0) * 100, 2)


def round_axis(largest: float) -> Axis:
    """The shortest axis of at most five round steps that holds `largest`."""
    if not 0 < largest < float("inf"):
        return Axis(1.0, (0.0, 1.0))
    power = 10.0 ** math.floor(math.log10(largest / MOST_STEPS))
    steps = [step * power for step in STEPS]
    step = next((s for s in steps if largest / s <= MOST_STEPS * (1 + 1e-9)), steps[-1])
    count = max(1, math.ceil(largest / step * (1 - 1e-9)))
    return Axis(count * step, tuple(i * step for i in range(count + 1)))


def lengths(row: Row) -> Mapping[str, tuple[float, float]]:
    """Where each column's bar begins and ends in its cell, in percent of the row's best.

    A value's bar begins at 0; a range's lies between its ends. Where lower is better the
    lengths are inverted: the longest is always the best.
    """
    ends = {key: ends_of(cell) for key, cell in row.cells.items()}
    known = [number for pair in ends.values() for number in pair if number > 0]
    if not known:
        return {}
    best = max(known) if row.metric.higher_is_better else min(known)
    found = {}
    for key, pair in ends.items():
        shares = sorted(_share(number, best, row.metric.higher_is_better) for number in pair)
        if shares:
            found[key] = (shares[0] if row.cells[key].is_range else 0.0, shares[-1])
    return found


def ends_of(cell: Cell) -> list[float]:
    """The numbers that a bar needs: the value, or the ends of a range; none for no value."""
    numbers = (cell.low, cell.high) if cell.is_range else (cell.value,)
    return [number for number in numbers if number is not None]


def _share(number: float, best: float, higher_is_better: bool) -> float:
    if number <= 0:
        return 0.0
    share = number / best if higher_is_better else best / number
    return round(min(share, 1.0) * 100, 1)
