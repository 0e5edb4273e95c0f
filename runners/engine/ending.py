"""Ending processes: TERM, a while to tidy up, then KILL until nothing is left."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from runners.engine.processes import Process, started

# What sleeps in the kernel for good (a dead network drive) cannot be ended by anybody.
KILLING_S = 10.0
_LOOK_S = 0.02
_LONGEST_LOOK_S = 0.1

Found = Callable[[], Sequence[Process]]


@dataclass(frozen=True)
class Ended:
    """What was found alive, which of it ignored TERM, and what is alive in spite of KILL."""

    found: tuple[Process, ...] = ()
    killed: tuple[Process, ...] = ()
    left: tuple[Process, ...] = ()


def send(process: Process, number: int) -> bool:
    """Send a signal to just this process: whether it was sent.

    The descriptor is taken first and the start compared then: from there on the signal can
    reach no other process, even where the id is given again. Kernels before 5.3 have no such
    descriptors; there the comparison comes right before the signal.
    """
    try:
        descriptor = os.pidfd_open(process.number)
    except ProcessLookupError:
        return False
    except OSError:
        return _send_by_id(process, number)
    try:
        if started(process.number) != process.started:
            return False
        signal.pidfd_send_signal(descriptor, number)
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        os.close(descriptor)
    return True


def _send_by_id(process: Process, number: int) -> bool:
    if started(process.number) != process.started:
        return False
    try:
        os.kill(process.number, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _never() -> bool:
    return False


def end(find: Found, *, grace_s: float, hurry: Callable[[], bool] = _never) -> Ended:
    """End all that `find` finds, again and again until it finds nothing.

    `find` gives what is alive and buries what is not. `hurry` cuts the time between TERM and
    KILL short: what floods a disk gets none.
    """
    seen: dict[tuple[int, int], Process] = {}
    alive = _pass(find, seen, signal.SIGTERM)
    until_s, pause_s = time.monotonic() + grace_s, _LOOK_S / 4
    while alive and time.monotonic() < until_s and not hurry():
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_LOOK_S)
        alive = _pass(find, seen, signal.SIGTERM)
    killed = tuple(alive)
    until_s = time.monotonic() + KILLING_S
    while alive and time.monotonic() < until_s:
        for process in alive:
            seen[process.key] = process
            send(process, signal.SIGKILL)
        time.sleep(_LOOK_S / 4)
        alive = find()
    return Ended(tuple(seen.values()), killed, tuple(alive))


def _pass(find: Found, seen: dict[tuple[int, int], Process], number: int) -> Sequence[Process]:
    """Send it once to each process; what was stopped is woken, or it could not answer."""
    alive = find()
    for process in alive:
        if process.key not in seen:
            seen[process.key] = process
            send(process, number)
            send(process, signal.SIGCONT)
    return alive
