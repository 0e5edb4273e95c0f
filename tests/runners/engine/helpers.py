"""Programs that behave badly, and a watch that takes notes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import psutil

from runners.benchmarks.base import Step
from runners.engine import run
from runners.engine.base import Limits, Order, Outcome, Progress

# Tests run beside each other, and each must find only its own; programs that a test starts use
# the same one.
MARKER = os.environ.setdefault("BENCHHUB_TEST_MARKER", uuid4().hex)
QUICK = Limits(grace_s=0.3, tick_s=0.05)
# Announces its id in a file by rename, so that a reader never sees half of it.
TELL = """
import os, signal, sys, time

def tell(name):
    with open(name + ".new", "w") as file:
        file.write(str(os.getpid()))
    os.rename(name + ".new", name)

def wait_for(name):
    while not os.path.exists(name):
        time.sleep(0.01)
"""
# Away from its session, deaf to TERM, and with the output file still open.
DAEMON = (
    TELL
    + """
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    tell("daemon")
    while True:
        time.sleep(60)
wait_for("daemon")
"""
)
# The same, with nothing left by which to know it: no mark, no open file, no working folder.
STRANGER = (
    TELL
    + """
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    tell("daemon")
    os.chdir("/")
    os.closerange(0, 100)
    os.execve("/bin/sleep", ["sleep", "1000"], {})
wait_for("daemon")
"""
)
PRINT_ARGUMENTS = """
import json, os, sys
print(json.dumps(sys.argv[1:]))
"""


def _go_on(_: Progress) -> Order:
    return "go on"


@dataclass
class Notes:
    """A watch that answers by `order`."""

    order: Callable[[Progress], Order] = _go_on
    sessions: list[tuple[int, int]] = field(default_factory=list)
    seen: list[Progress] = field(default_factory=list)

    def began(self, session_id: int, started: int) -> None:
        self.sessions.append((session_id, started))

    def tick(self, progress: Progress) -> Order:
        self.seen.append(progress)
        return self.order(progress)


def python(code: str, *arguments: str, name: str = "work", **more: object) -> Step:
    """A step that runs code in Python."""
    return Step(name, (sys.executable, "-c", code, *arguments), **more)  # type: ignore[arg-type]


def shell(code: str, *, name: str = "work", **more: object) -> Step:
    """A step that runs a line in sh."""
    return Step(name, ("sh", "-c", code), **more)  # type: ignore[arg-type]


def execute(
    scratch: Path, *steps: Step, watch: Notes | None = None, limits: Limits = QUICK
) -> Outcome:
    """Run steps as the product does."""
    return run(steps, scratch, watch=watch or Notes(), marker=MARKER, limits=limits)


def told(scratch: Path, name: str = "daemon") -> int:
    """The id that a program announced."""
    return int((scratch / name).read_text())


def once_there(path: Path, order: Order) -> Callable[[Progress], Order]:
    """That order as soon as the file is there."""
    return lambda _: order if path.exists() else "go on"


def without_a_trace(number: int) -> bool:
    """Neither alive nor a zombie."""
    return not psutil.pid_exists(number)
