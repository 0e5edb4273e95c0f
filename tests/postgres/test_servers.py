"""The tests' own servers: private, found wherever Debian keeps them, gone with their tests."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.benchhub.processes import ROOT, gone, wait_for
from tests.servers import postgres as pg
from tests.servers.postgres import Postgres, binary
from tests.servers.private import MissingServerError, program
from tests.servers.redis import Redis

pytestmark = pytest.mark.xdist_group("postgres-hub")
LEFT_ALONE = """
import time
from tests.servers.postgres import running
from tests.servers.redis import running as running_redis
with running() as one, running_redis() as two:
    print(one.process.pid, two.process.pid, one.folder, two.folder, flush=True)
    time.sleep(600)
"""


def test_a_server_asks_for_its_password(postgres: Postgres) -> None:
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(postgres.url().replace(postgres.password, "guessed"))
    assert postgres.run("SHOW listen_addresses") == [("127.0.0.1",)]


def test_redis_keeps_what_it_was_told_over_a_restart(redis: Redis) -> None:
    with redis.client() as client:
        client.set("kept", "yes")
    redis.stop()
    redis.start()
    with redis.client() as client:
        assert client.get("kept") == b"yes"


def test_the_newest_version_is_found_outside_of_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in ("9.6", "15", "18"):
        folder = tmp_path / version / "bin"
        folder.mkdir(parents=True)
        (folder / "initdb").write_text("#!/bin/sh\n")
        (folder / "initdb").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(pg, "INSTALLED", tmp_path)
    assert binary("initdb") == str(tmp_path / "18" / "bin" / "initdb")


def test_a_missing_program_names_its_package() -> None:
    with pytest.raises(MissingServerError, match=r"no-such-server .*install the package nothing"):
        program("no-such-server", "nothing")


def test_servers_end_with_tests_that_were_killed() -> None:
    tests = subprocess.Popen(
        [sys.executable, "-c", LEFT_ALONE], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert tests.stdout is not None
    first, second, *folders = tests.stdout.readline().split()
    pids = [int(first), int(second)]
    os.kill(tests.pid, signal.SIGKILL)
    tests.wait()
    tests.stdout.close()
    wait_for(lambda: gone(pids))
    for folder in folders:
        shutil.rmtree(folder)
