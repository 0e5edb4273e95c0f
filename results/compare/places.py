"""The place of a value in a ranking: a List, or a league table."""

from __future__ import annotations

from collections.abc import Iterable


def place(value: float, others: Iterable[float], *, higher_is_better: bool) -> int:
    """The rank that `value` takes among `others`, 1 is best; equal values share a rank."""
    if higher_is_better:
        return 1 + sum(other > value for other in others)
    return 1 + sum(other < value for other in others)
