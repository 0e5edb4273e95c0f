"""How fast a bundle becomes published rows: against bulk_create, and with much stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from tests.bench.remote import Remote
from tests.bench.report import Line
from tests.bench.sample import METRICS

LEAST_OF_BARE = 0.5
LEAST_OF_EMPTY = 0.8


class Taken(NamedTuple):
    """Seconds by the clock, and of processor time."""

    clock: float
    processor: float


class Round(NamedTuple):
    """What each way took, one right after the other."""

    bare: Taken
    empty: Taken
    full: Taken


@dataclass(frozen=True)
class Load:
    """A bundle of `repeats` runs of everything on `systems` systems; `split` as in sample."""

    name: str
    systems: int
    repeats: int
    split: bool
    rounds: int

    @property
    def measurements(self) -> int:
        return self.systems * METRICS * self.repeats


def measure(empty: Remote, full: Remote, stored: int, load: Load, *, first: int) -> list[Line]:
    """Lines for a load. `empty` must be migrated and kept; batches are counted from `first`."""
    taken = []
    for batch in range(first, first + load.rounds):
        bundle = {"systems": load.systems, "repeats": load.repeats, "split": load.split}
        bundle["batch"] = batch
        empty.ask("restore")
        bare = Taken(*empty.ask("time_bare", **bundle))
        empty.ask("restore")
        into_empty = Taken(*empty.ask("time_ingest", **bundle))
        taken.append(Round(bare, into_empty, Taken(*full.ask("time_ingest", **bundle))))
    return lines(load, taken, stored)


def lines(load: Load, taken: Sequence[Round], stored: int) -> list[Line]:
    """The ratios, each the median of its rounds': what slows a round down slows both sides."""
    bare, empty, full = (
        f"{load.measurements / median(way.clock for way in ways):,.0f}"
        for ways in zip(*taken, strict=True)
    )
    to_bare = [(one.bare, one.empty) for one in taken]
    to_empty = [(one.empty, one.full) for one in taken]
    return [
        Line(
            f"{load.name}: rate / that of a bare bulk_create of the same rows",
            median(left.clock / right.clock for left, right in to_bare),
            LEAST_OF_BARE,
            "at least",
            remark=f"{empty} / {bare} measurements a second here; {_processor(to_bare)}",
        ),
        Line(
            f"{load.name}: rate with {stored:,} stored / into an empty database",
            median(left.clock / right.clock for left, right in to_empty),
            LEAST_OF_EMPTY,
            "at least",
            remark=f"{full} / {empty} measurements a second here; {_processor(to_empty)}",
        ),
    ]


def _processor(pairs: Sequence[tuple[Taken, Taken]]) -> str:
    """The same ratio without the waiting: for a machine that has other work too."""
    ratio = median(left.processor / right.processor for left, right in pairs)
    return f"{ratio:.2f} by processor time"
