"""How fast a bundle becomes published rows: against bulk_create, and with much stored."""

from __future__ import annotations

from collections.abc import Sequence
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


def measure(
    empty: Remote, full: Remote, stored: int, *, systems: int, repeats: int, rounds: int
) -> list[Line]:
    """Lines for a bundle of `repeats` runs of everything on `systems` systems.

    `empty` must be migrated and kept.
    """
    taken = []
    for batch in range(1, rounds + 1):
        bundle = {"systems": systems, "repeats": repeats, "batch": batch}
        empty.ask("restore")
        bare = Taken(*empty.ask("time_bare", **bundle))
        empty.ask("restore")
        into_empty = Taken(*empty.ask("time_ingest", **bundle))
        taken.append(Round(bare, into_empty, Taken(*full.ask("time_ingest", **bundle))))
    return lines(taken, stored, systems * METRICS * repeats)


def lines(taken: Sequence[Round], stored: int, count: int) -> list[Line]:
    """The ratios, each the median of its rounds': what slows a round down slows both sides."""
    bare, empty, full = (
        f"{count / median(way.clock for way in ways):,.0f}" for ways in zip(*taken, strict=True)
    )
    to_bare = [(one.bare, one.empty) for one in taken]
    to_empty = [(one.empty, one.full) for one in taken]
    return [
        Line(
            "ingest: rate / that of a bare bulk_create of the same rows",
            median(left.clock / right.clock for left, right in to_bare),
            LEAST_OF_BARE,
            "at least",
            remark=f"{empty} / {bare} measurements a second here; {_processor(to_bare)}",
        ),
        Line(
            f"ingest: rate with {stored:,} stored / into an empty database",
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
