"""Processes as /proc tells them: who is whose, since when, and marked for which attempt.

An id alone says little, since the kernel gives it again; with its start it is certain. A start
is in clock ticks since boot (field 22 of /proc/PID/stat), a session the id of its first leader.
Source: proc(5).
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

MARK = "BENCHHUB_ATTEMPT"
TICKS = os.sysconf("SC_CLK_TCK")
_KERNEL_THREAD = 0x00200000  # PF_KTHREAD of the kernel's sched.h
_PIECE = 65_536


@dataclass(frozen=True)
class Process:
    """One process. `cpu_s` is its CPU time and that of its children that it waited for, s."""

    number: int
    name: str
    state: str
    parent: int
    session: int
    started: int
    threads: int
    cpu_s: float
    is_kernel: bool

    @property
    def key(self) -> tuple[int, int]:
        """Id and start: the same process, whatever it does meanwhile."""
        return self.number, self.started

    @property
    def is_over(self) -> bool:
        """Ended, and at most waiting to be buried. A first thread that ended before the others
        looks like a zombie too, but what has other threads still works."""
        return self.state in "ZXx" and self.threads <= 1


def look(number: int) -> Process | None:
    """The process of that id, None where there is none or it may not be looked at."""
    text = _read(f"/proc/{number}/stat")
    if not text:
        return None
    # The name stands in brackets and may hold any byte, brackets and spaces too.
    head, _, tail = text.rpartition(b")")
    field = tail.split()
    return Process(
        number=number,
        name=head.partition(b"(")[2].decode("utf-8", "replace"),
        state=field[0].decode("ascii"),
        parent=int(field[1]),
        session=int(field[3]),
        started=int(field[19]),
        threads=int(field[17]),
        cpu_s=sum(map(int, field[11:15])) / TICKS,
        is_kernel=bool(int(field[6]) & _KERNEL_THREAD),
    )


def table() -> dict[int, Process]:
    """All processes that can be seen, by id; kernel threads are left out."""
    found = (look(int(name)) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208
    return {one.number: one for one in found if one is not None and not one.is_kernel}


def place() -> str:
    """Where an id means what it means: this boot of this machine, and this PID namespace."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        space = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return f"{os.uname().nodename} without /proc"
    return f"{boot} {space}"


def started(number: int) -> int | None:
    """When that process started, ticks since boot; None where there is none."""
    process = look(number)
    return None if process is None else process.started


def is_alive(number: int, since: int) -> bool:
    """Whether the process of that id and start still works: a zombie does not."""
    process = look(number)
    return process is not None and process.started == since and not process.is_over


def members(processes: Mapping[int, Process], session: int) -> set[int]:
    """The ids of that session."""
    return {one.number for one in processes.values() if one.session == session}


def is_marked(number: int, marker: str) -> bool:
    """Whether the process was started with BENCHHUB_ATTEMPT=`marker`, as far as can be read."""
    return f"{MARK}={marker}".encode() in _read(f"/proc/{number}/environ").split(b"\0")


def with_descendants(processes: Mapping[int, Process], roots: Iterable[int]) -> set[int]:
    """The ids of `roots` and of all that come from them."""
    children: dict[int, list[int]] = defaultdict(list)
    for one in processes.values():
        children[one.parent].append(one.number)
    found: set[int] = set()
    waiting = list(roots)
    while waiting:
        number = waiting.pop()
        if number not in found:
            found.add(number)
            waiting += children[number]
    return found


def ancestors(processes: Mapping[int, Process], number: int) -> set[int]:
    """The ids of `number` and of all that it comes from."""
    found: set[int] = set()
    while number in processes and number not in found:
        found.add(number)
        number = processes[number].parent
    return found


def children(number: int) -> list[int]:
    """The ids of a process's children, without a look at all others where the kernel lists
    them (CONFIG_PROC_CHILDREN): on a big host that is the difference between µs and many ms."""
    if not _are_listed():
        return [one.number for one in table().values() if one.parent == number]
    try:
        tasks = os.listdir(f"/proc/{number}/task")  # noqa: PTH208 (many, and often)
    except OSError:
        return []
    lists = (_read(f"/proc/{number}/task/{task}/children") for task in tasks)
    return [int(child) for listed in lists for child in listed.split()]


def _are_listed() -> bool:
    return Path(f"/proc/self/task/{os.getpid()}/children").exists()


def _read(path: str) -> bytes:
    """All of a file of /proc, empty where it cannot be read. By descriptor, since thousands
    are read on a big host."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        pieces = []
        while piece := os.read(descriptor, _PIECE):
            pieces.append(piece)
        return b"".join(pieces)
    except OSError:  # it ended meanwhile
        return b""
    finally:
        os.close(descriptor)
