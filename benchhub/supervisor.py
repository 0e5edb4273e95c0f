"""Keeps processes alive: starts them, restarts what dies, ends all of them together."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

ENDING = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
WATCHED = ENDING | {signal.SIGCHLD}
LONGEST_PAUSE_S = 30.0
STEADY_S = 60.0  # who lived this long starts again at once
PR_SET_PDEATHSIG = 1


class NotStartedError(Exception):
    """A process ended, or did not answer, before it was ready for the first time."""


@dataclass
class Service:
    """A process to keep alive. `ready()` tells, at its first start, that it works.

    `at_parents_end` is the signal that it gets when this process is gone.
    """

    name: str
    argv: Sequence[str]
    ready: Callable[[], bool] = lambda: True
    at_parents_end: signal.Signals = signal.SIGTERM
    process: subprocess.Popen[bytes] | None = None
    started_s: float = 0.0
    pause_s: float = 0.0
    due_s: float = 0.0

    def start(self) -> None:
        """Start it in a process group of its own; it ends if the supervisor is killed."""
        self.process = subprocess.Popen(
            self.argv,
            process_group=0,
            # Whoever supervises has no threads.
            preexec_fn=partial(in_child, self.at_parents_end),  # noqa: PLW1509
            stdin=subprocess.DEVNULL,
        )
        self.started_s = time.monotonic()

    def exit_code(self) -> int | None:
        """Popen's return code once it ended; None while it runs or is not started."""
        return self.process.poll() if self.process is not None else None

    def plan_restart(self, now_s: float, exit_code: int) -> None:
        """Note that it died; the pause doubles from 1 s to 30 s unless it had run steadily."""
        steady = now_s - self.started_s >= STEADY_S
        self.pause_s = 1.0 if steady or not self.pause_s else min(self.pause_s * 2, LONGEST_PAUSE_S)
        self.due_s = now_s + self.pause_s
        self.signal_group(signal.SIGKILL)
        how = _reason(exit_code)
        say(f"{self.name} ended ({how}); starting it again in {self.pause_s:.0f} s.")
        self.process = None

    def signal_group(self, number: int) -> None:
        """Send a signal to the process and all its children."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, number)


def say(text: str) -> None:
    """One line for the person at the terminal."""
    sys.stderr.write(f"BenchHub: {text}\n")
    sys.stderr.flush()


def in_child(at_parents_end: signal.Signals = signal.SIGTERM) -> None:
    """Between fork and exec: take signals again, and end when the supervisor is gone."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, WATCHED)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, at_parents_end)


def _reason(code: int) -> str:
    """How a process ended, from Popen's return code."""
    return f"signal {-code}" if code < 0 else f"exit {code}"


class Supervisor:
    """Runs services until a signal ends them all."""

    def __init__(self, services: Sequence[Service], *, grace_s: float = 10.0) -> None:
        self.services = services
        self.grace_s = grace_s
        hold_signals()

    def run(self, when_ready: Callable[[], None], *, patience_s: float = 60.0) -> None:
        """Start all, call `when_ready` once they answer, return after a signal.

        Raises NotStartedError if one does not come up within `patience_s`. Whatever
        happens, no process is left behind.
        """
        try:
            for service in self.services:
                service.start()
                if not self._wait_ready(service, patience_s):
                    return
            when_ready()
            self._watch()
        finally:
            self._end_all()

    def _wait_ready(self, service: Service, patience_s: float) -> bool:
        """True once it answers; False if a signal came first."""
        end_s = time.monotonic() + patience_s
        while time.monotonic() < end_s:
            if service.exit_code() is not None:
                raise NotStartedError(f"{service.name} did not start; its messages are above.")
            if service.ready():
                return True
            if ended(0.05):
                return False
        raise NotStartedError(f"{service.name} did not answer within {patience_s:.0f} s.")

    def _watch(self) -> None:
        """Restart what dies, until a signal."""
        while not ended(self._pause()):
            now_s = time.monotonic()
            for service in self.services:
                if service.process is None:
                    if now_s >= service.due_s:
                        service.start()
                elif (code := service.exit_code()) is not None:
                    service.plan_restart(now_s, code)

    def _pause(self) -> float:
        """Seconds until something may be due; a dead child wakes the wait anyway."""
        waiting = [service.due_s for service in self.services if service.process is None]
        if not waiting:
            return 5.0
        return max(min(waiting) - time.monotonic(), 0.01)

    def _end_all(self) -> None:
        """Ask all to end, last started first; kill what does not within the grace time."""
        for service in reversed(self.services):
            service.signal_group(signal.SIGTERM)
        end_s = time.monotonic() + self.grace_s
        for service in reversed(self.services):
            if service.process is not None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    service.process.wait(max(end_s - time.monotonic(), 0.1))
            service.signal_group(signal.SIGKILL)
            if service.process is not None:
                service.process.wait()


def hold_signals() -> None:
    """From now on signals wait until `ended` looks for them."""
    signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)


def ended(timeout_s: float) -> bool:
    """Wait for a signal at most `timeout_s`; True if it asks to end."""
    info = signal.sigtimedwait(WATCHED, timeout_s)
    if info is None or info.si_signo not in ENDING:
        return False
    # nohup: whoever started us with SIGHUP ignored wants us to outlive the terminal.
    return info.si_signo != signal.SIGHUP or signal.getsignal(signal.SIGHUP) != signal.SIG_IGN
