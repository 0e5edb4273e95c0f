"""The state of the host at one moment, for the record: what could have disturbed a run."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from runners.engine import hostfiles


def take(root: Path = hostfiles.ROOT) -> dict[str, Any]:
    """What is known, by name with its unit; what is not is left out. Can be written as JSON."""
    available, memory = hostfiles.memory_kib(root)
    times = hostfiles.cpu_times(root)
    clocks = hostfiles.frequencies_mhz(root)
    found = {
        "load": hostfiles.loads(root),
        "cpu_pressure_percent": hostfiles.pressure("cpu", root),
        "memory_pressure_percent": hostfiles.pressure("memory", root),
        "io_pressure_percent": hostfiles.pressure("io", root),
        "memory_available_kib": available,
        "memory_kib": memory,
        "swapped_pages": hostfiles.swapped_pages(root),
        "cpu_busy_s": times and round(times.busy_s, 2),
        "cpu_steal_s": times and round(times.steal_s, 2),
        "cpu_total_s": times and round(times.total_s, 2),
        "throttles": hostfiles.throttles(root),
        "held_back_s": hostfiles.held_back_s(root),
        "governors": hostfiles.governors(root),
        "frequency_mhz": _spread(clocks),
    }
    return {name: value for name, value in found.items() if value not in (None, [], {})}


def _spread(clocks: list[float]) -> dict[str, float]:
    if not clocks:
        return {}
    return {"lowest": clocks[0], "median": median(clocks), "highest": clocks[-1]}
