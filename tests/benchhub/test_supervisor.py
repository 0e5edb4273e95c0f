"""The supervisor with real processes: restarts what dies, ends all, leaves none behind."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.benchhub.processes import DEADLINE_S, ROOT, gone, running, wait_for

# A service that notes its process id and has a child of its own, both idle.
SERVICE = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open(sys.argv[1], "a") as file:
    print(os.getpid(), child.pid, file=file)
time.sleep(600)
"""
SUPERVISE = """
import sys
from pathlib import Path
from benchhub.supervisor import Service, Supervisor, say
pids, code = Path(sys.argv[1]), sys.argv[2]
service = Service("the sleeper", [sys.executable, "-c", code, str(pids)], ready=pids.exists)
Supervisor([service], grace_s=5).run(lambda: say("ready"))
say("ended")
"""


@pytest.fixture
def pids(tmp_path: Path) -> Path:
    return tmp_path / "pids"


@pytest.fixture
def supervisor(pids: Path) -> Iterator[subprocess.Popen[str]]:
    """A running supervisor with one service that is ready."""
    process = subprocess.Popen(
        [sys.executable, "-c", SUPERVISE, str(pids), SERVICE],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "BenchHub: ready\n"
    wait_for(lambda: len(numbers(pids)) == 2)
    yield process
    process.kill()
    process.communicate()


def numbers(pids: Path) -> list[int]:
    """All process ids noted so far: service, its child, and so on for every start."""
    return [int(word) for word in pids.read_text().split()] if pids.exists() else []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_service_and_its_children(
    supervisor: subprocess.Popen[str], pids: Path, number: signal.Signals
) -> None:
    supervisor.send_signal(number)
    _, messages = supervisor.communicate(timeout=DEADLINE_S)
    assert supervisor.returncode == 0
    assert "ended" in messages
    wait_for(lambda: gone(numbers(pids)))


def test_a_killed_service_is_started_again_without_its_old_children(
    supervisor: subprocess.Popen[str], pids: Path
) -> None:
    first = numbers(pids)
    psutil.Process(first[0]).kill()
    wait_for(lambda: len(numbers(pids)) == 4)
    assert gone(first)
    supervisor.terminate()
    _, messages = supervisor.communicate(timeout=DEADLINE_S)
    assert "the sleeper ended (signal 9); starting it again in 1 s." in messages


def test_a_killed_supervisor_takes_its_service_along(
    supervisor: subprocess.Popen[str], pids: Path
) -> None:
    supervisor.kill()
    wait_for(lambda: not running(numbers(pids)[0]))
    psutil.Process(numbers(pids)[1]).kill()  # this service does not end its own child


def test_a_service_that_ends_at_once_is_reported(pids: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SUPERVISE, str(pids), "raise SystemExit(3)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert "NotStartedError: the sleeper did not start" in done.stderr
