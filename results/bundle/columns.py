"""The columns of a table, and how text stands in its cells."""

from __future__ import annotations

import re

RUN_COLUMNS = (
    "system",
    "node",
    "benchmark",
    "version",
    "scope",
    "started_at",
    "source",
    "ordinal",
    "not_ranked_because",
)
NUMBERS = ("value", "low", "high")
MEASUREMENT_COLUMNS = ("metric", *NUMBERS, "unit", "qualifier", "note")
COLUMNS = (
    *("system", "node", "benchmark", "version", "scope", "metric", "value", "low", "high"),
    *("unit", "qualifier", "started_at", "source", "note", "ordinal", "not_ranked_because"),
)
REQUIRED = ("benchmark", "scope", "metric", "unit")
# A spreadsheet takes a text that begins with one of these for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def is_known(column: str) -> bool:
    """Whether a table may have the column."""
    return column in COLUMNS or re.fullmatch(r"(param|setup)\..{1,60}", column) is not None


def defuse(cell: str) -> str:
    """A text cell that no spreadsheet takes for a formula; `undefuse` gives it back."""
    return f"'{cell}" if cell.startswith((*FORMULA, "'")) else cell


def undefuse(cell: str) -> str:
    """What `defuse` was given."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith((*FORMULA, "'")) else cell
