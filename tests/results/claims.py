"""Reads the claims of the source reviews and works them out through `compare_systems`.

A claim's note holds its formula and, for each letter in it, the cell that it stands for:
`a=2073 [system benchmark/workload/metric key=value,…]`, or a figure of a specification.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from results import catalogue
from results.compare import Cell, Row, Table, compare_systems, format_key

CLAIMS = Path(__file__).parents[1] / "data" / "reference" / "claims.csv"
CELL = re.compile(r"(\S+) (\S+?)/(\S+?)/(\S+)(?: (\S+))?$")


@dataclass(frozen=True)
class Operand:
    """A cell, by system and parameters as the figures' table has them, or a plain figure."""

    value: float
    text: str
    system: str = ""
    benchmark: str = ""
    workload: str = ""
    metric: str = ""
    params: dict[str, str] = field(default_factory=dict)

    @property
    def is_cell(self) -> bool:
        return bool(self.system)

    def role(self, role: str) -> dict[str, str]:
        entry = catalogue.benchmarks()[self.benchmark]
        return {
            k: v for k, v in self.params.items() if (p := entry.parameter(k)) and p.role == role
        }


@dataclass(frozen=True)
class Formula:
    text: str
    operands: dict[str, Operand]


@dataclass(frozen=True)
class Claim:
    """One row of claims.csv, with its formulas read."""

    id: str
    statement: str
    kind: str
    stated: str
    recomputed: str
    agrees: str
    note: str

    @property
    def formulas(self) -> list[Formula]:
        return list(_formulas(self.note))

    @property
    def listed(self) -> dict[str, list[float]]:
        """What a rank is counted over: system to values."""
        match = re.search(r"; over ([^;]*)", self.note)
        found: dict[str, list[float]] = {}
        for part in match.group(1).split("|") if match else ():
            system, _, value = part.partition("=")
            found.setdefault(system, []).append(float(value))
        return found

    @property
    def ranked(self) -> Operand:
        """The system whose rank is claimed, and its row."""
        match = re.search(r"that of (\S+) \[([^\]]*)\]", self.note)
        assert match, self.note
        return _operand(0.0, f"{match.group(1)} {match.group(2)}")

    @property
    def test(self) -> str:
        match = re.search(r"test: ([^;]*)", self.note)
        return match.group(1).strip() if match else ""


def load_claims() -> list[Claim]:
    with CLAIMS.open(encoding="utf-8", newline="") as lines:
        return [
            Claim(
                row["id"],
                row["statement"],
                row["kind"],
                row["stated_value"],
                row["recomputed_value"],
                row["agrees"],
                row["note"],
            )
            for row in csv.DictReader(lines)
        ]


def _formulas(note: str) -> Iterator[Formula]:
    for part in re.split(r"(?:;|\|)? ?(?:formula|nvidia-\S+|dell-\S+): ", note)[1:]:
        text, _, rest = part.partition(" with ")
        letters = re.findall(r"(?:^|; )([a-z])=(\S+) \[([^\]]*)\]", rest)
        if letters:
            yield Formula(text, {name: _operand(float(v), where) for name, v, where in letters})


def _operand(value: float, text: str) -> Operand:
    match = CELL.match(text)
    if not match:
        return Operand(value, text)
    system, benchmark, workload, metric, params = match.groups()
    pairs = dict(pair.split("=", 1) for pair in (params or "").split(",") if pair)
    return Operand(value, text, system, benchmark, workload, metric, pairs)


def row_of(table: Table, operand: Operand, *, without: tuple[str, ...] = ()) -> Row:
    """The row that an operand's parameters name, less those that have left the row key."""
    variant = {k: v for k, v in operand.role("variant").items() if k not in without}
    for row in table.rows:
        same = {k: str(v) for k, v in row.variant.items()} == variant
        if same and row.metric.short == operand.metric and _has_points(row, operand):
            return row
    raise AssertionError(f"no row for {operand.text}")


def _has_points(row: Row, operand: Operand) -> bool:
    axis = operand.role("axis")
    keys = [key for key in row.cells if key.partition("@")[0] == operand.system]
    return any(
        all(str({**row.cells[key].at, **row.at}.get(k)) == v for k, v in axis.items())
        for key in keys
    )


def cell(operand: Operand, *, per: str = "total") -> Cell:
    """The operand's cell, read through a comparison of its system alone."""
    where = f"{operand.benchmark}/{operand.workload}"
    axes = [""] + [name for name in operand.role("axis") if name == "threads"]
    for axis in axes:
        table = compare_systems(systems=[operand.system], benchmarks=[where], per=per, axis=axis)
        for row in table.rows:
            found = _match(row, operand, axis)
            if found is not None:
                return found
    raise AssertionError(f"no cell for {operand.text}")


def _match(row: Row, operand: Operand, axis: str) -> Cell | None:
    variant = {k: str(v) for k, v in row.variant.items()}
    one = row.cells.get(operand.system)
    if variant != operand.role("variant") or row.metric.short != operand.metric or one is None:
        return None
    for x, value, *_rest in one.points or ():
        if str(x) == operand.params.get(axis):
            one.value = value
            return one
    at = {k: str(v) for k, v in {**one.at, **row.at}.items()}
    return one if operand.role("axis").items() <= at.items() else None


def ratio(left: Operand, right: Operand, *, per: str = "total") -> float | None:
    """left / right as one comparison gives it; None where they stand in different rows.

    The ratio of a cell to the baseline is folded (above 1 is better): unfolded for times.
    """
    if (left.benchmark, left.workload, left.metric) != (
        right.benchmark,
        right.workload,
        right.metric,
    ):
        return None
    names = {**left.role("variant"), **right.role("variant")}
    apart = [name for name in names if left.params.get(name) != right.params.get(name)]
    if len(apart) > 1 or left.role("axis") != right.role("axis"):
        return None
    factor = apart[0] if apart else "system"
    keys = [key(one, factor) for one in (left, right)]
    where = f"{left.benchmark}/{left.workload}"
    table = compare_systems(
        systems=keys, benchmarks=[where], factor=factor, baseline=keys[1], per=per
    )
    row = row_of(table, left, without=tuple(apart))
    found = row.cells[keys[0]].ratio if keys[0] in row.cells else None
    if found is None:
        return None
    return found if row.metric.higher_is_better else 1 / found


def key(operand: Operand, factor: str) -> str:
    """The column of an operand under a factor."""
    if factor == "system":
        return operand.system
    return format_key(operand.system, {factor: operand.params.get(factor, "")})
