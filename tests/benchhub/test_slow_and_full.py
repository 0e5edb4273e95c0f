"""Slow clients, huge and strange bodies, and a full disk, on a real gunicorn."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.bench.serving import prepare
from tests.benchhub.processes import wait_for
from tests.benchhub.receiver import (
    API,
    BOUNDARY,
    Answer,
    Browser,
    Limit,
    Server,
    Slow,
    Tmpfs,
    answer,
    disks,
    form,
    head,
    pace,
    serving,
)

# One process of pytest-xdist runs these, so that the folder is prepared once.
pytestmark = pytest.mark.xdist_group("slow-and-full")
SLOW_CLIENTS = 20
SECONDS = 10
PAGES = ("/", "/systems/", "/api/v1/runs/", "/accounts/login/")
DISKS = disks()


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder VAR as it is after the first start."""
    folder = tmp_path_factory.mktemp("template") / "var"
    folder.mkdir()
    prepare(folder)
    with closing(sqlite3.connect(folder / "benchhub.sqlite3")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return folder


@pytest.fixture(scope="module")
def server(template: Path) -> Iterator[Server]:
    with serving(template) as server:
        yield server


@pytest.fixture
def narrow(template: Path) -> Iterator[Server]:
    """One worker of eight threads: six places for uploads."""
    with serving(template, WEB_WORKERS="1", WEB_THREADS="8", WEB_SILENCE_S="2") as server:
        yield server


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def digests(got: Answer) -> list[str]:
    assert got.status == 200, got
    return [file["sha256"] for file in json.loads(got.body)["files"]]


def page_times_s(server: Server, until: threading.Event, least: int) -> list[float]:
    """Ask for pages over and over, `least` times or more; all must be answered."""
    times_s: list[float] = []
    while len(times_s) < least or not until.is_set():
        began_s = time.monotonic()
        assert server.get(PAGES[len(times_s) % len(PAGES)]).status == 200
        times_s.append(time.monotonic() - began_s)
    return times_s


def p95(times_s: list[float]) -> float:
    return sorted(times_s)[int(0.95 * (len(times_s) - 1))]


def test_pages_are_answered_while_slow_clients_upload(server: Server) -> None:
    over = threading.Event()
    over.set()
    idle_s = page_times_s(server, over, 100)
    clients = [Slow(server, f"{n}.log", os.urandom(SECONDS * 1024)) for n in range(SLOW_CLIENTS)]
    over.clear()
    dribble = threading.Thread(target=pace, args=(clients, 1000, SECONDS, over))
    dribble.start()
    busy_s = page_times_s(server, over, 100)
    dribble.join()
    # All of these pages were answered while every upload was still open.
    assert min(client.left for client in clients) > 0
    for client in clients:
        assert digests(client.end()) == [sha256(client.data)]
    assert server.incoming() == []
    ratio = p95(busy_s) / p95(idle_s)
    print(f"p95 of pages with {SLOW_CLIENTS} slow uploads / idle: {ratio:.2f}")  # noqa: T201


def test_beyond_its_places_a_worker_asks_to_come_again_and_serves_pages(narrow: Server) -> None:
    # Larger than the piece in which a body is read: a file is begun when one has arrived.
    slow = [Slow(narrow, f"{n}.log", os.urandom(100_000)) for n in range(6)]
    for client in slow:
        client.push(client.left - 10)
    wait_for(lambda: len(narrow.incoming()) == 6)
    refused = narrow.upload([("more.log", b"more")])
    assert (refused.status, refused.headers["retry-after"]) == (503, "5")
    assert "Too many uploads" in json.loads(refused.body)["message"]
    assert narrow.get("/systems/").status == 200
    for client in slow:
        assert digests(client.end()) == [sha256(client.data)]
    assert digests(narrow.upload([("more.log", b"more")])) == [sha256(b"more")]


def test_a_client_that_goes_or_falls_silent_leaves_nothing_behind(narrow: Server) -> None:
    gone, silent = (Slow(narrow, name, os.urandom(200_000)) for name in ("gone", "silent"))
    for client in (gone, silent):
        client.push(150_000)
    headless = narrow.connect()
    headless.sendall(b"GET / HTTP/1.1\r\nHost: local")
    wait_for(lambda: len(narrow.incoming()) == 2)
    gone.connection.close()
    wait_for(lambda: len(narrow.incoming()) == 1)
    with silent.connection:
        broken = answer(silent.connection)
    assert broken.status == 400
    assert "connection broke" in broken.text
    assert narrow.incoming() == []
    with headless:
        assert headless.recv(1) == b""
    assert narrow.get("/").status == 200


def test_a_body_of_a_gigabyte_is_refused_in_words_and_costs_no_memory(server: Server) -> None:
    server.upload([("warm", os.urandom(1_000_000))])
    before_mb, pids = server.rss_mb(), server.pids()
    size = 1_000_000_000
    piece = bytes(1_000_000)
    for path in (API, "/receive/", "/accounts/login/"):
        got = server.send(head(path, size), *[piece] * 1000)
        # Django itself cuts off what it reads of a form without files.
        assert got.status in ({413} if "receive" in path else {400, 403}), got
        assert got.headers["connection"] == "close"
    assert server.rss_mb() - before_mb <= 30
    assert server.incoming() == []
    assert server.pids() == pids


def test_the_largest_upload_streams_through(server: Server) -> None:
    server.upload([("warm", os.urandom(1_000_000))])
    before_mb = server.rss_mb()
    data = os.urandom(32_000_000)
    assert digests(server.upload([("a", data), ("b", data)])) == [sha256(data)] * 2
    assert server.rss_mb() - before_mb <= 30
    over = server.upload([("a", data), ("b", data), ("c", data[:500_000])])
    assert over.status == 413
    assert "more than 64 MB together" in json.loads(over.body)["message"]
    assert over.headers["connection"] == "close"
    assert server.incoming() == []


def test_a_connection_is_kept_after_an_upload_that_was_read(server: Server) -> None:
    body = form([("a", b"1")])
    with server.connect() as connection:
        for _ in range(2):
            connection.sendall(head(API, len(body)) + body)
            assert digests(answer(connection)) == [sha256(b"1")]


def test_floods_are_refused_and_kill_no_worker(server: Server) -> None:
    pids = server.pids()
    mark = b"--" + BOUNDARY.encode()
    field = mark + b'\r\nContent-Disposition: form-data; name="set"\r\n\r\na=b\r\n'
    fields = field * 100_000 + mark + b"--\r\n"
    files = form((f"{n}.log", b"x") for n in range(10_000))
    nested = (mark + b"\r\nX: y\r\n") * 100_000
    chunks = head(API, None, "Transfer-Encoding: chunked") + b"5\r\nhello\r\n" * 1000
    floods = {
        "fields": (head(API, len(fields)), fields),
        "files": (head(API, len(files)), files),
        "parts": (head(API, len(nested)), nested),
        "many headers": (head(API, 0, *[f"X-{n}: y" for n in range(100_000)]),),
        "a long header": (head(API, 0, "X: " + "y" * 1_000_000),),
        "a long address": (head("/?" + "y" * 1_000_000, method="GET"),),
        "chunks": (chunks,),
    }
    statuses = {name: server.send(*pieces).status for name, pieces in floods.items()}
    assert statuses.pop("chunks") == 411
    assert set(statuses.values()) <= {400, 413, 414, 431}, statuses
    assert server.incoming() == []
    assert server.get("/").status == 200
    assert server.pids() == pids


@pytest.mark.parametrize("disk", DISKS.values(), ids=DISKS.keys())
def test_a_full_disk_is_told_and_loses_nothing(
    template: Path, tmp_path: Path, disk: Tmpfs | Limit
) -> None:
    with disk.serving(template, tmp_path / "var") as server:
        pids = server.pids()
        first, second = os.urandom(100_000), os.urandom(300_000)
        kept = digests(server.upload([("first.log", first)]))[0]
        for left_kb in (0, 8, 32, 64, 128):
            disk.fill(server, left_kb)
            _is_told(server, Browser(server), second)
        disk.free(server)
        assert server.stored(kept) == first
        assert _integrity(server) == "ok"
        assert server.incoming() == []
        assert digests(server.upload([("second.log", second)])) == [sha256(second)]
        assert Browser(server).sign_in().status == 200
        assert server.pids() == pids


def _is_told(server: Server, browser: Browser, data: bytes) -> None:
    """Uploads and signing in are refused in words (or, with some room, work); pages are read."""
    upload = server.upload([("second.log", data)])
    assert upload.status == 507, upload
    assert "no room" in json.loads(upload.body)["message"]
    assert server.get("/").status == 200
    signed = browser.sign_in()
    assert signed.status in {200, 503}, signed
    if signed.status == 503:
        assert signed.headers["retry-after"] == "30"
        assert "the disk is full or too busy" in signed.text


@pytest.mark.parametrize("disk", DISKS.values(), ids=DISKS.keys())
def test_a_disk_that_fills_up_in_the_midst_of_an_upload(
    template: Path, tmp_path: Path, disk: Tmpfs | Limit
) -> None:
    with disk.serving(template, tmp_path / "var") as server:
        coming = Slow(server, "a.log", os.urandom(900_000))
        coming.push(400_000)
        wait_for(server.incoming)
        disk.fill(server)
        got = coming.end()
        assert got.status == 507, got
        assert got.headers["retry-after"] == "30"
        assert server.incoming() == []
        disk.free(server)
        assert digests(server.upload([("a.log", coming.data)])) == [sha256(coming.data)]


def _integrity(server: Server) -> str:
    """What SQLite says of the database, the write-ahead log included."""
    assert server.rows("SELECT count(*) FROM results_system") == [(38,)]
    return str(server.rows("PRAGMA integrity_check")[0][0])
