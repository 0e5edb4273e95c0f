"""Long sequences in parts: a database takes so many values in a statement, and no more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")

# SQLite's oldest limit is 999 variables in a statement.
SIZE = 500


def chunks(items: Sequence[Item], size: int = SIZE) -> Iterator[Sequence[Item]]:
    """`items` in order, at most `size` at a time."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
