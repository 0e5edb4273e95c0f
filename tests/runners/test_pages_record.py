"""What the engine noted of an execution, as the page of a job says it."""

from __future__ import annotations

from typing import Any

import pytest

from runners.pages.record import Stand, record_of

BEFORE = {
    "load": [2.1, 2.14, 3.39],
    "cpu_pressure_percent": 64.02,
    "memory_available_kib": 22 * 2**20,
    "memory_kib": 24 * 2**20,
    "cpu_busy_s": 41141.4,
    "cpu_total_s": 63267.39,
    "cpu_steal_s": 325.76,
    "swapped_pages": 7,
    "throttles": 3,
    "governors": {"powersave": 2},
    "frequency_mhz": {"lowest": 800.0, "median": 1200.0, "highest": 3400.4},
}
AFTER = {
    **BEFORE,
    "load": [2.2, 2.14, 3.39],
    "memory_available_kib": 21.5 * 2**20,
    "cpu_busy_s": 41145.08,
    "cpu_total_s": 63271.08,
    "cpu_steal_s": 325.77,
    "swapped_pages": 8,
    "throttles": 3,
}
STEP = {
    "name": "measure",
    "argv": ["./stream", "a b", "--passes=10"],
    "env": {"OMP_NUM_THREADS": "2", "TZ": "UTC"},
    "cpus": [0, 1, 2, 8],
    "time_limit_s": 141.47,
    "end": "finished",
    "elapsed_s": 1.8217,
    "exit_code": 0,
    "used": {"user_s": 1.201, "system_s": 0.213, "peak_kib": 316792},
    "stdout": {"bytes": 2193, "cut": False},
    "stderr": {"bytes": 0, "cut": False},
    "ended": [{"process": 77, "name": "sleep", "killed": True}],
}


def test_a_step_says_what_was_started_and_how_it_ended() -> None:
    [step] = record_of({"steps": [STEP]}).steps
    assert (step.name, step.outcome) == ("measure", "finished after 1.8 s")
    assert step.command == "./stream 'a b' --passes=10"
    assert step.env == "OMP_NUM_THREADS=2\nTZ=UTC"
    assert step.rows == [
        ("Bound to CPUs", "0-2,8"),
        ("Time limit", "2 min 21 s"),
        ("Exit code", "0"),
        ("CPU time", "1.2 s in programs, 0.2 s in the kernel"),
        ("Largest process", "309.37 MiB"),
        ("Standard output", "2,193 bytes"),
        ("Standard error", "nothing"),
        ("Ended by BenchHub", "sleep (process 77), killed"),
    ]


@pytest.mark.parametrize(("code", "words"), [(-15, "15 (SIGTERM)"), (-99, "99")])
def test_a_step_that_a_signal_ended_says_which(code: int, words: str) -> None:
    [step] = record_of({"steps": [{"exit_code": code, "end": "cancelled"}]}).steps
    assert step.outcome == "cancelled"
    assert step.rows == [("Ended by signal", words)]


def test_the_host_stands_with_units_and_counters_by_how_far_they_rose() -> None:
    assert record_of({"before": BEFORE, "after": AFTER}).host == [
        Stand("Load over 1, 5 and 15 min", "2.10 · 2.14 · 3.39", "2.20 · 2.14 · 3.39"),
        Stand("Tasks waited for a CPU, last 10 s", "64 %", "64 %"),
        Stand("Memory available", "22 GiB of 24 GiB", "21.5 GiB of 24 GiB"),
        Stand("Clocks: lowest, median, highest", *["800 · 1,200 · 3,400 MHz"] * 2),
        Stand("Governor", *["powersave (× 2)"] * 2),
        Stand("CPUs busy", rose="3.7 s of 3.7 s, all CPUs"),
        Stand("Taken by the hypervisor", rose="0.01 s"),
        Stand("Held down for heat", rose="0 times"),
        Stand("Swapped", rose="1 page"),
    ]


def test_what_is_known_of_one_moment_only_is_shown_with_a_gap() -> None:
    host = record_of({"before": BEFORE}).host
    assert Stand("Memory available", "22 GiB of 24 GiB", "") in host
    assert not any(line.rose for line in host)


@pytest.mark.parametrize(
    "noted",
    [None, [], "text", {"steps": 3, "before": [], "after": 1}, {"steps": [None, [], {}]}],
)
def test_without_anything_to_read_there_is_no_record(noted: Any) -> None:
    assert not record_of(noted)


@pytest.mark.parametrize("odd", [None, "x", [], {}, [{}], True, 10**400, float("nan")])
def test_values_of_another_kind_are_left_out(odd: Any) -> None:
    step = dict.fromkeys(STEP, odd)
    moment = dict.fromkeys(BEFORE, odd)
    record_of({"steps": [step], "before": moment, "after": moment})
