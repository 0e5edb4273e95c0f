"""Fixtures for a conftest.py to import. Tests that share a server share an xdist_group."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers import postgres as pg
from tests.servers import redis as rd
from tests.servers.postgres import Postgres
from tests.servers.redis import Redis


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server with nothing in it."""
    with pg.running() as server:
        yield server


@pytest.fixture(scope="session")
def redis() -> Iterator[Redis]:
    """A Redis server with nothing in it."""
    with rd.running() as server:
        yield server
