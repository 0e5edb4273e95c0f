"""The output of BenchHub's bandwidth kernel: values and lines as one reads them by eye."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from results.bundle import BundleError
from results.formats import detect, parse
from results.formats.base import Reading
from tests.results.format_files import DATA, file, made, refusal, remarks

ROOM = "benchhub_bandwidth"
REAL = (DATA / ROOM / "plain_2t.txt").read_text()
HEAD, PASSES = 17, 10
TABLE = HEAD + PASSES + 1


def with_(pattern: str, new: str | Callable[[re.Match[str]], str], text: str = REAL) -> str:
    """The text with one place changed."""
    changed, count = re.subn(pattern, new, text, flags=re.MULTILINE)
    assert count == 1
    return changed


def remote(text: str, *, threads: str, memory: str) -> str:
    """The output of another placement on a host with nodes."""
    text = with_(r"^Nodes of the CPUs: .*", f"Nodes of the CPUs: {threads}", text)
    return with_(r"^Nodes of the memory: .*", f"Nodes of the memory: {memory}", text)


def test_best_rates_are_read_with_their_lines() -> None:
    (run,) = parse(file(f"{ROOM}/plain_2t.txt")).runs
    rates = ["9.2316", "9.5763", "10.3211", "10.3261"]
    lines = range(TABLE + 1, TABLE + 5)
    assert run.readings == tuple(
        Reading(f"{kernel}.bandwidth", float(rate), "GB/s", (line, line), f"{rate} GB/s")
        for kernel, rate, line in zip(("copy", "scale", "add", "triad"), rates, lines, strict=True)
    )
    assert (run.benchmark, run.version, run.scope, run.asks) == ("stream", "benchhub-1", None, ())
    assert run.started_at == "2026-12-01T00:58:18Z"
    assert run.parameters == {
        "threads": 2,
        "placement": "all",
        "streaming_stores": "no",
        "array_gib": 0.149,
        "array_elements": 20_000_000,
        "ntimes": 10,
    }
    assert run.setup == {
        "compiler": "GCC 12.2.0",
        "compiler.flags": "-O3 -march=native -fopenmp -fno-tree-loop-distribute-patterns",
    }


def test_passes_are_no_samples() -> None:
    (run,) = parse(file(f"{ROOM}/plain_2t.txt")).runs
    assert all(reading.samples == () for reading in run.readings)


def test_one_thread_is_a_scope() -> None:
    draft = parse(file(f"{ROOM}/plain_1t.txt"))
    (run,) = draft.runs
    assert (run.scope, run.parameters["threads"], run.asks) == ("thread", 1, ())
    assert [reading.value for reading in run.readings] == [6.341, 6.2665, 11.7181, 8.9158]
    assert not draft.remarks


def test_stores_and_placement_are_read() -> None:
    draft = parse(file(f"{ROOM}/streaming_2t.txt"))
    parameters = draft.runs[0].parameters
    assert (parameters["streaming_stores"], parameters["placement"]) == ("yes", "local")
    ((text, line),) = remarks(draft)
    assert (line, "cache is not known" in text) == (11, True)


def test_arrays_too_small_for_the_rules_are_told() -> None:
    draft = parse(file(f"{ROOM}/small_2t.txt"))
    assert remarks(draft) == [
        ("an array is 0.24 times as large as the last-level caches; the rules ask for 4", 11),
        ("the threads were not bound to CPUs: they may have moved", 13),
    ]
    assert draft.runs[0].parameters["array_elements"] == 1_000_003


def test_a_failed_validation_is_refused_at_its_line() -> None:
    problem = refusal(file(f"{ROOM}/failed.txt"), by=ROOM)
    assert problem.line == 28
    assert problem.found == "'Validation: failed, 1000000 of 1000000 elements are wrong'"
    assert "'Validation: passed'" in problem.expected


def test_flags_that_were_not_recorded_are_not_stated() -> None:
    (run,) = parse(made(with_(r"^Compiler flags: .*", "Compiler flags: not recorded"))).runs
    assert run.setup == {"compiler": "GCC 12.2.0"}


@pytest.mark.parametrize("last", range(1, len(REAL.splitlines())))
def test_an_output_cut_after_any_line_is_refused_there(last: int) -> None:
    cut = "".join(REAL.splitlines(keepends=True)[:last])
    problem = refusal(made(cut), by=ROOM)
    assert (problem.line, problem.found) == (last, "the end of the output")


@pytest.mark.parametrize("line", [3, 7, HEAD, HEAD + 1, HEAD + 4, TABLE + 2, TABLE + 6])
def test_a_line_that_is_missing_or_doubled_is_refused(line: int) -> None:
    lines = REAL.splitlines(keepends=True)
    missing = "".join(lines[: line - 1] + lines[line:])
    assert refusal(made(missing), by=ROOM).line == line
    doubled = "".join(lines[:line] + lines[line - 1 :])
    assert refusal(made(doubled), by=ROOM).line == line + 1


def test_an_output_cut_within_its_last_rate_is_refused() -> None:
    problem = refusal(made(REAL[: REAL.index("10.3261") + 4]), by=ROOM)
    assert problem.line == TABLE + 4
    assert "a row 'Triad'" in problem.expected


def test_a_rate_that_its_time_does_not_make_is_refused() -> None:
    problem = refusal(made(with_(r"^(Triad +)10\.3261", r"\g<1>11.3261")), by=ROOM)
    assert problem.line == TABLE + 4
    assert problem.found.startswith("11.3261 GB/s beside a time of 0.04")
    assert problem.expected == "about 10.3261 GB/s, as size and time make"


def test_a_time_that_no_pass_took_is_refused() -> None:
    shortest = with_(r"^(Copy .* )0\.034663(\d{3})( +\S+ +\S+)$", r"\g<1>0.034662\2\3")
    problem = refusal(made(shortest), by=ROOM)
    assert problem.line == TABLE + 1
    assert problem.found.startswith("a shortest time of 0.034662")
    assert "as the passes above make" in problem.expected


def test_elements_that_do_not_make_the_size_are_refused() -> None:
    problem = refusal(made(with_(r"^Elements: 20000000", "Elements: 40000000")), by=ROOM)
    assert problem.line in {9, TABLE + 1}


@pytest.mark.parametrize(
    ("line", "pattern", "new"),
    [
        (8, r"element: 8", "element: 4"),
        (9, r"0\.149012 GiB", "0.149112 GiB"),
        (11, r"4\.77 times", "5.77 times"),
        (3, r"2026-12-01T", "2026-13-01T"),
        (1, r"version benchhub-1", "version benchhub-2"),
        (6, r"^Stores: plain", "Stores: fast"),
        (12, r"^Threads: 2", "Threads: ٢"),
        (12, r"^Threads: 2", "Threads: 0"),
        (HEAD + 3, r"^Pass 3 of 10", "Pass 4 of 10"),
        (HEAD + 1, r"^(Pass 1 of 10: copy )\S+", r"\g<1>nan"),
        (HEAD + 2, r"^(Pass 2 of 10: copy )\S+", r"\g<1>0.000000000"),
    ],
)
def test_what_contradicts_itself_is_refused_at_its_line(line: int, pattern: str, new: str) -> None:
    assert refusal(made(with_(pattern, new)), by=ROOM).line == line


def test_remote_memory_must_lie_elsewhere() -> None:
    text = with_(r"^Placement: all", "Placement: remote")
    (run,) = parse(made(remote(text, threads="0-1", memory="2-3"))).runs
    assert run.parameters["placement"] == "remote"
    problem = refusal(made(remote(text, threads="0-1", memory="1-3")), by=ROOM)
    assert (problem.line, "memory of nodes 1-3" in problem.found) == (17, True)


def test_interleaved_memory_must_lie_on_several_nodes() -> None:
    text = with_(r"^Placement: all", "Placement: interleave")
    assert parse(made(remote(text, threads="0", memory="0,1"))).runs
    assert refusal(made(remote(text, threads="0", memory="0")), by=ROOM).line == 17


def test_memory_that_spilled_to_other_nodes_is_told() -> None:
    draft = parse(made(remote(REAL, threads="0", memory="0-1")))
    assert remarks(draft) == [
        (
            "memory of nodes 0-1 and CPUs of nodes 0: some of it lay on nodes of other CPUs",
            17,
        )
    ]


def test_several_outputs_in_a_file_are_several_runs() -> None:
    one = (DATA / ROOM / "plain_1t.txt").read_text()
    first, second = parse(made(f"one thread\n{one}two threads\n{REAL}")).runs
    assert (first.parameters["threads"], second.parameters["threads"]) == (1, 2)
    assert second.readings[0].lines == (TABLE + 1 + len(one.splitlines()) + 2,) * 2


def test_each_output_of_a_file_must_finish() -> None:
    given = made(with_(r"^Finished\n", "") + REAL + REAL[:-200])
    with pytest.raises(BundleError) as caught:
        parse(given)
    assert len(caught.value.problems) == 2


def test_it_is_not_taken_for_the_stream_program() -> None:
    assert detect(made(REAL)) == ROOM
    assert detect(file("stream/gcc_2t.txt")) == "stream"


def test_windows_files_are_read() -> None:
    given = made("")
    given = type(given)("stream.log", REAL.replace("\n", "\r\n").encode("utf-16"))
    assert parse(given).runs[0].readings[3].value == 10.3261


def test_a_check_that_contradicts_itself_is_refused() -> None:
    text = with_(r"(?<=largest relative error )\S+(?= of)", "5.6e-10")
    with pytest.raises(BundleError, match=r"an error of 5\.6e-10, expected at most 1e-12"):
        parse(made(text))
