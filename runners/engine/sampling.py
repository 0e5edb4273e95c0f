"""Looks at the host while something is measured: about once a second, and cheaply."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from runners.engine import hostfiles

INTERVAL_S = 1.0
# More samples than this are thinned out: a run of hours is not kept by the second.
MOST = 240


@dataclass(frozen=True)
class Sample:
    """Counters at a moment; None is not known.

    `at_s`: since the step began. CPU seconds since boot of all CPUs: `busy_s` (work of
    processes), `steal_s`, `total_s`; `own_s`: those of the engine and of the step. Only in the
    first and the last, since reading them takes a look at every CPU: `throttles`.
    """

    at_s: float
    busy_s: float | None = None
    steal_s: float | None = None
    total_s: float | None = None
    own_s: float | None = None
    swapped_pages: int | None = None
    memory_available_kib: int | None = None
    memory_kib: int | None = None
    throttles: int | None = None
    held_back_s: float | None = None


class Sampler:
    """Collects the samples of one step. `living_s` gives the CPU seconds of its processes that
    are alive; those of the dead are in this process's own account once they are buried."""

    def __init__(self, living_s: Callable[[], float], root: Path = hostfiles.ROOT) -> None:
        self._living_s, self._root = living_s, root
        self._begun_s = time.monotonic()
        self.interval_s = INTERVAL_S
        self._due_s = 0.0
        self.samples: list[Sample] = []
        self.take(whole=True)

    @property
    def due_s(self) -> float:
        """When the next one is due, on the monotonic clock."""
        return self._begun_s + self._due_s

    def take(self, *, whole: bool = False) -> None:
        """Take one now. `whole` for the first and the last."""
        at_s = time.monotonic() - self._begun_s
        self.samples.append(self._look(at_s, whole=whole))
        if len(self.samples) > MOST:
            del self.samples[1:-1:2]
            self.interval_s *= 2
        self._due_s = at_s + self.interval_s

    def _look(self, at_s: float, *, whole: bool) -> Sample:
        times = hostfiles.cpu_times(self._root)
        available, memory = hostfiles.memory_kib(self._root)
        return Sample(
            at_s=at_s,
            busy_s=None if times is None else times.busy_s,
            steal_s=None if times is None else times.steal_s,
            total_s=None if times is None else times.total_s,
            own_s=self._own_s(),
            swapped_pages=hostfiles.swapped_pages(self._root),
            memory_available_kib=available,
            memory_kib=memory,
            throttles=hostfiles.throttles(self._root) if whole else None,
            held_back_s=hostfiles.held_back_s(self._root),
        )

    def _own_s(self) -> float:
        dead_and_self = (
            resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        return sum(one.ru_utime + one.ru_stime for one in dead_and_self) + self._living_s()


def as_table(samples: list[Sample]) -> dict[str, list[Any]]:
    """Samples by column for the record; a column of which nothing is known is left out."""
    columns = {
        field.name: [_rounded(getattr(one, field.name)) for one in samples]
        for field in fields(Sample)
    }
    return {name: column for name, column in columns.items() if any(v is not None for v in column)}


def _rounded(value: float | None) -> float | None:
    return round(value, 3) if isinstance(value, float) else value
