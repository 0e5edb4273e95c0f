"""Who leads where: for each benchmark of a comparison the row that most columns have."""

from __future__ import annotations

from dataclasses import dataclass

from results.compare import Cell, Column, Row, Table


@dataclass(frozen=True)
class Lead:
    """The best column of a row, and by what factor (None: a tie) it is ahead of the second."""

    row: Row
    first: Column
    second: Column
    cell: Cell
    factor: float | None
    compared: int


def leads(table: Table) -> list[Lead]:
    """A lead for each benchmark with a row that ranks two columns or more, in table order."""
    best: dict[str, Lead] = {}
    for row in table.rows:
        found = _lead(table, row)
        known = best.get(row.benchmark.slug)
        if found and (known is None or found.compared > known.compared):
            best[row.benchmark.slug] = found
    return list(best.values())


def _lead(table: Table, row: Row) -> Lead | None:
    order = row.order()
    if len(order) < 2:
        return None
    (first, cell), (second, _) = order[:2]
    return Lead(row, table.column(first), table.column(second), cell, row.lead(), len(order))
