"""Which processes came of a step, while the engine that started them lives."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from runners.engine import processes
from runners.engine.processes import Process

_SET_CHILD_SUBREAPER, _GET_CHILD_SUBREAPER = 36, 37  # linux/prctl.h
_LIBC = ctypes.CDLL(None, use_errno=True)

_LOOKS = 20
_PAUSE_S = 0.002

Known = frozenset[tuple[int, int]]


@contextmanager
def adopting() -> Iterator[Known]:
    """Have orphans among our descendants come back to this process, not to the first one.

    So a daemon that a benchmark starts stays in sight whatever it does. Gives the descendants
    that were there before, by id and start: they are somebody else's business.
    """
    before = ctypes.c_int(0)
    _LIBC.prctl(_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0)
    _LIBC.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        own = processes.look(os.getpid())
        there = _from([own]) if own is not None else []
        yield frozenset(one.key for one in there)
    finally:
        _LIBC.prctl(_SET_CHILD_SUBREAPER, before.value, 0, 0, 0)


def _from(roots: list[Process]) -> list[Process]:
    """These and their descendants, as far as nothing moves meanwhile. Cheap: it looks at no
    other process."""
    found: list[Process] = []
    waiting = list(roots)
    while waiting:
        process = waiting.pop()
        found.append(process)
        looked_at = (processes.look(one) for one in processes.children(process.number))
        waiting += [one for one in looked_at if one is not None]
    return found


@dataclass(frozen=True)
class Family:
    """A step's processes: of the leader's session, marked, or descended from us.

    Each alone can be evaded: a session is left by setsid, the mark lost with the environment
    (a program that rewrites its title overwrites it, too), descent hidden by a parent that
    goes on living elsewhere.
    """

    marker: str
    leader: int
    before: Known

    def find(self) -> list[Process]:
        """All that are alive, the leader too. Those that ended are buried, but not the leader:
        as long as it is not, its session's id can be nobody else's.

        That there are none is certain only where this process has no child of theirs: whatever
        came of the step hangs on one. Between two looks at /proc a process may move up from a
        parent that just ended, and be missed; so it is looked again.
        """
        for _ in range(_LOOKS):
            self.bury()
            if not self._has_children():
                return []
            if found := self._scan():
                return found
            time.sleep(_PAUSE_S)
        return []

    def _has_children(self) -> bool:
        """Of the step; a leader that has ended is none."""
        leader = processes.look(self.leader)
        if leader is not None and not leader.is_over:
            return True
        return any(one.number != self.leader for one in self._children())

    def _children(self) -> list[Process]:
        """Those of this process, ended ones too, that came of the step. Not those in our own
        session, which are another thread's: a step's are in sessions of their own, and can
        leave those only for newer ones."""
        session = os.getsid(0)
        looked_at = (processes.look(one) for one in processes.children(os.getpid()))
        return [
            one
            for one in looked_at
            if one is not None and one.session != session and one.key not in self.before
        ]

    def _scan(self) -> list[Process]:
        """One look at all processes."""
        all_there = processes.table()
        ours = processes.members(all_there, self.leader)
        ours |= {one.number for one in self._children()}
        ours |= {one for one in all_there if processes.is_marked(one, self.marker)}
        ours = processes.with_descendants(all_there, ours)
        ours -= processes.ancestors(all_there, os.getpid())
        return [all_there[one] for one in ours if one in all_there and not all_there[one].is_over]

    def bury(self) -> None:
        """Wait for what came back to us and has ended; it would stay a zombie."""
        for one in self._children():
            if one.is_over and one.number != self.leader:
                _wait_for(one.number)

    def cpu_s(self) -> float:
        """CPU time so far of all that are alive and of what they waited for, s."""
        return sum(one.cpu_s for one in _from(self._children()))


def _wait_for(number: int) -> None:
    try:
        os.waitpid(number, os.WNOHANG)
    except ChildProcessError:  # another thread was quicker
        return
