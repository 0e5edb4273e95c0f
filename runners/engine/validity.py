"""What speaks against a measurement, read off the samples taken while it ran. Pure.

A flag is no verdict: the result stands, with what disturbed it beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

from runners.engine.base import Flag
from runners.engine.sampling import Sample

# STREAM repeats within 1 to 2 % on a quiet host; a tenth of a CPU is 5 % of two. On a big host
# the usual daemons alone take some tenths, and 0.5 % of its CPUs cannot be seen in a result.
LOAD_CPUS = 0.1
LOAD_SHARE = 0.005
# What the hypervisor takes of the time that programs wanted; 1 % is what repeats differ by.
STEAL_SHARE = 0.01
# The counters go by ticks of 10 ms: below half a second, or some ticks, they say nothing.
SHORTEST_WINDOW_S = 0.5
SMALLEST_S = 0.05
# A quota that held the container back for 1 % of the time moves a result by as much.
HELD_BACK_SHARE = 0.01
# 1 MiB in pages of 4 KiB; less is a sleeping daemon that woke up.
SWAPPED_PAGES = 256
# Where less than 5 % or 1 GiB is left, the kernel takes caches from programs to go on.
MEMORY_SHARE = 0.05
MEMORY_KIB = 1024 * 1024


def flags(
    samples: Sequence[Sample], *, cpus: int, elapsed_s: float, shortest_s: float
) -> tuple[Flag, ...]:
    """The flags of one measuring step, in a fixed order.

    `samples` in the order of time, the first at its start and the last at its end; `cpus` are
    the host's. What is None in them cannot be judged and gives no flag.
    """
    found = [_short(elapsed_s, shortest_s)]
    if len(samples) >= 2:
        first, last = samples[0], samples[-1]
        found += [
            _load(first, last, cpus),
            _steal(first, last),
            _throttled(first, last),
            _held_back(first, last),
            _swap(first, last),
            _memory(samples),
        ]
    return tuple(flag for flag in found if flag is not None)


def others_cpus(first: Sample, last: Sample) -> float | None:
    """How many CPUs others used on average between two samples, at least 0."""
    busy, own = _rise(first.busy_s, last.busy_s), _rise(first.own_s, last.own_s)
    window_s = last.at_s - first.at_s
    if busy is None or own is None or window_s <= 0:
        return None
    return max(busy - own, 0.0) / window_s


def _rise(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before


def _short(elapsed_s: float, shortest_s: float) -> Flag | None:
    if elapsed_s >= shortest_s:
        return None
    return Flag(
        "short", f"it took {elapsed_s:.2f} s, too short to measure: expected {shortest_s:g} s"
    )


def _load(first: Sample, last: Sample, cpus: int) -> Flag | None:
    others = others_cpus(first, last)
    if others is None or last.at_s - first.at_s < SHORTEST_WINDOW_S:
        return None
    if others <= max(LOAD_CPUS, LOAD_SHARE * cpus):
        return None
    noun = "CPU" if f"{others:.1f}" == "1.0" else "CPUs"
    return Flag("load", f"others used {others:.1f} {noun} on average while it ran")


def _steal(first: Sample, last: Sample) -> Flag | None:
    stolen, busy = _rise(first.steal_s, last.steal_s), _rise(first.busy_s, last.busy_s)
    if stolen is None or busy is None or stolen <= SMALLEST_S:
        return None
    share = stolen / (stolen + max(busy, 0.0))
    if share <= STEAL_SHARE:
        return None
    return Flag(
        "steal",
        f"the hypervisor took {share:.1%} of the CPU time from this host".replace("%", " %"),
    )


def _throttled(first: Sample, last: Sample) -> Flag | None:
    times = _rise(first.throttles, last.throttles)
    if not times or times < 0:
        return None
    return Flag("throttled", f"the clock was held down for heat, {times:.0f} times")


def _held_back(first: Sample, last: Sample) -> Flag | None:
    held_s, window_s = _rise(first.held_back_s, last.held_back_s), last.at_s - first.at_s
    if held_s is None or held_s <= max(HELD_BACK_SHARE * window_s, SMALLEST_S):
        return None
    return Flag("throttled", f"a CPU quota held programs back for {held_s:.1f} s")


def _swap(first: Sample, last: Sample) -> Flag | None:
    pages = _rise(first.swapped_pages, last.swapped_pages)
    if pages is None or pages <= SWAPPED_PAGES:
        return None
    return Flag("swap", f"the host swapped {pages:,.0f} pages while it ran")


def _memory(samples: Sequence[Sample]) -> Flag | None:
    known = [
        (one.memory_available_kib, one.memory_kib)
        for one in samples
        if one.memory_available_kib is not None and one.memory_kib
    ]
    if not known:
        return None
    available, memory = min(known)
    if available >= min(MEMORY_SHARE * memory, MEMORY_KIB):
        return None
    return Flag("memory", f"memory was nearly full: {available / 1024:,.0f} MiB were left")
