"""Ratios, ranks and means over the rows of a table."""

from __future__ import annotations

import math
from collections.abc import Sequence

from results.compare.table import Cell, Row, speedup


def judge(row: Row, baseline: str) -> None:
    """Set ratio and rank of the row's cells, in place.

    A ratio needs a value on both sides at one scale. A rank needs a row of one scale;
    ranges and cells that are not to be ranked take no part in it. Ties share a rank.
    """
    base = row.cells.get(baseline)
    for cell in row.cells.values():
        cell.ratio = _ratio(row, cell, base)
    if row.one_scale:
        _rank(row)


def _ratio(row: Row, cell: Cell, base: Cell | None) -> float | None:
    if base is None or cell.scale != base.scale:
        return None
    return speedup(cell.value, base.value, higher_is_better=row.metric.higher_is_better)


def _rank(row: Row) -> None:
    ranked = [cell for cell in row.valued().values() if cell.ranked]
    sign = -1 if row.metric.higher_is_better else 1
    keys = sorted(sign * (cell.value or 0.0) for cell in ranked)
    for cell in ranked:
        cell.rank = keys.index(sign * (cell.value or 0.0)) + 1


def geomeans(rows: Sequence[Row], columns: Sequence[str]) -> tuple[dict[str, float] | None, int]:
    """Geometric mean of each column's ratios over the rows that all columns have.

    Returns the means by column key, or None without such a row, and the number of rows.
    Source: Fleming & Wallace, CACM 29(3), 1986.
    """
    common = [row for row in rows if all(_has_ratio(row, key) for key in columns)]
    if not common or not columns:
        return None, 0
    means = {
        key: math.exp(
            math.fsum(math.log(row.cells[key].ratio or 1.0) for row in common) / len(common)
        )
        for key in columns
    }
    return means, len(common)


def _has_ratio(row: Row, key: str) -> bool:
    return key in row.cells and row.cells[key].ratio is not None
