"""A comparison as a flat table: one line a cell, for spreadsheets."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping

from results.api.answers import finite, trust_word
from results.compare import Cell, Row, Table

Field = str | int | float | None
COLUMNS = (
    "benchmark",
    "workload",
    "metric",
    "unit",
    "better",
    "scope",
    "variant",
    "column",
    "system",
    "value",
    "raw",
    "denominator",
    "n",
    "low",
    "high",
    "qualifier",
    "ratio",
    "rank",
    "run",
    "lab",
    "trust",
    "value_unit",
    "class",
    "range",
    "at",
    "point",
    "others",
    "missing",
)
FORMULA = ("=", "+", "-", "@", "\t", "\r")


class Echo:
    """A file for csv.writer that hands each line back instead of keeping it."""

    def write(self, line: str) -> str:
        return line


def lines(table: Table) -> Iterator[str]:
    """The table's lines, header first. With an axis, a line a point behind each cell's own.

    Text that a spreadsheet would take for a formula gets an apostrophe; numbers stay
    numbers, at full precision.
    """
    writer = csv.DictWriter(Echo(), COLUMNS)
    yield writer.writer.writerow(COLUMNS)
    systems = {column.key: column.system.slug for column in table.columns}
    for row in table.rows:
        for key, cell in row.cells.items():
            place = {**_row(row), "column": key, "system": systems[key]}
            for numbers in (_cell(cell, row), *_points(cell)):
                fields = {name: defuse(value) for name, value in (place | numbers).items()}
                yield writer.writerow(fields)


def defuse(value: Field) -> Field:
    """Text that begins like a formula, made plain text."""
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    return value


def _row(row: Row) -> dict[str, Field]:
    return {
        "benchmark": row.benchmark.slug,
        "workload": row.workload,
        "metric": row.metric.short,
        "unit": row.metric.unit,
        "better": row.better,
        "variant": _pairs(row.variant),
        "value_unit": row.unit,
    }


def _cell(cell: Cell, row: Row) -> dict[str, Field]:
    return {
        "scope": row.scope or cell.scope,
        "value": finite(cell.value),
        "raw": finite(cell.raw),
        "denominator": finite(cell.denominator),
        "n": cell.n,
        "low": finite(cell.low) if cell.spread else None,
        "high": finite(cell.high) if cell.spread else None,
        "qualifier": cell.qualifier,
        "ratio": finite(cell.ratio),
        "rank": cell.rank,
        "run": cell.run,
        "lab": cell.lab,
        "trust": trust_word(cell.trust),
        "class": cell.verdict,
        "range": "yes" if cell.is_range else None,
        "at": _pairs({**row.at, **cell.at}),
        "others": cell.others,
        "missing": cell.missing,
    }


def _points(cell: Cell) -> Iterator[dict[str, Field]]:
    for x, value, low, high, n in cell.points or ():
        yield {
            "scope": cell.scope,
            "value": finite(value),
            "low": finite(low),
            "high": finite(high),
            "n": n,
            "point": x,
        }


def _pairs(values: Mapping[str, str | int | float]) -> str:
    return ";".join(f"{name}={value}" for name, value in values.items())
