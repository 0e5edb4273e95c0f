"""Processes that want to stay: whatever they do, they are ended, and others are not."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from runners.engine.base import Limits, Order, Progress
from tests.runners.engine.helpers import (
    DAEMON,
    QUICK,
    STRANGER,
    TELL,
    Notes,
    execute,
    once_there,
    python,
    shell,
    told,
    without_a_trace,
)

# A child in a process group of its own, as the ranks of mpirun are.
RANKS = (
    TELL
    + """
if os.fork() == 0:
    os.setpgid(0, 0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    tell("daemon")
    time.sleep(1000)
wait_for("daemon")
"""
)


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A child of this process that has nothing to do with a run."""
    process = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    yield process
    process.kill()
    process.wait()


@pytest.mark.parametrize("code", [DAEMON, STRANGER, RANKS], ids=["daemon", "stranger", "ranks"])
def test_what_a_good_program_leaves_is_ended_and_noted(tmp_path: Path, code: str) -> None:
    outcome = execute(tmp_path, python(code + "print('done')", finished="^done$"))
    assert outcome.end == "finished"
    assert without_a_trace(told(tmp_path))
    (ended,) = outcome.record["steps"][0]["ended"]
    assert ended["process"] == told(tmp_path)
    assert ended["killed"] is (code != STRANGER)


@pytest.mark.parametrize("code", [DAEMON, STRANGER, RANKS], ids=["daemon", "stranger", "ranks"])
def test_a_cancel_reaches_it(tmp_path: Path, code: str) -> None:
    watch = Notes(once_there(tmp_path / "daemon", "cancel"))
    outcome = execute(tmp_path, python(code + "time.sleep(1000)"), watch=watch)
    assert outcome.end == "cancelled"
    assert without_a_trace(told(tmp_path))
    assert without_a_trace(watch.sessions[0][0])


def test_the_time_limit_reaches_it(tmp_path: Path) -> None:
    outcome = execute(tmp_path, python(DAEMON + "time.sleep(1000)", time_limit_s=1))
    assert outcome.end == "failed"
    assert outcome.message.startswith("work took longer than 1 s")
    assert without_a_trace(told(tmp_path))


def test_what_comes_while_it_is_being_ended_is_ended_too(tmp_path: Path) -> None:
    code = (
        TELL
        + """
def again(*_):
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        tell("second")
        time.sleep(1000)
signal.signal(signal.SIGTERM, again)
tell("first")
while True:
    time.sleep(60)
"""
    )
    limits = Limits(grace_s=2, tick_s=0.05)
    watch = Notes(once_there(tmp_path / "first", "cancel"))
    assert execute(tmp_path, python(code), watch=watch, limits=limits).end == "cancelled"
    assert without_a_trace(told(tmp_path, "first"))
    assert without_a_trace(told(tmp_path, "second"))


def test_orphans_that_end_by_themselves_leave_no_zombies(tmp_path: Path) -> None:
    code = "for n in 1 2 3 4 5; do (sh -c 'echo $$ >> ids' &) ; done; sleep 1.5"
    before = _zombies()
    assert execute(tmp_path, shell(code)).end == "finished"
    assert len((tmp_path / "ids").read_text().split()) == 5
    assert _zombies() == before


def _zombies() -> set[str]:
    listed = subprocess.run(
        ["ps", "-eo", "pid,ppid,stat"], capture_output=True, text=True, check=True
    )
    own = str(os.getpid())
    rows = [line.split() for line in listed.stdout.splitlines()[1:]]
    return {row[0] for row in rows if row[1] == own and row[2].startswith("Z")}


def test_children_that_were_there_before_live_on(
    tmp_path: Path, bystander: subprocess.Popen[bytes]
) -> None:
    watch = Notes(once_there(tmp_path / "daemon", "cancel"))
    execute(tmp_path, python(DAEMON + "time.sleep(1000)"), watch=watch)
    assert bystander.poll() is None


def test_a_child_that_another_thread_starts_meanwhile_lives_on(tmp_path: Path) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def order(_: Progress) -> Order:
        if not started:
            started.append(subprocess.Popen(["sleep", "1000"]))
        return "cancel" if (tmp_path / "daemon").exists() else "go on"

    execute(tmp_path, python(DAEMON + "time.sleep(1000)"), watch=Notes(order), limits=QUICK)
    assert started[0].poll() is None
    started[0].kill()
    started[0].wait()
