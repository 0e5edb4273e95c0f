"""The latency runner: what a host may be asked for, what is run, how a stored run is run again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from runners.benchmarks import get
from runners.benchmarks.base import ParameterError, Plan, Values
from runners.benchmarks.tinymembench import (
    RUNNER,
    adapt,
    bounds,
    buffer_bytes,
    check,
    plan,
    progress,
    within,
)
from runners.machine import Cpu, Facts, Node
from runners.parameters import complete

SMALL = Facts(
    cpus=(Cpu(0, 0), Cpu(1, 1)),
    nodes=(Node(0, 24.0, (0, 1)),),
    llc_mib=32,
    memory_gib=24.0,
    thp="madvise",
)
SERVER = Facts(
    cpus=(Cpu(0, 0, 1, 1), Cpu(1, 1, 1, 1), Cpu(2, 0, 0, 0), Cpu(3, 1, 0, 0)),
    nodes=(Node(0, 64.0, (2, 3)), Node(1, 16.0, (0, 1)), Node(2, 512.0)),
    llc_mib=768,
    memory_gib=592.0,
    thp="always",
)
REVIEW: Values = {"threads": 1, "page": "2m", "placement": "local", "buffer_gib": 1}


def planned(facts: Facts, folder: Path, preset: str = "standard", **chosen: object) -> Plan:
    return plan(complete(RUNNER, preset, chosen, facts), facts, str(folder))


def arguments(made: Plan) -> list[str]:
    return list(made.steps[-1].argv[1:])


def test_the_runner_is_found_and_named_as_ours() -> None:
    found = get("tinymembench")
    assert found is not None
    assert (found.benchmark, found.version) == ("tinymembench", "benchhub-1")


def test_standard_is_the_reviews_buffer_in_large_pages() -> None:
    expected = {"page": "2m", "placement": "local", "buffer_gib": 1.0, "repeats": 10}
    assert complete(RUNNER, "standard", {}, SMALL) == expected
    assert complete(RUNNER, "standard-4k", {}, SMALL) == {**expected, "page": "4k"}
    assert complete(RUNNER, "quick", {}, SMALL) == {**expected, "repeats": 3}


def test_a_buffer_has_at_most_half_of_its_nodes_memory() -> None:
    bound = within({"placement": "local", "page": "2m"}, SMALL)["buffer_gib"]
    assert (bound.default, bound.minimum, bound.maximum) == (1.0, 0.0625, 12.0)
    assert bound.because == "half of 24 GiB of memory"
    near = within({"placement": "local", "page": "4k"}, SERVER)["buffer_gib"]
    assert (near.maximum, near.because) == (32.0, "half of 64 GiB of memory of node 0")
    far = within({"placement": "remote", "page": "4k"}, SERVER)["buffer_gib"]
    assert (far.maximum, far.because) == (8.0, "half of 16 GiB of memory of node 1")
    huge = Facts(memory_gib=4096.0)
    assert within({"placement": "local", "page": "4k"}, huge)["buffer_gib"].maximum == 64.0


def test_a_host_with_little_memory_gets_the_largest_buffer_that_it_has() -> None:
    little = Facts(memory_gib=0.97)
    assert complete(RUNNER, "standard", {}, little)["buffer_gib"] == 0.4375
    unknown = within({"placement": "local", "page": "2m"}, Facts())["buffer_gib"]
    assert (unknown.maximum, "not known" in unknown.because) == (1.0, True)


def test_large_pages_must_be_on_or_reserved() -> None:
    off = replace(SMALL, thp="never")
    assert bounds(off)["page"].choices == ("4k",)
    assert "off" in bounds(off)["page"].because
    assert complete(RUNNER, "standard", {}, off)["page"] == "4k"
    with pytest.raises(ParameterError, match="Page size: found '2m', expected one of: 4k"):
        complete(RUNNER, "standard", {"page": "2m"}, off)
    reserved = replace(SMALL, thp="never", huge_pages_2m=256)
    assert bounds(reserved)["page"].choices == ("4k", "2m")
    assert complete(RUNNER, "standard", {}, reserved)["buffer_gib"] == 0.5
    assert complete(RUNNER, "standard-4k", {}, reserved)["buffer_gib"] == 1.0


def test_remote_memory_needs_a_second_node() -> None:
    assert bounds(SMALL)["placement"].choices == ("local",)
    assert bounds(SERVER)["placement"].choices == ("local", "remote")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("buffer_gib", "--node=1"),
        ("buffer_gib", 1e6),
        ("buffer_gib", 0),
        ("repeats", "$(id)"),
        ("repeats", 101),
        ("page", "2m\n"),
        ("page", ";"),
        ("placement", "x" * 10**6),
    ],
)
def test_what_cannot_be_is_named(name: str, value: object) -> None:
    with pytest.raises(ParameterError) as caught:
        complete(RUNNER, "standard", {name: value}, SMALL)
    assert list(caught.value.messages) == [name]


def test_a_buffer_is_whole_pages() -> None:
    assert buffer_bytes(1.0) == 2**30
    assert buffer_bytes(0.1) == 51 * 2**21
    assert buffer_bytes(0.0001) == 2**21


def test_the_thread_runs_on_the_first_cpu_of_the_first_socket(tmp_path: Path) -> None:
    made = planned(SERVER, tmp_path)
    assert arguments(made) == [
        "--buffer-bytes=1073741824",
        "--page=2m",
        "--placement=local",
        "--repeats=10",
        "--cpu=2",
    ]
    measure = made.steps[-1]
    assert (measure.cpus, measure.finished) == ((2,), "^Finished$")
    assert (made.scope, made.output, made.reads) == ("thread", "measure", "benchhub_latency")


def test_remote_names_the_node_of_another_socket(tmp_path: Path) -> None:
    made = planned(SERVER, tmp_path, placement="remote", repeats=3)
    assert arguments(made)[2:] == ["--placement=remote", "--node=1", "--repeats=3", "--cpu=2"]


def test_a_host_of_which_nothing_is_known_is_asked_for_no_cpu(tmp_path: Path) -> None:
    made = planned(Facts(), tmp_path)
    assert made.steps[-1].cpus is None
    assert arguments(made)[-1] == "--repeats=10"


def test_a_buffer_that_caches_can_hold_is_remarked(tmp_path: Path) -> None:
    (remark,) = planned(SMALL, tmp_path, buffer_gib=0.0625).remarks
    assert remark.startswith("The buffer is 2 times the last-level caches (32 MiB): ")
    assert planned(SMALL, tmp_path).remarks == ()


def test_progress_is_that_of_the_last_repeat() -> None:
    assert progress("Buffer: 1 bytes\n") is None
    two = "Repeat 1 of 4: 1.0 ns\nRepeat 2 of 4: 1.1 ns, in the L1 cache 1"
    assert progress(two) == 0.5
    assert progress("Repeat 9 of 0: 1.0 ns") == 1.0


def test_this_host_has_a_compiler() -> None:
    found = check(SMALL)
    assert (found.ready, found.missing) == (True, "")
    assert found.version.split()[0] in {"GCC", "Clang"}


def test_without_a_compiler_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    found = check(SMALL)
    assert not found.ready
    assert found.missing == "a C compiler (install the packages gcc and libc6-dev)"


def test_a_run_of_the_review_is_measured_as_it_was() -> None:
    again = adapt(REVIEW, "thread", SMALL)
    assert again.values == {"page": "2m", "placement": "local", "buffer_gib": 1.0}
    assert again.cannot == ()
    remote = adapt({**REVIEW, "placement": "remote", "page": "4k"}, "thread", SERVER)
    assert remote.values == {"page": "4k", "placement": "remote", "buffer_gib": 1.0}
    assert remote.cannot == ()


def test_a_run_of_ours_is_measured_as_it_was() -> None:
    again = adapt({**REVIEW, "repeats": 3}, "thread", SMALL)
    assert (again.values["repeats"], again.cannot) == (3, ())
    assert complete(RUNNER, "standard", again.values, SMALL)["repeats"] == 3


def test_what_this_host_cannot_do_is_named_with_what_stands_instead() -> None:
    stored: Values = {"threads": 4, "page": "1g", "placement": "remote", "buffer_gib": 100}
    again = adapt(stored, "socket", SMALL)
    assert again.values == {"page": "2m", "placement": "local", "buffer_gib": 12.0}
    assert again.cannot == (
        "Pages of 1g: this runner has 4 KB and 2 MB pages; 2 MB pages instead",
        "Remote memory: this host has one NUMA node; its own socket's instead",
        "A buffer of 100 GiB: half of 24 GiB of memory; 12 GiB instead, "
        "which is not ranked with it",
        "4 threads: a chain of loads is one thread's; 1 thread instead",
    )
    off = adapt(REVIEW, "thread", replace(SMALL, thp="never"))
    assert off.values["page"] == "4k"
    assert off.cannot == (
        "Pages of 2m: transparent huge pages are off, and not enough 2 MB pages are reserved; "
        "4 KB pages instead",
    )


@pytest.mark.parametrize("facts", [SMALL, SERVER, Facts(), replace(SERVER, thp="never")])
@pytest.mark.parametrize(
    "stored",
    [
        REVIEW,
        {},
        {"buffer_gib": 0.001, "placement": "interleave"},
        {"buffer_gib": 1000, "placement": "remote"},
    ],
)
def test_what_is_adapted_can_be_chosen(facts: Facts, stored: Values) -> None:
    again = adapt(stored, "thread", facts)
    completed = complete(RUNNER, "standard", again.values, facts)
    assert {name: completed[name] for name in again.values} == again.values
