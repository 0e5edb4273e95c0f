"""A good part of the other tests once more, on PostgreSQL.

`python -m pytest` with TEST_DATABASE_URL runs any of them there, or all. What is chosen here
takes about a minute and a half and has everything in which the two databases differ:
constraints, triggers and rows locked for change, upserts, JSON, dates, sorting, lengths and
numbers of columns, NUL, writers that meet, and transactions that failed half way.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.benchhub.processes import ROOT
from tests.servers.postgres import Postgres

pytestmark = pytest.mark.xdist_group("postgres-suite")
CHOSEN = (
    "tests/results/test_odd_values.py",
    "tests/results/test_writers.py",
    "tests/results/test_services.py",  # the audit's triggers
    "tests/results/test_summaries.py",
    "tests/results/test_ingest.py",
    "tests/results/test_ingest_parts.py",
    "tests/results/test_intake_uploads.py",
    "tests/results/test_kept.py",  # the stamp
    "tests/results/test_tokens.py",
    "tests/results/test_compare.py",
    "tests/results/test_visibility_systems.py",
    "tests/runners/test_claims.py",
    "tests/runners/test_jobs.py",
    "tests/runners/test_sweep.py",
    "tests/runners/test_execute.py",
    "tests/benchhub/test_fixtures.py",
)
# They ask SQLite itself, or try many examples of what has nothing to do with the database.
LEFT_OUT = (
    "tests/results/test_tokens.py::test_a_database_that_cannot_be_written_to_refuses_no_token",
    "tests/results/test_tokens.py::test_no_secret_is_in_database_logs_or_admin",
    "tests/results/test_summaries.py::test_cells_say_the_same_however_the_runs_came",
)


def test_the_chosen_tests_pass_on_postgresql(postgres: Postgres) -> None:
    left_out = [f"--deselect={name}" for name in LEFT_OUT]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *left_out, *CHOSEN],
        cwd=ROOT,
        env=environment(postgres),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-20_000:]
    assert f"{len(LEFT_OUT)} deselected" in done.stdout


def environment(postgres: Postgres) -> dict[str, str]:
    """Ours, without what tells pytest that it is part of another run."""
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("PYTEST", "VAR"))}
    return {**kept, "TEST_DATABASE_URL": postgres.url()}
