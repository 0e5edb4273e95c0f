"""Memory and how it is handed out: sizes, limits, swap, huge pages."""

from __future__ import annotations

import re

from runners.detect.words import Looked, Sheet, kib_words, matching, row, whole
from runners.machine import gib_words

MEMINFO = "/proc/meminfo"
THP = "/sys/kernel/mm/transparent_hugepage/enabled"
POOLS = "/sys/kernel/mm/hugepages"
GROUPS = "/sys/fs/cgroup"
# Version 1 writes the largest multiple of a page where there is no limit.
NO_LIMIT = 2**60


def _kib(looked: Looked, key: str) -> int | None:
    return whole(row(looked.get(MEMINFO, ""), key).removesuffix("kB"))


def limit_gib(looked: Looked) -> float | None:
    """The narrowest limit of this process's control groups; None without one."""
    names = rf"{GROUPS}/.*/?(?:memory\.max|memory\.limit_in_bytes)"
    sizes = [whole(text) for _, text in matching(looked, names)]
    found = [size for size in sizes if size is not None and 0 < size < NO_LIMIT]
    return round(min(found) / 2**30, 2) if found else None


def memory_gib(looked: Looked) -> float | None:
    """What programs can use: what the system has, or the limit where that is less."""
    total, limit = _kib(looked, "MemTotal"), limit_gib(looked)
    if not total:
        return None
    return min(round(total / 2**20, 2), limit or float("inf"))


def cpu_quota(looked: Looked) -> float | None:
    """How many CPUs' time this process's control groups allow; None without a limit."""
    found = [_share(*text.split()) for _, text in matching(looked, rf"{GROUPS}/.*/?cpu\.max")]
    for match, text in matching(looked, rf"({GROUPS}/.*/?)cpu\.cfs_quota_us"):
        found.append(_share(text, looked.get(f"{match[1]}cpu.cfs_period_us", "").strip()))
    known = [share for share in found if share is not None]
    return min(known) if known else None


def _share(*numbers: str) -> float | None:
    """Microseconds allowed in a period of so many."""
    if len(numbers) != 2:
        return None
    quota, period = whole(numbers[0]), whole(numbers[1])
    return quota / period if quota and period else None


def thp_of(looked: Looked) -> str:
    """Transparent huge pages: always, madvise or never."""
    found = re.search(r"\[(\w{1,20})\]", looked.get(THP, ""))
    return found[1] if found else ""


def free_pages_2m(looked: Looked) -> int | None:
    """Reserved 2 MiB pages that nobody has, nor was promised."""
    free = whole(looked.get(f"{POOLS}/hugepages-2048kB/free_hugepages", ""))
    promised = whole(looked.get(f"{POOLS}/hugepages-2048kB/resv_hugepages", ""))
    return None if free is None else max(free - (promised or 0), 0)


def pages_words(looked: Looked) -> str:
    """Huge pages as a run's setup has them: 'THP madvise, 512 × 2 MiB reserved'."""
    thp = thp_of(looked)
    return ", ".join([*([f"THP {thp}"] if thp else []), *_pools(looked)])


def _pools(looked: Looked) -> list[str]:
    """The pools that have pages."""
    found = matching(looked, rf"{POOLS}/hugepages-(\d+)kB/nr_hugepages")
    pools = sorted((int(match[1]), whole(text) or 0) for match, text in found)
    return [f"{count} × {kib_words(size)} reserved" for size, count in pools if count]


def swap_words(looked: Looked) -> str:
    """Swap and how much of it is used; empty where it is not known."""
    total, free = _kib(looked, "SwapTotal"), _kib(looked, "SwapFree")
    if total is None or free is None:
        return ""
    return f"{kib_words(total)}, {kib_words(total - free)} used" if total else "no swap"


def say_memory(sheet: Sheet, looked: Looked) -> None:
    """Sizes and settings; the modules are the firmware's to tell."""
    total, limit = _kib(looked, "MemTotal"), limit_gib(looked)
    sheet.say("memory.total", "Memory", gib_words(total / 2**20) if total else "", MEMINFO)
    source = "memory limit of the control group"
    sheet.say("memory.limit", "Limit", gib_words(limit) if limit else "", source)
    sheet.say("memory.swap", "Swap", swap_words(looked), MEMINFO)
    sheet.say("memory.thp", "Transparent huge pages", thp_of(looked), THP)
    free = free_pages_2m(looked)
    if free is not None:
        pools = ", ".join(_pools(looked))
        text = f"{pools}, {free} of 2 MiB free" if pools else "none reserved"
        sheet.say("memory.pages", "Huge pages", text, POOLS)
    sheet.set("huge_pages", pages_words(looked))
