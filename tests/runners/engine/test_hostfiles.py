"""The kernel's files, read from a folder that stands for the machine, and from the machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runners.engine import hostfiles, snapshot

STAT = "cpu  1000 200 300 4000 50 6 7 80 900 10\ncpu0 1 1 1 1 1 1 1 1 1 1\n"
MEMINFO = "MemTotal:       24683656 kB\nMemFree:  1 kB\nMemAvailable:   24262124 kB\n"
VMSTAT = "nr_free_pages 5\npswpin 12\npswpout 30\npswpin_extra 1\n"
PRESSURE = "some avg10=1.25 avg60=0.50 avg300=0.10 total=5\nfull avg10=9.0 avg60=0 total=1\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    cpus = "sys/devices/system/cpu"
    files = {
        "proc/stat": STAT,
        "proc/meminfo": MEMINFO,
        "proc/vmstat": VMSTAT,
        "proc/loadavg": "0.50 1.25 2.00 3/400 12345\n",
        "proc/pressure/cpu": PRESSURE,
        f"{cpus}/cpu0/thermal_throttle/core_throttle_count": "3\n",
        f"{cpus}/cpu0/thermal_throttle/package_throttle_count": "4\n",
        f"{cpus}/cpu1/thermal_throttle/core_throttle_count": "5\n",
        f"{cpus}/cpu0/cpufreq/scaling_governor": "powersave\n",
        f"{cpus}/cpu1/cpufreq/scaling_governor": "performance\n",
        f"{cpus}/cpu10/cpufreq/scaling_governor": "performance\n",
        f"{cpus}/cpu0/cpufreq/scaling_cur_freq": "800000\n",
        f"{cpus}/cpu1/cpufreq/scaling_cur_freq": "3600000\n",
        f"{cpus}/cpu10/cpufreq/scaling_cur_freq": "3400500\n",
        "sys/fs/cgroup/cpu.stat": "usage_usec 9\nthrottled_usec 2500000\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_cpu_times_are_split_into_work_steal_and_all(root: Path) -> None:
    # user 1000 + nice 200 + system 300; then idle 4000, iowait 50, irq 6, softirq 7, steal 80;
    # guest times are in user already. 100 ticks a second.
    times = hostfiles.cpu_times(root)
    assert times is not None
    assert (times.busy_s, times.steal_s, round(times.total_s, 6)) == (15.0, 0.8, 56.43)


def test_a_snapshot_holds_what_is_known(root: Path) -> None:
    assert snapshot.take(root) == {
        "load": [0.5, 1.25, 2.0],
        "cpu_pressure_percent": 1.25,
        "memory_available_kib": 24262124,
        "memory_kib": 24683656,
        "swapped_pages": 42,
        "cpu_busy_s": 15.0,
        "cpu_steal_s": 0.8,
        "cpu_total_s": 56.43,
        "throttles": 12,
        "held_back_s": 2.5,
        "governors": {"powersave": 1, "performance": 2},
        "frequency_mhz": {"lowest": 800.0, "median": 3400.5, "highest": 3600.0},
    }


def test_nothing_is_known_where_nothing_is_told(tmp_path: Path) -> None:
    assert snapshot.take(tmp_path) == {}


def test_what_cannot_be_read_is_not_known(root: Path) -> None:
    for path in root.rglob("*"):
        if path.is_file():
            path.write_bytes(b"cpu what ever\xff\nMemTotal: much kB\npswpin\nthrottled_usec x\n")
    governors = {"cpu what ever\ufffd\nMemTotal: much kB\npswpin\nthrottled_usec x": 3}
    assert snapshot.take(root) == {"governors": governors}


def test_the_quota_of_a_first_version_cgroup_is_in_nanoseconds(tmp_path: Path) -> None:
    path = tmp_path / "sys/fs/cgroup/cpu/cpu.stat"
    path.parent.mkdir(parents=True)
    path.write_text("nr_periods 5\nthrottled_time 1500000000\n")
    assert hostfiles.held_back_s(tmp_path) == pytest.approx(1.5)


def test_this_machine_can_be_read() -> None:
    found = json.loads(json.dumps(snapshot.take()))
    assert found["memory_kib"] > found["memory_available_kib"] > 0
    assert found["cpu_total_s"] > found["cpu_busy_s"] > 0
    assert len(found["load"]) == 3
