"""Figures of bars that the server draws itself: widths and ticks in percent of the axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from results.wording import Figures


@dataclass(frozen=True)
class Bar:
    """One bar: what it says, its length in percent of the axis, whose colour it has."""

    label: str
    text: str
    width: str
    position: int
    run: int


@dataclass(frozen=True)
class Tick:
    """A line of the grid: where it lies, in percent of the axis, and its number."""

    at: str
    text: str


@dataclass(frozen=True)
class BarFigure:
    """Bars on one axis from 0; `steps` is the number of spaces between its ticks."""

    bars: list[Bar]
    ticks: list[Tick]

    @property
    def steps(self) -> int:
        return max(len(self.ticks) - 1, 1)


@dataclass(frozen=True)
class Length:
    """A value to be drawn, at least 0, in the metric's unit."""

    label: str
    value: float
    position: int
    run: int


def bar_figure(lengths: Sequence[Length], shown: Figures) -> BarFigure:
    """Bars in the given order over an axis that ends at a round number."""
    top, step = axis([one.value for one in lengths])
    count = round(top / step)
    # Ticks are rounder than values: they need no more decimals than the step has.
    plain = Figures(shown.unit, shown.factor, 0)
    ticks = [Tick(f"{100 * i / count:.2f}", plain.number(step * i)) for i in range(count + 1)]
    bars = [
        Bar(
            one.label,
            shown.number(one.value),
            percent_of(one.value, top),
            one.position,
            one.run,
        )
        for one in lengths
    ]
    return BarFigure(bars, ticks)


def axis(values: Sequence[float]) -> tuple[float, float]:
    """Where an axis from 0 ends, and the step of its four to six ticks: (2500, 500)."""
    most = max(values, default=0.0)
    if most <= 0:
        return 1.0, 1.0
    size = 10.0 ** math.floor(math.log10(most / 4))
    step = next(size * s for s in (1, 2, 2.5, 5, 10) if math.ceil(most / (size * s)) <= 5)
    return step * math.ceil(most / step), step


def percent_of(value: float | None, whole: float | None) -> str:
    """A bar's length: '82.92'; '0' where it has none."""
    if not value or not whole or value < 0:
        return "0"
    return f"{min(100.0, 100 * value / whole):.2f}"
