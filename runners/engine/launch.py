"""Starts a step's program: its own session, a clean environment, bound to its CPUs."""

from __future__ import annotations

import ctypes
import os
import resource
import select
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runners.benchmarks.base import Step
from runners.engine.base import Limits
from runners.engine.output import Outputs
from runners.engine.processes import MARK

_SET_PDEATHSIG = 1  # linux/prctl.h
_LIBC = ctypes.CDLL(None, use_errno=True)
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Where memory runs out, the benchmark shall go before the worker and the web server.
_OOM_SCORE = b"500"
_SHORT_S = 0.01
_RESET = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGUSR1)


class CannotStartError(Exception):
    """A program cannot be started; its message says which, and why."""


def environment(step: Step, scratch: Path, marker: str) -> dict[str, str]:
    """All that the program finds in its environment: this list and the step's own names.

    Nothing of the worker's, whose PATH may tell of an account: a runner names programs that lie
    elsewhere by their whole path.
    """
    return {
        "PATH": _PATH,
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "HOME": str(scratch),
        "TMPDIR": str(scratch / "tmp"),
        "TERM": "dumb",
        **{name: _filled(value, scratch) for name, value in step.env.items()},
        MARK: marker,
    }


def arguments(step: Step, scratch: Path) -> list[str]:
    """The step's argument list with the scratch folder's path in it."""
    return [_filled(argument, scratch) for argument in step.argv]


def _filled(text: str, scratch: Path) -> str:
    return text.replace("{scratch}", str(scratch))


def check_cpus(step: Step) -> None:
    """CannotStartError for CPUs that this host has not, or that this process may not use. The
    kernel itself says nothing as long as one of them is there."""
    if step.cpus is None:
        return
    allowed = os.sched_getaffinity(0)
    missing = sorted(set(step.cpus) - allowed)
    if missing or not step.cpus:
        named = ", ".join(map(str, missing)) or "none"
        known = ", ".join(map(str, sorted(allowed)))
        raise CannotStartError(
            f"{step.name} was to be bound to CPU {named}, expected some of {known}"
        )


@dataclass(frozen=True)
class Prepared:
    """What a program is started with."""

    argv: list[str]
    env: dict[str, str]
    scratch: Path


def start(step: Step, prepared: Prepared, outputs: Outputs, limits: Limits) -> Leader:
    """Start the step's program. CannotStartError says in words why it cannot be."""
    check_cpus(step)
    file_bytes = limits.file_bytes or _most_bytes(prepared.scratch)
    try:
        process = subprocess.Popen(
            prepared.argv,
            cwd=prepared.scratch,
            env=prepared.env,
            stdin=subprocess.DEVNULL,
            stdout=outputs.out.descriptor,
            stderr=outputs.err.descriptor,
            start_new_session=True,
            umask=0o077,
            preexec_fn=_settle(step.cpus, file_bytes),  # noqa: PLW1509 (calls nothing that locks)
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise CannotStartError(f"{step.name} cannot be started: {_why(step, error)}") from error
    return Leader(process)


def _most_bytes(scratch: Path) -> int:
    """A file may grow to nine tenths of what is free: a benchmark's own data is no flood, but
    it shall not fill the disk either. To the size of the memory at least: shared memory is a
    file as well, and the limit holds for it."""
    free = os.statvfs(scratch)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(free.f_bavail * free.f_frsize // 10 * 9, memory)


def _settle(cpus: tuple[int, ...] | None, file_bytes: int) -> Callable[[], None]:
    """What the child does before it becomes the program. It imports and waits for nothing: in a
    process with threads others may have held locks when it was forked."""
    engine = os.getpid()

    def settle() -> None:
        _LIBC.prctl(_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != engine:  # it died before it could be told
            os._exit(1)
        for number in _RESET:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        if cpus is not None:
            os.sched_setaffinity(0, cpus)
        _lower(resource.RLIMIT_FSIZE, file_bytes)
        _lower(resource.RLIMIT_CORE, 0)
        _offer_to_the_oom_killer()

    return settle


def _lower(limit: int, value: int) -> None:
    hard = resource.getrlimit(limit)[1]
    most = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(limit, (most, most))


def _offer_to_the_oom_killer() -> None:
    try:
        descriptor = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
    except OSError:  # a container may not show it
        return
    try:
        os.write(descriptor, _OOM_SCORE)
    except OSError:
        return
    finally:
        os.close(descriptor)


def _why(step: Step, error: Exception) -> str:
    program = step.argv[0] if step.argv else ""
    if isinstance(error, FileNotFoundError):
        return f"there is no program {program!r}, or not the interpreter that it names"
    if isinstance(error, PermissionError):
        return f"{program!r} is not executable for this user"
    if isinstance(error, OSError):
        return f"{program!r}: {error.strerror}"
    return str(error)


class Leader:
    """A started program, the leader of its session."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.number = process.pid
        self.exit_code: int | None = None
        self.usage: resource.struct_rusage | None = None
        self._poll = select.poll()
        try:
            self._descriptor: int | None = os.pidfd_open(process.pid)
            self._poll.register(self._descriptor, select.POLLIN)
        except OSError:  # a kernel before 5.3: looked at again and again
            self._descriptor = None

    def ends_within(self, timeout_s: float) -> bool:
        """Wait for its end, but not longer: whether it ended. It is not buried by that."""
        if self._descriptor is not None:
            return bool(self._poll.poll(max(timeout_s, 0) * 1000))
        until_s = time.monotonic() + timeout_s
        while not (ended := self._has_ended()) and time.monotonic() < until_s:
            time.sleep(_SHORT_S)
        return ended

    def _has_ended(self) -> bool:
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.number, options) is not None

    def bury(self) -> None:
        """Take its exit code and what it used. Both stay None where it cannot be ended."""
        try:
            number, status, usage = os.wait4(self.number, os.WNOHANG)
        except ChildProcessError:  # another thread of the worker waits for everyone's children
            number = 0
        if number:
            self.exit_code, self.usage = os.waitstatus_to_exitcode(status), usage
        # The object would complain about a process that it did not wait for itself.
        self.process.returncode = self.exit_code if number else 0
        if self._descriptor is not None:
            os.close(self._descriptor)

    def used(self) -> dict[str, Any]:
        """CPU seconds and peak memory in KiB of it and of what it waited for."""
        if self.usage is None:
            return {}
        return {
            "user_s": round(self.usage.ru_utime, 3),
            "system_s": round(self.usage.ru_stime, 3),
            "peak_kib": self.usage.ru_maxrss,
        }
