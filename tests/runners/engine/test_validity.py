"""What speaks against a measurement, worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from runners.engine.base import Flag
from runners.engine.sampling import Sample
from runners.engine.validity import flags, others_cpus

# Ten seconds on a quiet host of 2 CPUs whose step keeps one busy: 20 CPU seconds went by, 10.2
# of them busy, 10.15 by the step and the engine.
BEFORE = {
    "at_s": 0.0,
    "busy_s": 100.0,
    "steal_s": 1.0,
    "total_s": 1000.0,
    "own_s": 3.0,
    "swapped_pages": 40,
    "memory_available_kib": 8_000_000,
    "memory_kib": 16_000_000,
    "throttles": 7,
    "held_back_s": 1.0,
}
AFTER = {**BEFORE, "at_s": 10.0, "busy_s": 110.2, "total_s": 1020.0, "own_s": 13.15}
Changes = Mapping[str, float | None]


def _flags(after: Changes, *, cpus: int = 2, elapsed_s: float = 10.0) -> list[Flag]:
    samples = [Sample(**BEFORE), Sample(**{**AFTER, **after})]  # type: ignore[arg-type]
    return list(flags(samples, cpus=cpus, elapsed_s=elapsed_s, shortest_s=0.5))


def test_a_quiet_host_gives_no_flag() -> None:
    assert _flags({}) == []


@pytest.mark.parametrize(
    ("after", "flag"),
    [
        # 23.15 busy - 10.15 own = 13 CPU seconds of others in 10 s.
        (
            {"busy_s": 123.15},
            Flag("load", "others used 1.3 CPUs on average while it ran"),
        ),
        ({"busy_s": 120.15}, Flag("load", "others used 1.0 CPU on average while it ran")),
        # 0.3 stolen of 0.3 + 10.2 wanted: 2.857 %.
        (
            {"steal_s": 1.3},
            Flag("steal", "the hypervisor took 2.9 % of the CPU time from this host"),
        ),
        ({"throttles": 9}, Flag("throttled", "the clock was held down for heat, 2 times")),
        ({"held_back_s": 4.2}, Flag("throttled", "a CPU quota held programs back for 3.2 s")),
        ({"swapped_pages": 2040}, Flag("swap", "the host swapped 2,000 pages while it ran")),
        # 512,000 KiB: below 5 % of 16,000,000, which is 800,000.
        (
            {"memory_available_kib": 512_000},
            Flag("memory", "memory was nearly full: 500 MiB were left"),
        ),
    ],
)
def test_what_disturbed_it_is_named(after: Changes, flag: Flag) -> None:
    assert _flags(after) == [flag]


@pytest.mark.parametrize(
    "after",
    [
        {"busy_s": 111.1},  # 0.95 CPU seconds of others in 10 s: 0.095 CPUs
        {"steal_s": 1.1},  # 0.1 of 10.3: 0.97 %
        {"held_back_s": 1.09},
        {"swapped_pages": 296},
        {"memory_available_kib": 800_000},
        {"busy_s": 100.0, "own_s": 13.0},  # counted by ticks, less than the step's own
        {"throttles": 3},  # counters of a CPU that was taken away
    ],
)
def test_what_is_within_the_bounds_is_not(after: Changes) -> None:
    assert _flags(after) == []


def test_a_big_host_may_have_its_daemons() -> None:
    busy = {"busy_s": 122.15}  # 1.2 CPUs of others
    assert _flags(busy, cpus=256) == []
    assert [flag.word for flag in _flags(busy, cpus=200)] == ["load"]


def test_a_big_memory_is_nearly_full_at_1_gib() -> None:
    big = {"memory_kib": 1_600_000_000}
    assert _flags({**big, "memory_available_kib": 1_048_576}) == []
    assert [f.word for f in _flags({**big, "memory_available_kib": 1_048_575})] == ["memory"]


def test_a_short_run_is_flagged_and_its_load_is_not_judged() -> None:
    after = {"at_s": 0.4, "busy_s": 100.7, "own_s": 3.4}
    text = "it took 0.40 s, too short to measure: expected 0.5 s"
    assert _flags(after, elapsed_s=0.4) == [Flag("short", text)]


@pytest.mark.parametrize("name", [name for name in BEFORE if name != "at_s"])
def test_what_is_not_known_is_not_judged(name: str) -> None:
    assert _flags({name: None}) == []


def test_without_samples_only_the_time_is_judged() -> None:
    assert flags([], cpus=2, elapsed_s=1.0, shortest_s=0.5) == ()
    (short,) = flags([Sample(0.0)], cpus=2, elapsed_s=1.0, shortest_s=60)
    assert short.text == "it took 1.00 s, too short to measure: expected 60 s"


def test_the_lowest_memory_in_between_counts() -> None:
    middle = Sample(at_s=5.0, memory_available_kib=102_400, memory_kib=16_000_000)
    samples = [Sample(**BEFORE), middle, Sample(**AFTER)]  # type: ignore[arg-type]
    (flag,) = flags(samples, cpus=2, elapsed_s=10, shortest_s=0)
    assert flag.text == "memory was nearly full: 100 MiB were left"


def test_others_are_what_is_not_our_own() -> None:
    first = Sample(at_s=2.0, busy_s=50.0, own_s=10.0)
    assert others_cpus(first, Sample(at_s=6.0, busy_s=60.0, own_s=12.0)) == 2.0
    assert others_cpus(first, Sample(at_s=6.0, busy_s=51.0, own_s=14.0)) == 0.0
    assert others_cpus(first, first) is None
    assert others_cpus(first, Sample(at_s=6.0, busy_s=60.0)) is None
