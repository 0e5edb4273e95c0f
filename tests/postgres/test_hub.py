"""A whole hub on PostgreSQL and Redis: the same answers as on SQLite, and it outlives both."""

from __future__ import annotations

import json
from collections import Counter

import psutil
import pytest
from django.test import Client

from tests.bench.report import Line
from tests.reliability import given, hostile, restarts
from tests.reliability.desk import Desk
from tests.reliability.hub import Hub
from tests.servers.postgres import Postgres
from tests.servers.redis import Redis

# One process of pytest-xdist runs these, so that servers and hub are started once.
pytestmark = pytest.mark.xdist_group("postgres-hub")
# What is computed, and what is merely listed, sorted and paged by the database.
DOCUMENTS = (
    "/api/v1/compare/",
    "/api/v1/compare/?factor=smt&benchmark=stream",
    "/api/v1/compare/?per=core&axis=threads",
    "/api/v1/compare/?factor=placement&benchmark=stream&per=peak",
    "/api/v1/systems/?search=epyc",
    "/api/v1/systems/",
    "/api/v1/processors/",
    "/api/v1/benchmarks/",
    "/api/v1/metrics/?page=2",
    "/api/v1/comparisons/",
)
UPLOADED = "/api/v1/compare/?system=nvidia-mgx-vera-c2&benchmark=stream/triad"


def wrong(lines: list[Line]) -> list[tuple[str, ...]]:
    return [line.cells() for line in lines if line.is_over]


def test_the_reference_data_is_there_after_the_first_start(hub: Hub) -> None:
    found = hub.get("/api/v1/systems/")
    assert (found.status, json.loads(found.body)["count"]) == (200, 38)
    assert hub.get("/healthz").status == 200
    assert not (hub.var / "benchhub.sqlite3").exists()


@pytest.mark.django_db
@pytest.mark.parametrize("path", DOCUMENTS)
def test_the_same_documents_come_out_as_of_sqlite(hub: Hub, client: Client, path: str) -> None:
    expected = client.get(path, headers={"host": "localhost"})
    found = hub.get(path)
    assert (expected.status_code, found.status) == (200, 200)
    assert json.loads(found.body) == expected.json()


@pytest.mark.django_db
def test_the_same_table_comes_out_as_of_sqlite(hub: Hub, client: Client) -> None:
    expected = client.get("/api/v1/compare.csv").getvalue()
    assert expected.count(b"\n") > 100
    assert hub.get("/api/v1/compare.csv").body == expected


def test_an_upload_is_read_and_published(hub: Hub) -> None:
    file, fields = given.upload(1)
    answer = hub.order("published", [file], [*fields, ("publish", "1")])
    assert answer.status == 201, answer
    outcome = hub.outcome("published", json.loads(answer.body)["id"])
    assert outcome["state"] == "published"
    rows = json.loads(hub.get(UPLOADED).body)["rows"]
    runs = [cell["run"] for row in rows for cell in row["cells"].values()]
    assert hub.rows("SELECT count(*) FROM results_summary WHERE best_run_id = ?", runs[0]) > [(0,)]


def test_damaged_files_are_read_or_refused_in_words(hub: Hub) -> None:
    assert wrong(hostile.measure(hub, 60)) == []


def test_a_job_runs_through_redis(hub: Hub, redis: Redis) -> None:
    desk = Desk(hub)
    outcome = desk.outcome(desk.order(ms=100))
    assert (outcome["state"], outcome["message"]) == ("finished", "")
    assert desk.runs([outcome["id"]]) == {outcome["id"]: 1}
    with redis.client() as client:
        assert any(b"host-" in key for key in client.keys())  # noqa: SIM118  a method of Redis
    assert not (hub.var / "queue").exists()


def test_no_two_processes_share_a_connection(hub: Hub, postgres: Postgres) -> None:
    family = psutil.Process(hub.process.pid).children(recursive=True)
    held = Counter(
        connection.laddr.port
        for process in family
        for connection in process.net_connections("tcp")
        if connection.raddr and connection.raddr.port == postgres.port
    )
    assert held
    assert max(held.values()) == 1
    [master] = hub.find("master")
    [reader] = hub.find("reader")
    for parent in (master, reader):
        assert not [c for c in parent.net_connections("tcp") if c.raddr]


def test_servers_that_are_restarted_under_load_lose_nothing(
    hub: Hub, postgres: Postgres, redis: Redis
) -> None:
    lines = restarts.measure(hub, postgres, redis, restarts=2, uploads=24)
    assert wrong(lines) == []
