"""How fast a bundle becomes published rows: against bulk_create, and with much stored."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.bench.remote import Remote
from tests.bench.report import Line
from tests.bench.sample import METRICS

LEAST_OF_BARE = 0.5
LEAST_OF_EMPTY = 0.8


@dataclass
class Seconds:
    """What each repeat took."""

    empty: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)
    full: list[float] = field(default_factory=list)


def measure(
    empty: Remote, full: Remote, stored: int, *, systems: int, repeats: int, rounds: int
) -> list[Line]:
    """Lines for a bundle of `repeats` runs of everything on `systems` systems.

    The three ways take turns; of each the best round counts, since whatever else the
    machine does can only make a round slower. `empty` must be migrated and kept.
    """
    seconds = Seconds()
    for batch in range(1, rounds + 1):
        bundle = {"systems": systems, "repeats": repeats, "batch": batch}
        empty.ask("restore")
        seconds.empty.append(empty.ask("time_ingest", **bundle))
        seconds.full.append(full.ask("time_ingest", **bundle))
        empty.ask("restore")
        seconds.bare.append(empty.ask("time_bare", **bundle))
    return _lines(seconds, stored, systems * METRICS * repeats)


def _lines(seconds: Seconds, stored: int, count: int) -> list[Line]:
    ways = (seconds.empty, seconds.bare, seconds.full)
    empty, bare, full = (count / min(taken) for taken in ways)
    return [
        Line(
            "ingest: rate / that of a bare bulk_create of the same rows",
            empty / bare,
            LEAST_OF_BARE,
            "at least",
            remark=f"{empty:,.0f} / {bare:,.0f} measurements a second here",
        ),
        Line(
            f"ingest: rate with {stored:,} stored / into an empty database",
            full / empty,
            LEAST_OF_EMPTY,
            "at least",
            remark=f"{full:,.0f} / {empty:,.0f} measurements a second here",
        ),
    ]
