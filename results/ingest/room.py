"""Room for SQLite to keep in memory what one large ingest writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

MANY_RUNS = 200
WIDE_KB = 64_000


@contextmanager
def room_for(runs: int) -> Iterator[None]:
    """Let SQLite hold up to WIDE_KB of pages while many runs are stored.

    With the few megabytes that serve a page, the indexes of a large database are written
    out and read again within one transaction. Other databases need no telling.
    """
    if connection.vendor != "sqlite" or runs < MANY_RUNS:
        yield
        return
    before = _cache_size()
    _set_cache_size(-WIDE_KB)
    try:
        yield
    finally:
        _set_cache_size(before)


def _cache_size() -> int:
    """As SQLite tells it: pages, or if negative the thousands of bytes."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA cache_size")
        return int(cursor.fetchone()[0])


def _set_cache_size(size: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA cache_size = {size}")
