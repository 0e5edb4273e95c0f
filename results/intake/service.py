"""The process that reads uploads: each in a child of its own, with limits on time and memory.

It has everything loaded that reading needs, so that a child is a matter of milliseconds and
web workers stay small. It listens on a socket in the folder of the data; what is said there
only wakes it: the rows are the truth, and its sweep finds what nobody told it.
"""

from __future__ import annotations

import contextlib
import gc
import json
import logging
import os
import resource
import signal
import socketserver
import time
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connections
from django.utils import timezone
from django.utils.translation import gettext as _

from results import catalogue, formats, hooks, sync
from results.intake import sweep, work
from results.intake.jobs import look_at
from results.intake.place import address
from results.intake.work import failed
from results.passing import passes
from results.units import factor

CPU_S = 60
WALL_S = 120
MEMORY_BYTES = 1_000_000_000
LONGEST_LINE = 2_000_000
MOST_CHILDREN = 4
# Exit codes of a child.
NO_MEMORY = 71
PASSING = 75
SWEEP_S = 2.0
STRAYS_S = 600.0


class Reader(socketserver.StreamRequestHandler):
    """One request: a line of JSON, answered by a line of JSON. Runs in a child already."""

    def handle(self) -> None:
        try:
            asked = json.loads(self.rfile.readline(LONGEST_LINE))
        except ValueError:
            return
        answer = do(asked)
        with contextlib.suppress(OSError):
            self.wfile.write(json.dumps(answer).encode() + b"\n")


def do(asked: dict[str, Any]) -> dict[str, Any]:
    """Do what was asked in a limited child; the death of it is an answer, not an error."""
    if asked.get("do") == "upload":
        pk = int(asked["id"])
        why = limited(lambda: work.process(pk))
        if why:
            work.fail(pk, why)
        return {"done": True}
    if asked.get("do") == "look":
        return looked(asked)
    return {}


def looked(asked: dict[str, Any]) -> dict[str, Any]:
    """A report of files that are not kept; it comes back through a file of its own."""
    result = Path(asked["result"])
    why = limited(lambda: result.write_text(json.dumps(look_at(asked)), encoding="utf-8"))
    if why:
        result.write_text(json.dumps(failed(why)), encoding="utf-8")
    return {"done": True}


def limited(job: Callable[[], Any]) -> str:
    """Run a job in a child with limits; empty, or why it came to no end, in words."""
    connections.close_all()

    def bounded() -> None:
        set_limits()
        job()

    status = os.waitpid(fork(bounded, "reading an upload"), 0)[1]
    code = os.waitstatus_to_exitcode(status)
    return _said_of_signal(-code) if code < 0 else _said_of_exit(code)


def _said_of_signal(number: int) -> str:
    if number in (signal.SIGKILL, signal.SIGTERM):
        # Ended from outside: no fault of the files. The sweep has them read again.
        return ""
    most = {signal.SIGXCPU: CPU_S, signal.SIGALRM: WALL_S}.get(signal.Signals(number))
    if most is not None:
        return _("Reading these files took longer than %(most)d s.") % {"most": most}
    return _("Reading these files ended with signal %(number)d.") % {"number": number}


def _said_of_exit(code: int) -> str:
    if code == PASSING:
        # The disk is full or the database away: the sweep has them read again.
        return ""
    if code == NO_MEMORY:
        most = MEMORY_BYTES // 10**6
        return _("Reading these files took more than %(most)d MB of memory.") % {"most": most}
    return _("Reading these files failed; the failure is logged.") if code else ""


def fork(job: Callable[[], Any], name: str) -> int:
    """Do a job in a child, which then is gone without a trace of the parent's clean-up; its id."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        job()
        code = 0
    except MemoryError:
        code = NO_MEMORY
    except BaseException as error:
        if passes(error):
            code = PASSING
        _log_failure(error, name)
    finally:
        connections.close_all()
        os._exit(code)


def _log_failure(error: BaseException, name: str) -> None:
    """What passes is a line; anything else is logged with where it came from."""
    logger = logging.getLogger("results.intake")
    if passes(error):
        logger.warning("%s has to wait: %s", name, " ".join(str(error).split()))
    else:
        logger.error("%s failed", name, exc_info=error)


def set_limits() -> None:
    """Bounds of one reading: processor and wall time, memory beyond what is loaded now."""
    for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, WALL_S)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 5))
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Service(socketserver.ForkingMixIn, socketserver.UnixStreamServer):
    """Takes requests; between them looks for what waits. A child each, some at a time."""

    max_children = MOST_CHILDREN
    request_queue_size = 64
    next_sweep_s = 0.0
    next_strays_s = 0.0
    sweeping: int | None = None

    def service_actions(self) -> None:
        """Between requests: start a sweep when it is time and the last one is over."""
        super().service_actions()
        self._reap()
        now = time.monotonic()
        if self.sweeping is None and now >= self.next_sweep_s:
            self.next_sweep_s = now + SWEEP_S
            strays = now >= self.next_strays_s
            if strays:
                self.next_strays_s = now + STRAYS_S
            # Without a child, all claims up to now are of dead ones: killed, or without the room
            # to let go of them.
            idle_since = None if self.active_children else timezone.now()
            self.sweeping = fork(partial(self._sweep, strays, idle_since), "the sweep of uploads")

    def _reap(self) -> None:
        if self.sweeping is None:
            return
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(self.sweeping, os.WNOHANG)[0] == 0:
                return
        self.sweeping = None

    def _sweep(self, strays: bool, idle_since: datetime | None) -> None:
        self.socket.close()
        sweep_all(strays=strays, idle_since=idle_since)


def sweep_all(*, strays: bool, idle_since: datetime | None = None) -> None:
    """Everything that is put right from time to time."""
    sweep_others()
    if idle_since is not None:
        sweep.let_go(before=idle_since)
    sweep.give_up()
    sweep.publish_due()
    for pk in sweep.unread():
        do({"do": "upload", "id": pk})
    if strays:
        sweep.remove_strays()
        sweep.forget_systems()


def sweep_others() -> None:
    """What other apps put right; first, since uploads take their time, and none stops another."""
    for one in hooks.sweeps:
        try:
            one()
        except Exception as error:
            _log_failure(error, "a sweep")


def load() -> None:
    """Load what every reading needs, once for all children: units, formats, the catalogue."""
    formats.formats()
    catalogue.benchmarks()
    factor("MB/s", "GB/s")
    sync.ensure()
    gc.collect()
    gc.freeze()


def serve() -> None:
    """Serve until the process is ended."""
    load()
    sweep.let_go()
    connections.close_all()
    with address(Path(settings.VAR)) as name:
        with contextlib.suppress(FileNotFoundError):
            Path(name).unlink()
        with Service(name, Reader) as service:
            signal.signal(signal.SIGTERM, _end)
            with contextlib.suppress(KeyboardInterrupt):
                service.serve_forever(poll_interval=0.5)


def _end(number: int, _frame: Any) -> None:
    raise KeyboardInterrupt
