"""The factor under test: what it takes out of the rows and how it splits systems."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from results import catalogue
from results.catalogue.base import SCOPES, Benchmark
from results.models import System
from results.queries import Stored

ALL = "all"


@dataclass(frozen=True)
class Factor:
    """`name` is the factor asked for; `pinned` are the names that any column is pinned to."""

    name: str
    pinned: tuple[str, ...] = ()

    @cached_property
    def splits(self) -> bool:
        """Whether a system may stand in several columns."""
        return bool(self.names)

    @cached_property
    def names(self) -> tuple[str, ...]:
        first = () if self.name == "system" else (self.name,)
        return tuple(dict.fromkeys((*first, *self.pinned)))

    def free(self, benchmark: Benchmark) -> tuple[str, ...]:
        """The names that leave this benchmark's row keys: factor, pins and what follows them."""
        names: list[str] = []
        for name in self.names:
            names += [name, *benchmark.followers(name)]
        return tuple(dict.fromkeys(names))

    @cached_property
    def frees_scope(self) -> bool:
        """Whether scopes meet in one row: by placement, or by how many sockets were loaded."""
        return self.name in ("placement", "sockets") or "sockets" in self.pinned

    def drops(self, benchmark: Benchmark) -> tuple[str, ...]:
        """Variant parameters that are not in this benchmark's row keys."""
        if not self.names:
            return ()
        extra = ("placement",) if "sockets" in self.names else ()
        return (*self.free(benchmark), *extra)

    def enters(self, cell: Stored, system: System) -> bool:
        """Whether the cell has a place: its benchmark knows every name that splits columns."""
        benchmark = catalogue.get(cell.benchmark)
        if benchmark is None:
            return False
        return all(
            knows(benchmark, name) if name != "sockets" else _by_sockets(cell)
            for name in self.names
        )

    def pin(self, pins: Mapping[str, str], system: System) -> dict[str, str]:
        """Pins as cells have them: 'sockets=all' is as many as the system has."""
        whole = str(system.sockets or ALL)
        return {k: whole if (k, v) == ("sockets", ALL) else v for k, v in pins.items()}

    def left_out(self, cells: Iterable[Stored]) -> tuple[str, ...]:
        """Slugs of benchmarks with results that have no place under this factor."""
        names = [name for name in self.names if name != "sockets"]
        slugs = dict.fromkeys(cell.benchmark for cell in cells)
        return tuple(
            s for s in slugs if (b := catalogue.get(s)) and not all(knows(b, n) for n in names)
        )

    def values(self, cell: Stored, system: System) -> dict[str, str]:
        """The cell's values of the names that split columns; an absent follower is left out."""
        if not self.names:
            return {}
        benchmark = catalogue.benchmarks()[cell.benchmark]
        values: dict[str, str] = {}
        for name in self.free(benchmark):
            value = _sockets(cell, system) if name == "sockets" else self.value(cell, name)
            if value or name in self.names:
                values[name] = value
        return values

    @staticmethod
    def value(cell: Stored, name: str) -> str:
        """A parameter's or tracked field's value as text, "" where absent."""
        for part in (cell.variant, cell.axis, cell.scale, cell.tracked):
            if name in part:
                return str(part[name])
        return ""

    def sort(self, pins: Mapping[str, str]) -> list[tuple[bool, list[tuple[int, float, str]]]]:
        """Orders a system's columns by value, numbers as numbers, absent last."""
        return [(not pins.get(name, ""), natural(pins.get(name, ""))) for name in pins]

    def label(self, system: System, pins: Mapping[str, str]) -> str:
        """The system's short name and the pins in plain words."""
        words = [say(name, value) for name, value in pins.items()]
        return " · ".join([system.short, *_merge(pins, words)])


def _merge(pins: Mapping[str, str], words: list[str]) -> list[str]:
    """An engine and its version read as one: 'MariaDB 12.3.3'."""
    if list(pins)[:2] == ["engine", "engine_version"]:
        return [f"{words[0]} {pins['engine_version']}", *words[2:]]
    return words


def say(name: str, value: str) -> str:
    """A pin in plain words, as the first benchmark that knows the name says it."""
    if name == "sockets":
        return {"1": "one socket", "2": "two sockets", ALL: "all sockets"}.get(
            value, f"{value} sockets"
        )
    for benchmark in catalogue.benchmarks().values():
        parameter = benchmark.parameter(name)
        if parameter is not None:
            return parameter.say(value) if value else f"{parameter.label or name} not stated"
        for tracked in benchmark.tracked:
            if tracked.field == name:
                return f"{tracked.label} {value}" if value else f"{tracked.label} not stated"
    return f"{name} {value}"


@lru_cache(maxsize=4096)
def natural(text: str) -> list[tuple[int, float, str]]:
    """A sort key that reads a number as one, and versions part by part: 6.8 before 6.12.

    Kept for the next who asks, so not to be changed.
    """
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return [(0, float(text), "")]
    parts = re.split(r"(\d+)", text)
    return [(0, float(p), "") if i % 2 else (1, 0.0, p) for i, p in enumerate(parts) if p]


def scope_position(scope: str | None) -> int:
    return SCOPES.index(scope) if scope in SCOPES else -1


def knows(benchmark: Benchmark, name: str) -> bool:
    """Whether results of the benchmark can have a value of that name: parameter or field."""
    parameter = benchmark.parameter(name)
    if parameter is not None:
        return parameter.role != "describes"
    return any(tracked.field == name for tracked in benchmark.tracked)


def _by_sockets(cell: Stored) -> bool:
    """By sockets, whole systems meet single sockets; of placements only all and local enter."""
    placement = cell.variant.get("placement", ALL)
    return cell.scope in ("system", "socket") and placement in (ALL, "local")


def _sockets(cell: Stored, system: System) -> str:
    if cell.scope == "socket":
        return "1"
    return str(system.sockets) if system.sockets else ALL
