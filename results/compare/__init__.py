"""Comparisons: rows, columns, ratios, ranks, normalisation. All derived numbers come from here."""

from results.compare.engine import MAX_COLUMNS, compare_systems
from results.compare.keys import Wanted, format_key, parse_key
from results.compare.table import Cell, Column, CompareError, Row, Table, speedup

__all__ = [
    "MAX_COLUMNS",
    "Cell",
    "Column",
    "CompareError",
    "Row",
    "Table",
    "Wanted",
    "compare_systems",
    "format_key",
    "parse_key",
    "speedup",
]
