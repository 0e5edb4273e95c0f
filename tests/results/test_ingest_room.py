"""A large ingest gets more of SQLite's cache, and gives it back."""

from __future__ import annotations

import pytest
from django.db import connection

from results.ingest.room import MANY_RUNS, WIDE_KB, room_for

pytestmark = pytest.mark.django_db


def cache_size() -> int:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA cache_size")
        return int(cursor.fetchone()[0])


def test_many_runs_get_a_wide_cache_and_give_it_back() -> None:
    before = cache_size()
    with room_for(MANY_RUNS):
        assert cache_size() == -WIDE_KB
    assert cache_size() == before != -WIDE_KB


def test_the_cache_is_given_back_after_a_failure_too() -> None:
    before = cache_size()
    with pytest.raises(ZeroDivisionError), room_for(MANY_RUNS):
        1 / 0  # noqa: B018
    assert cache_size() == before


def test_a_few_runs_leave_the_cache_as_it_is() -> None:
    before = cache_size()
    with room_for(MANY_RUNS - 1):
        assert cache_size() == before
