"""A comparison as the API tells it: plain dicts, straight from the table."""

from __future__ import annotations

import math
from typing import Any

from results.compare import Cell, Column, Row, Table
from results.models import Trust

Answer = dict[str, Any]

TRUST_WORDS = {int(level): level.name.lower() for level in Trust}


def table_answer(table: Table) -> Answer:
    """The whole comparison in the shape of the contract, numbers at full precision."""
    return {
        "columns": [_column(column) for column in table.columns],
        "baseline": table.baseline,
        "factor": table.factor,
        "per": table.per,
        "axis": table.axis or None,
        "rows": [_row(row, table.axis) for row in table.rows],
        "geomean": table.geomean,
        "common_rows": table.common_rows,
        "left_out": list(table.left_out),
    }


def _column(column: Column) -> Answer:
    return {
        "key": column.key,
        "system": column.system.slug,
        "pins": dict(column.pins),
        "label": column.label,
        "cores": column.system.cores,
        "sockets": column.system.sockets,
    }


def _row(row: Row, axis: str) -> Answer:
    answer: Answer = {
        "id": row.id,
        "benchmark": row.benchmark.slug,
        "workload": row.workload,
        "metric": row.metric.short,
        "unit": row.metric.unit,
        "value_unit": row.unit,
        "better": row.better,
        "scope": row.scope,
        "variant": dict(row.variant),
        "cells": {key: _cell(cell, row, axis) for key, cell in row.cells.items()},
    }
    if row.at:
        answer["at"] = dict(row.at)
    return answer


def _cell(cell: Cell, row: Row, axis: str) -> Answer:
    answer: Answer = {
        "value": finite(cell.value),
        "raw": finite(cell.raw),
        "denominator": finite(cell.denominator),
        "n": cell.n,
        "qualifier": cell.qualifier,
        "run": cell.run,
        "ratio": finite(cell.ratio),
        "rank": cell.rank,
        "class": cell.verdict,
        "reasons": [dict(reason) for reason in cell.reasons],
        "lab": cell.lab,
        "trust": trust_word(cell.trust),
    }
    if cell.spread:
        answer |= {"low": finite(cell.low), "high": finite(cell.high)}
    if axis:
        answer["points"] = [_point(point) for point in cell.points or []]
    return answer | _remarks(cell, row)


def _remarks(cell: Cell, row: Row) -> Answer:
    """What is said only where there is something to say."""
    remarks: Answer = {
        "range": cell.is_range,
        "at": cell.at and {name: x for name, x in cell.at.items() if name not in row.at},
        "scope": "" if row.scope else cell.scope,
        "others": cell.others,
        "assumed": cell.assumed,
        "inferred": cell.inferred,
        "basis": cell.basis,
        "missing": cell.missing,
        "above_peak": cell.above_peak,
    }
    return {name: remark for name, remark in remarks.items() if remark}


def _point(point: list[Any]) -> list[Any]:
    x, value, low, high, n = point
    return [x, finite(value), finite(low), finite(high), n]


def finite(number: float | None) -> float | None:
    """The number, or None for what JSON has no word for."""
    return number if number is not None and math.isfinite(number) else None


def trust_word(trust: int) -> str:
    """verified, source, vendor or community."""
    return TRUST_WORDS[trust]
