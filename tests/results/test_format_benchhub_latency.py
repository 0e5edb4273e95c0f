"""The output of BenchHub's latency kernel: values and lines as one reads them by eye."""

from __future__ import annotations

import re

import pytest

from results.bundle import BundleError
from results.formats import detect, parse
from results.formats.base import Reading
from tests.results.format_files import DATA, file, made, refusal, remarks

ROOM = "benchhub_latency"
REAL = (DATA / ROOM / "2m.txt").read_text()


def with_(pattern: str, new: str, text: str = REAL) -> str:
    """The text with one place changed."""
    changed, count = re.subn(pattern, new, text, flags=re.MULTILINE)
    assert count == 1
    return changed


def remote(*, thread: str, memory: str) -> str:
    """The output of another placement on a host with nodes."""
    text = with_("^Placement: local$", "Placement: remote")
    text = with_(r"^Node of the CPU: .*", f"Node of the CPU: {thread}", text)
    return with_(r"^Nodes of the memory: .*", f"Nodes of the memory: {memory}", text)


def test_the_best_repeat_is_read_in_full_and_beyond_an_l1_hit() -> None:
    (run,) = parse(file(f"{ROOM}/2m.txt")).runs
    assert run.readings == (
        Reading("random_read.latency", 490.2493, "ns", (21, 21), "490.2493 ns"),
        Reading("random_read.load_to_use", 493.5753, "ns", (20, 20), "493.5753 ns"),
    )
    assert (run.benchmark, run.version, run.scope) == ("tinymembench", "benchhub-1", "thread")
    assert (run.started_at, run.asks) == ("2026-12-01T01:05:27Z", ())
    assert run.parameters == {
        "threads": 1,
        "placement": "local",
        "page": "2m",
        "buffer_gib": 0.0625,
        "repeats": 3,
    }
    assert run.setup == {
        "compiler": "GCC 12.2.0",
        "compiler.flags": "-O3 -march=native -fopenmp -fno-tree-loop-distribute-patterns",
    }


def test_small_pages_are_read() -> None:
    draft = parse(file(f"{ROOM}/4k.txt"))
    (run,) = draft.runs
    assert (run.parameters["page"], run.parameters["repeats"]) == ("4k", 2)
    assert [reading.value for reading in run.readings] == [794.4590, 797.9040]
    assert not draft.remarks


def test_what_the_kernel_did_not_measure_is_refused_with_its_words() -> None:
    problem = refusal(file(f"{ROOM}/not_measured.txt"), by=ROOM)
    assert problem.line == 11
    assert "Not measured: 0 of 64 MiB came in pages of 2 MiB" in problem.found
    assert problem.expected == "a measurement: without one no number counts"


def test_a_failed_validation_is_refused() -> None:
    failed = "Validation: failed, 1 of 3 chains of loads went elsewhere than computed"
    problem = refusal(made(with_("^Validation: .*", failed)), by=ROOM)
    assert (problem.line, failed in problem.found) == (23, True)


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        (2, "'Started: …'"),
        (10, "'Page size: …'"),
        (16, "'Repeat 2 of 3: …'"),
        (18, "'L1 hit: …'"),
        (20, "'Beyond an L1 hit: …'"),
        (22, "'Validation: passed, …'"),
        (23, "'Finished'"),
    ],
)
def test_a_cut_output_is_refused_with_what_is_missing(last: int, expected: str) -> None:
    cut = "".join(REAL.splitlines(keepends=True)[:last])
    problem = refusal(made(cut), by=ROOM)
    assert (problem.line, problem.found) == (last, "the end of the output")
    assert expected in problem.expected


@pytest.mark.parametrize(
    ("pattern", "new", "line", "expected"),
    [
        (r"^(Load to use: best )493\.5753", r"\g<1>293.5753", 20, "493.5753 ns, as the repeats"),
        (r"(?<=median )541\.6886", "541.6990", 20, "541.6886 ns, as the repeats make"),
        (r"^(Beyond an L1 hit: best )490", r"\g<1>493", 21, "490.2493 ns, as the repeats make"),
        (r"^L1 hit: best 3\.3260", "L1 hit: best 1.3260", 19, "3.3260 ns, as the repeats make"),
        (r"^Repeat 2 of 3: 541\.6886", "Repeat 2 of 3: 1.0000", 20, "more than a load that hits"),
        ("^Repeat 2 of 3", "Repeat 3 of 3", 17, "'Repeat 2 of 3: …'"),
        ("^Repeat 2 of 3", "Repeat 2 of 4", 17, "'Repeat 2 of 3: …'"),
        (r"^Buffer: 67108864", "Buffer: 33554432", 7, "0.031250 GiB, as the bytes make"),
        (r"^Buffer: 67108864", "Buffer: 67108865", 6, "whole pages of 2 MiB"),
        ("^Page size: 2m", "Page size: 4k", 12, "none: pages of 4 KiB were asked for"),
        ("^Huge pages: 64 of", "Huge pages: 60 of", 12, "at least 95%"),
        ("^Huge pages: 64 of 64", "Huge pages: 64 of 128", 12, "those of 64 MiB"),
        ("^Nodes of the memory: 0", "Nodes of the memory: 1", 15, "as local means"),
        ("^Nodes of the memory: 0", "Nodes of the memory: 0-1", 15, "'Nodes of the memory: …'"),
        ("^Threads: 1", "Threads: 2", 8, "'Threads: …'"),
        ("version benchhub-1", "version benchhub-9", 1, "version benchhub-1"),
        ("2026-12-01T01", "2026-13-01T01", 3, "a time like 2026-12-01T08:30:00Z"),
        ("in each of 3 repeats", "in each of 0 repeats", 10, "at least 1"),
    ],
)
def test_what_contradicts_itself_is_refused_at_its_line(
    pattern: str, new: str, line: int, expected: str
) -> None:
    problem = refusal(made(with_(pattern, new)), by=ROOM)
    assert (problem.line, expected in problem.expected) == (line, True)


def test_remote_memory_is_that_of_another_node() -> None:
    (run,) = parse(made(remote(thread="0", memory="1"))).runs
    assert run.parameters["placement"] == "remote"
    for memory in ("0", "not known"):
        problem = refusal(made(remote(thread="0", memory=memory)), by=ROOM)
        assert problem.expected == "memory of another node, as remote means"


def test_what_disturbed_a_measurement_is_told_with_its_line() -> None:
    text = with_("^Huge pages: 64 of", "Huge pages: 62 of")
    text = with_("^Nodes of the memory: 0", "Nodes of the memory: not known", text)
    text = with_(r"^Repeat 1 of 3: 575\.4364", "Repeat 1 of 3: 987.1506", text)
    text = with_(r"worst 575\.4364", "worst 987.1506", text)
    text = with_(r"worst 572\.1104", "worst 983.8246", text)
    assert remarks(parse(made(text))) == [
        ("62 of 64 MiB were in pages of 2 MiB, the rest in small ones", 12),
        ("of which node the buffer's memory was is not known", 15),
        ("the slowest repeat took 2.00 times the best: others used memory", 20),
    ]


def test_several_outputs_in_a_file_are_several_runs_or_several_problems() -> None:
    small = (DATA / ROOM / "4k.txt").read_text()
    first, second = parse(made(f"{REAL}\n{small}")).runs
    assert [run.parameters["page"] for run in (first, second)] == ["2m", "4k"]
    assert second.readings[0].lines == (45, 45)
    with pytest.raises(BundleError) as caught:
        parse(made(REAL[:-20] + "\n" + small[:-20]))
    assert [problem.line for problem in caught.value.problems] == [23, 45]


def test_the_kernel_is_known_by_its_own_first_line() -> None:
    assert detect(made(REAL)) == ROOM
    assert detect(made("tinymembench v0.4.9 (simple benchmark for memory throughput)\n")) is None
