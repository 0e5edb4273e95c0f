"""Whom the leftovers find, and above all whom they leave alone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from runners.engine import leftovers, processes, scratch
from tests.benchhub.processes import wait_for
from tests.runners.engine.helpers import MARKER, TELL

Started = subprocess.Popen[bytes]


class Starting:
    """Starts `sleep` in sessions of their own; all are gone after the test."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def __call__(self, *argv: str, marker: str = "", cwd: Path | None = None) -> Started:
        env = {"PATH": os.environ["PATH"]}
        if marker:
            env["BENCHHUB_ATTEMPT"] = marker
        process = subprocess.Popen(
            argv or ("sleep", "1000"), env=env, cwd=cwd, start_new_session=True
        )
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process


@pytest.fixture
def start() -> Iterator[Starting]:
    with ExitStack() as stack:
        yield Starting(stack)


def _since(process: Started) -> int:
    since = processes.started(process.pid)
    assert since is not None
    return since


def test_a_marked_process_is_ended_and_one_marked_otherwise_is_not(start: Starting) -> None:
    mine, other, longer = (start(marker=m) for m in (MARKER, "other", f"{MARKER}0"))
    assert leftovers.end(MARKER, None) == 1
    assert mine.wait() == -15
    assert (other.poll(), longer.poll()) == (None, None)


def test_a_deaf_process_is_killed(start: Starting, tmp_path: Path) -> None:
    deaf = TELL + "signal.signal(signal.SIGTERM, signal.SIG_IGN); tell('there'); time.sleep(1000)"
    process = start(sys.executable, "-c", deaf, marker=MARKER, cwd=tmp_path)
    wait_for((tmp_path / "there").exists)
    assert leftovers.end(MARKER, None, grace_s=0.1) == 1
    assert process.wait() == -9


def test_a_session_is_ended_by_its_id_and_start(start: Starting) -> None:
    process = start()
    assert leftovers.end(MARKER, (process.pid, _since(process))) == 1
    assert process.wait() == -15


def test_a_recycled_session_lives_on(start: Starting) -> None:
    process = start()
    for since in (_since(process) - 1, _since(process) + 1, 0):
        assert leftovers.end(MARKER, (process.pid, since)) == 0
    assert process.poll() is None


def test_a_session_without_its_leader_is_not_trusted(start: Starting, tmp_path: Path) -> None:
    leave = TELL + "if os.fork() == 0:\n    tell('there')\n    time.sleep(1000)\nwait_for('there')"
    leader = start(sys.executable, "-c", leave, cwd=tmp_path)
    since = _since(leader)
    leader.wait()
    orphan = int((tmp_path / "there").read_text())
    try:
        assert leftovers.end(MARKER, (leader.pid, since)) == 0
        assert processes.look(orphan) is not None
    finally:
        os.kill(orphan, 9)


def test_who_only_looks_into_the_scratch_folder_lives_on(start: Starting, tmp_path: Path) -> None:
    folder = scratch.make(tmp_path, MARKER)
    log = folder / "log"
    log.write_text("text")
    visitor = start(cwd=folder)
    reader = start("tail", "-f", str(log))
    assert leftovers.end(MARKER, None) == 0
    assert (visitor.poll(), reader.poll()) == (None, None)


def test_who_writes_there_is_ended(start: Starting, tmp_path: Path) -> None:
    folder = scratch.make(tmp_path, MARKER)
    writer = start("sh", "-c", f"exec sleep 1000 > {folder}/log")
    wait_for((folder / "log").exists)
    assert leftovers.end(MARKER, None) == 1
    assert writer.wait() == -15


def test_the_one_who_ends_is_spared(tmp_path: Path) -> None:
    code = f"from runners.engine import leftovers; print(leftovers.end({MARKER!r}, None))"
    env = {**os.environ, "BENCHHUB_ATTEMPT": MARKER}
    argv = ["sh", "-c", '"$@"; echo alive', "sh", sys.executable, "-c", code]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "0\nalive\n"


def test_nothing_is_nothing() -> None:
    assert leftovers.end("nobody", None) == 0
    assert leftovers.end("nobody", (2**22 + 5, 1)) == 0
