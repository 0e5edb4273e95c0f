"""A flat table of measurements (CSV), as spreadsheets write it: `,` `;` or tab, 1.5 or 1,5."""

from __future__ import annotations

from results.bundle import Table, looks_like_csv
from results.formats.base import Draft, File, Remark

NAME = "Table (CSV)"
# Tools that print tables of their own are asked before.
ORDER = 80


def detect(file: File) -> bool:
    """A head with `benchmark` and `metric`, or one that is meant to have them."""
    return looks_like_csv(file.head)


def parse(file: File) -> Draft:
    """The table, and in which dialect it is read."""
    table = Table(file.text, file.name)
    remarks = tuple(Remark(text, line) for text, line in table.remarks())
    return Draft(reads=table.read, remarks=remarks)
