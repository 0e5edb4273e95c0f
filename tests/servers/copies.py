"""The test database as it was before any test, to be put back after one that commits."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import psycopg
from django.db import connection


@contextmanager
def kept_copy(name: str) -> Iterator[Callable[[], None]]:
    """Copy the database `name`; what is given puts the copy in its place."""
    if connection.vendor == "sqlite":
        kept = f"{name}.reference"
        _copy_file(name, kept)
        yield lambda: _copy_file(kept, name)
        return
    kept = f"{name}_reference"
    _copy_in_server(name, kept)
    try:
        yield lambda: _copy_in_server(kept, name)
    finally:
        _in_server(f"DROP DATABASE IF EXISTS {kept} WITH (FORCE)")


def _copy_file(source: str, target: str) -> None:
    """Copy one SQLite file over another, pages and all, in one transaction."""
    with closing(sqlite3.connect(source)) as left, closing(sqlite3.connect(target)) as right:
        left.backup(right)


def _copy_in_server(source: str, target: str) -> None:
    """Make a database of PostgreSQL anew, as another one is. Nobody may be connected to it."""
    connection.close()
    _in_server(
        f"DROP DATABASE IF EXISTS {target} WITH (FORCE)",
        f"CREATE DATABASE {target} TEMPLATE {source}",
    )


def _in_server(*statements: str) -> None:
    """Run statements in a database that is not copied; past Django, which tests may not use."""
    with psycopg.connect(os.environ["TEST_DATABASE_URL"], autocommit=True) as line:
        for statement in statements:
            line.execute(statement.encode())
