"""STREAM's output: values and lines as one reads them in the files by eye."""

from __future__ import annotations

import re

import pytest

from results.bundle import BundleError
from results.formats import detect, parse
from results.formats.base import Reading
from tests.results.format_files import DATA, file, made, refusal, remarks

REAL = (DATA / "stream" / "gcc_2t.txt").read_text()
FAILED = """\
Failed Validation on array a[], AvgRelAbsErr > epsilon (1.000000e-13)
     Expected Value: 1.153301e+12, AvgAbsErr: 1.153301e+06, AvgRelAbsErr: 1.000000e-06
     For array a[], 20000000 errors were found.
"""
OLD = """\
-------------------------------------------------------------
STREAM version $Revision: 5.9 $
-------------------------------------------------------------
This system uses 8 bytes per DOUBLE PRECISION word.
-------------------------------------------------------------
Array size = 2000000, Offset = 0
Total memory required = 45.8 MB.
Each test is run 10 times, but only
the *best* time for each is used.
-------------------------------------------------------------
Number of Threads requested = 4
-------------------------------------------------------------
Function      Rate (MB/s)   Avg time     Min time     Max time
Copy:       10000.0000       0.0033       0.0032       0.0034
Scale:      10001.0000       0.0033       0.0032       0.0034
Add:        12000.0000       0.0041       0.0040       0.0042
Triad:      12001.0000       0.0041       0.0040       0.0042
-------------------------------------------------------------
Solution Validates
-------------------------------------------------------------
"""


def with_(pattern: str, new: str, text: str = REAL) -> str:
    """The text with one place changed."""
    changed, count = re.subn(pattern, new, text, flags=re.MULTILINE)
    assert count == 1
    return changed


def test_best_rates_are_read_with_their_lines() -> None:
    (run,) = parse(file("stream/gcc_2t.txt")).runs
    assert run.readings == (
        Reading("copy.bandwidth", 80063.1, "MB/s", (27, 27), "80063.1 MB/s"),
        Reading("scale.bandwidth", 78586.4, "MB/s", (28, 28), "78586.4 MB/s"),
        Reading("add.bandwidth", 82629.4, "MB/s", (29, 29), "82629.4 MB/s"),
        Reading("triad.bandwidth", 82150.6, "MB/s", (30, 30), "82150.6 MB/s"),
    )
    assert (run.benchmark, run.version, run.scope) == ("stream", "5.10", None)
    assert run.parameters == {
        "threads": 2,
        "array_elements": 20_000_000,
        "array_gib": 0.149,
        "ntimes": 20,
    }
    assert run.asks == ("placement",)


def test_one_thread_is_a_scope_and_leaves_no_question() -> None:
    draft = parse(file("stream/gcc_1t.txt"))
    (run,) = draft.runs
    assert (run.scope, run.parameters["threads"], run.asks) == ("thread", 1, ())
    assert [reading.value for reading in run.readings] == [39721.1, 39790.6, 40619.5, 40718.9]
    assert not draft.remarks


def test_a_failed_validation_is_refused_at_its_line() -> None:
    problem = refusal(made(with_(r"^Solution Validates.*\n", FAILED)), by="stream")
    assert problem.line == 32
    assert "Failed Validation on array a[]" in problem.found
    assert "'Solution Validates'" in problem.expected


def test_a_failed_validation_is_refused_though_another_line_validates() -> None:
    problem = refusal(made(with_(r"^Solution", FAILED + "Solution")), by="stream")
    assert problem.line == 32


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        (10, "the table of rates"),
        (26, "a row 'Copy:'"),
        (29, "a row 'Triad:'"),
        (31, "'Solution Validates'"),
    ],
)
def test_a_cut_output_is_refused_with_what_is_missing(last: int, expected: str) -> None:
    cut = "".join(REAL.splitlines(keepends=True)[:last])
    problem = refusal(made(cut), by="stream")
    assert problem.line == last
    assert problem.found == "the end of the output"
    assert expected in problem.expected


def test_an_output_cut_within_its_last_rate_is_refused() -> None:
    problem = refusal(made(REAL[: REAL.index("82150.6") + 4]), by="stream")
    assert problem.line == 30
    assert problem.found == "2 cells below a head of 5"


def test_several_outputs_in_a_file_are_several_runs() -> None:
    one = (DATA / "stream" / "gcc_1t.txt").read_text()
    draft = parse(made(f"OMP_NUM_THREADS=1\n{one}OMP_NUM_THREADS=2\n{REAL}"))
    first, second = draft.runs
    assert (first.parameters["threads"], second.parameters["threads"]) == (1, 2)
    assert first.readings[3].lines == (31, 31)
    assert second.readings[3] == Reading(
        "triad.bandwidth", 82150.6, "MB/s", (65, 65), "82150.6 MB/s"
    )


def test_each_output_of_a_file_needs_its_own_validation() -> None:
    given = made(with_(r"^Solution Validates.*\n", "") + REAL + REAL[:-200])
    with pytest.raises(BundleError) as caught:
        parse(given)
    assert [problem.line for problem in caught.value.problems] == [33, 95]


def test_the_old_program_and_its_head_are_read() -> None:
    (run,) = parse(made(OLD)).runs
    assert [reading.value for reading in run.readings] == [10000.0, 10001.0, 12000.0, 12001.0]
    assert run.version == "5.9"
    assert run.parameters == {
        "threads": 4,
        "array_elements": 2_000_000,
        "array_gib": 0.0149,
        "ntimes": 10,
    }


def test_the_best_column_counts_wherever_it_stands() -> None:
    text = with_(r"^Function .*", "Function  Avg Rate MB/s  Best Rate MB/s  Min time")
    for kernel, average, best in (("Copy", 1, 80063.1), ("Scale", 2, 78586.4)):
        text = with_(rf"^{kernel}: .*", f"{kernel}: {average}.0 {best} 0.004", text)
    text = with_(r"^Add: .*", "Add: 3.0 82629.4 0.006", text)
    text = with_(r"^Triad: .*", "Triad: 4.0 82150.6 0.006", text)
    (run,) = parse(made(text)).runs
    assert [reading.value for reading in run.readings] == [80063.1, 78586.4, 82629.4, 82150.6]


def test_a_table_in_markdown_is_read_by_its_head() -> None:
    head = "| Function | Worst (MB/s) | Best (MB/s) | Min time |"
    text = with_(r"^Function .*", f"{head}\n|---|---|---|---|")
    for kernel in ("Copy", "Scale", "Add", "Triad"):
        text = with_(rf"^{kernel}: +(\S+) +\S+ +(\S+) .*", rf"| {kernel} | 1.5 | \1 | \2 |", text)
    (run,) = parse(made(text)).runs
    assert run.readings[0] == Reading("copy.bandwidth", 80063.1, "MB/s", (28, 28), "80063.1 MB/s")
    assert [reading.value for reading in run.readings] == [80063.1, 78586.4, 82629.4, 82150.6]


@pytest.mark.parametrize(
    "head",
    ["Function    Best Rate MB/s", "Function  Best Rate MB/s  Joules", "Function  Avg Rate MB/s"],
)
def test_another_layout_is_an_unknown_variant(head: str) -> None:
    problem = refusal(made(with_(r"^Function .*", head)), by="stream")
    assert "unknown STREAM variant" in problem.found


def test_a_table_without_the_programs_own_lines_is_an_unknown_variant() -> None:
    problem = refusal(made(REAL[REAL.index("Function") :]), by="stream")
    assert (problem.line, "unknown STREAM variant" in problem.found) == (1, True)


def test_the_version_for_clusters_is_refused() -> None:
    ranks = "Data is distributed across 4 MPI ranks"
    problem = refusal(made(with_(r"^Number of Threads requested.*", ranks)), by="stream")
    assert problem.line == 13
    assert "MPI" in problem.found


@pytest.mark.parametrize("rate", ["nan", "inf", "-1.0", "0.0", "1e999", "8_0063.1", "80063,1"])
def test_a_rate_that_is_none_is_refused_at_its_line(rate: str) -> None:
    problem = refusal(made(with_(r"80063\.1", rate)), by="stream")
    assert problem.line == 27
    assert problem.found == f"'{rate}'"


@pytest.mark.parametrize("rate", ["90063100.0", "60063.1", "10063.1", "1e-300"])
def test_a_rate_far_from_its_own_time_is_refused(rate: str) -> None:
    problem = refusal(made(with_(r"80063\.1", rate)), by="stream")
    assert problem.line == 27
    assert problem.found == f"{rate} MB/s beside a shortest time of 0.003997 s"
    assert "80060.0 MB/s" in problem.expected


def test_a_rate_somewhat_off_its_own_time_is_told() -> None:
    draft = parse(made(with_(r"80063\.1", "85063.1")))
    assert [remark.line for remark in draft.remarks] == [27]
    assert "which makes 80060.0 MB/s" in draft.remarks[0].text


def test_a_kernel_that_stands_twice_is_refused() -> None:
    problem = refusal(made(with_(r"^Triad:", "Copy: 1.0 1.0 1.0 1.0\nTriad:")), by="stream")
    assert (problem.line, problem.found) == (30, "a second row 'Copy:'")


def test_few_ticks_of_the_clock_are_told() -> None:
    draft = parse(made(with_(r"= \d+ clock ticks", "= 7 clock ticks")))
    ((text, line),) = remarks(draft)
    assert (line, "7 clock ticks" in text) == (18, True)


def test_threads_that_did_not_run_are_told_and_not_counted() -> None:
    draft = parse(made(with_(r"^(Number of Threads requested = )2", r"\g<1>8")))
    assert draft.runs[0].parameters["threads"] == 2
    assert remarks(draft) == [("8 threads were asked for, 2 ran: these count", 14)]


def test_a_build_that_says_nothing_of_threads_leaves_them_to_be_asked() -> None:
    (run,) = parse(made(with_(r"^Number of Threads requested.*\n.*\n", ""))).runs
    assert "threads" not in run.parameters
    assert (run.scope, run.asks) == (None, ("threads", "placement"))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_windows_files_are_read(encoding: str) -> None:
    given = made("")
    given = type(given)("stream.log", REAL.replace("\n", "\r\n").encode(encoding))
    assert parse(given).runs[0].readings[3].value == 82150.6


def test_a_summary_of_rates_is_not_taken_for_stream() -> None:
    assert detect(made("# Threads   GB/sec\n1   11839.0\n2   23044.1\n")) is None
