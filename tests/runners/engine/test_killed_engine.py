"""An engine that is killed: what its death ends by itself, and what the leftovers find."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from runners.engine import ending, leftovers, processes, scratch
from tests.benchhub.processes import ROOT, gone, running, wait_for
from tests.runners.engine.helpers import DAEMON, MARKER, STRANGER, TELL, told

ENGINE = """
import sys
from pathlib import Path
from tests.runners.engine.helpers import Notes, execute, python

folder, code = Path(sys.argv[1]), sys.argv[2]
execute(folder, python(code + "tell('leader'); time.sleep(1000)"))
"""
# In the session still, but with another environment and nothing to write to.
WIPED = (
    TELL
    + """
if os.fork() == 0:
    tell("daemon")
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)
    os.execve("/bin/sleep", ["sleep", "1000"], {})
wait_for("daemon")
"""
)
# Rewrites the place where its environment stands, as servers do for their titles.
RETITLED = DAEMON.replace(
    'tell("daemon")', 'tell("daemon"); os.execve("/bin/sleep", ["sleep", "1000"], {})'
)


@contextmanager
def _killed(folder: Path, code: str) -> Iterator[tuple[int, int]]:
    """The session of a step whose engine was killed."""
    argv = [sys.executable, "-c", ENGINE, str(folder), code]
    engine = subprocess.Popen(argv, cwd=ROOT)
    try:
        wait_for((folder / "leader").exists)
        leader = told(folder, "leader")
        since = processes.started(leader)
        assert since is not None
    finally:
        engine.kill()
        engine.wait()
    yield leader, since


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return scratch.make(tmp_path, MARKER)


def test_the_program_dies_with_its_engine(folder: Path) -> None:
    with _killed(folder, TELL) as (leader, since):
        wait_for(lambda: not processes.is_alive(leader, since))
        assert leftovers.end(MARKER, (leader, since)) == 0


@pytest.mark.parametrize("code", [DAEMON, RETITLED, WIPED], ids=["marked", "retitled", "wiped"])
def test_what_stayed_is_found_and_ended(folder: Path, code: str) -> None:
    with _killed(folder, code) as session:
        daemon = told(folder)
        wait_for(lambda: gone([session[0]]))
        assert running(daemon)
        assert leftovers.end("another", None, grace_s=0.2) == 0
        assert running(daemon)
        assert leftovers.end(MARKER, session, grace_s=0.2) == 1
        assert gone([daemon])


def test_without_mark_session_and_output_nothing_can_be_found(folder: Path) -> None:
    with _killed(folder, STRANGER) as session:
        daemon = wait_for(lambda: _sleeping(told(folder)))
        assert daemon is not None
        try:
            assert leftovers.end(MARKER, session, grace_s=0.2) == 0
        finally:
            ending.send(daemon, signal.SIGKILL)


def _sleeping(number: int) -> processes.Process | None:
    """The process once it has become `sleep` and lost what it was known by."""
    process = processes.look(number)
    return process if process is not None and process.name == "sleep" else None
