"""The tests' own database: what one test commits is gone for the next."""

import os

import pytest
from django.contrib.auth import get_user_model
from django.db import connection

pytestmark = pytest.mark.xdist_group("fixtures")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("turn", [1, 2])
def test_what_a_test_commits_is_gone_for_the_next(turn: int) -> None:
    assert not get_user_model().objects.exists()
    get_user_model().objects.create_user(f"user{turn}")
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM django_migrations")
        assert cursor.fetchone()[0] > 0


def test_tests_of_one_group_are_run_by_one_process(request: pytest.FixtureRequest) -> None:
    # pytest-xdist marks them by a suffix; without it each server would be started by each process.
    expected = "@fixtures" if "PYTEST_XDIST_WORKER" in os.environ else ""
    assert request.node.nodeid.partition("_by_one_process")[2] == expected
