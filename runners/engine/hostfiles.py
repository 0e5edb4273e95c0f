"""What the kernel's files say of the host's state. Each value is None where a file is missing:
containers hide some, virtual machines have not all.

`root` is the folder that stands for `/`. Sources: proc(5), the kernel's documentation of
/proc/pressure, cpufreq, thermal_throttle and cgroups.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/")
_TICKS = os.sysconf("SC_CLK_TCK")
_CPUS = "sys/devices/system/cpu"
_MICRO = 1e-6
_NANO = 1e-9


def read(path: Path) -> str:
    """The file's text, empty where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _number(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


@dataclass(frozen=True)
class CpuTimes:
    """CPU seconds of all CPUs since boot. `busy_s` is work of processes and of the kernel for
    them; interrupts, which nobody's account bears, are only in `total_s`."""

    busy_s: float
    steal_s: float
    total_s: float


def cpu_times(root: Path = ROOT) -> CpuTimes | None:
    """The first line of /proc/stat. Guests of this host are in its user time already."""
    words = read(root / "proc/stat").partition("\n")[0].split()
    if len(words) < 9 or words[0] != "cpu":
        return None
    user, nice, system, idle, waiting, irq, softirq, steal = (
        int(word) / _TICKS for word in words[1:9]
    )
    busy = user + nice + system
    return CpuTimes(busy, steal, busy + idle + waiting + irq + softirq + steal)


def memory_kib(root: Path = ROOT) -> tuple[int | None, int | None]:
    """Available and in all, KiB."""
    rows = dict(line.partition(":")[::2] for line in read(root / "proc/meminfo").splitlines())

    def row(name: str) -> int | None:
        return _number(rows.get(name, "").removesuffix("kB").strip())

    return row("MemAvailable"), row("MemTotal")


def swapped_pages(root: Path = ROOT) -> int | None:
    """Pages brought in and out since boot."""
    rows = dict(line.partition(" ")[::2] for line in read(root / "proc/vmstat").splitlines())
    counts = [_number(rows.get(name, "")) for name in ("pswpin", "pswpout")]
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def loads(root: Path = ROOT) -> list[float]:
    """Load averages over 1, 5 and 15 minutes."""
    try:
        return [float(word) for word in read(root / "proc/loadavg").split()[:3]]
    except ValueError:
        return []


def pressure(name: str, root: Path = ROOT) -> float | None:
    """Per cent of the last 10 s in which something waited for `name` (cpu, memory, io)."""
    for word in read(root / "proc/pressure" / name).partition("\n")[0].split():
        key, _, value = word.partition("=")
        if key == "avg10":
            return float(value)
    return None


def throttles(root: Path = ROOT) -> int | None:
    """How often cores and packages were held down for heat, since boot, all together."""
    files = (root / _CPUS).glob("cpu[0-9]*/thermal_throttle/*_throttle_count")
    known = [count for path in files if (count := _number(read(path).strip())) is not None]
    return sum(known) if known else None


def held_back_s(root: Path = ROOT) -> float | None:
    """How long this container's CPU quota held it back so far, s (cgroup version 2 or 1)."""
    for path, name, unit in (
        ("sys/fs/cgroup/cpu.stat", "throttled_usec", _MICRO),
        ("sys/fs/cgroup/cpu/cpu.stat", "throttled_time", _NANO),
    ):
        for line in read(root / path).splitlines():
            key, _, value = line.partition(" ")
            if key == name and (count := _number(value)) is not None:
                return count * unit
    return None


def governors(root: Path = ROOT) -> dict[str, int]:
    """How many CPUs have which frequency governor."""
    files = (root / _CPUS).glob("cpu[0-9]*/cpufreq/scaling_governor")
    return dict(Counter(name for path in files if (name := read(path).strip())))


def frequencies_mhz(root: Path = ROOT) -> list[float]:
    """The CPUs' clocks at this moment, ascending; empty where they cannot be read."""
    files = (root / _CPUS).glob("cpu[0-9]*/cpufreq/scaling_cur_freq")
    return sorted(
        count / 1000 for path in files if (count := _number(read(path).strip())) is not None
    )
