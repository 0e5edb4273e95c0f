"""Servers of the tests' own, and a hub on them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.reliability.hub import Hub, running
from tests.servers.fixtures import postgres, redis
from tests.servers.postgres import Postgres
from tests.servers.redis import Redis

__all__ = ["hub", "postgres", "redis"]


@pytest.fixture(scope="session")
def hub(
    tmp_path_factory: pytest.TempPathFactory, postgres: Postgres, redis: Redis
) -> Iterator[Hub]:
    """`make serve` with DATABASE_URL and BROKER_URL, and nothing else."""
    settings = {
        "DATABASE_URL": postgres.url(postgres.new_database()),
        "BROKER_URL": redis.url,
    }
    with running(tmp_path_factory.mktemp("postgres-hub"), **settings) as hub:
        yield hub
