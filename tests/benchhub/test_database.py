"""The database as it is configured, read back from the database itself."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection


def _pragma(name: str) -> object:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA {name}")
        row = cursor.fetchone()
    return row[0]


@pytest.mark.django_db
def test_readers_do_not_block_the_writer_and_writers_wait() -> None:
    assert _pragma("journal_mode") == "wal"
    assert _pragma("busy_timeout") == 20_000
    assert _pragma("foreign_keys") == 1


@pytest.mark.django_db(transaction=True)
def test_a_transaction_takes_the_write_lock_at_its_beginning() -> None:
    assert connection.settings_dict["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert connection.settings_dict["ATOMIC_REQUESTS"] is False


@pytest.mark.django_db
def test_models_and_migrations_agree() -> None:
    out = StringIO()
    call_command("makemigrations", check_changes=True, dry_run=True, stdout=out, stderr=out)
    assert "No changes detected" in out.getvalue()
