"""The tests' own database: what one test commits is gone for the next."""

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
