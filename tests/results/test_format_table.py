"""A CSV among uploaded files: told by its head, its dialect said in the preview."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from results import formats
from results.bundle import Bundle, BundleError, Defaults, Document, write_csv
from results.formats.base import Draft, File
from tests.results.bundles import LAB, bundle, measurement, run

HEAD = "system;benchmark;scope;metric;value;unit"
GIVEN = Defaults(lab=LAB)


def draft(*lines: str, encoding: str = "utf-8") -> Draft:
    return formats.parse(File("t.csv", "\r\n".join(lines).encode(encoding)))


def read(*lines: str) -> Document:
    reads = draft(*lines).reads
    assert reads is not None
    return reads(GIVEN)


def row(value: str, metric: str = "triad.bandwidth") -> str:
    return f"a;stream;system;{metric};{value};GB/s"


@pytest.mark.parametrize(
    "head",
    [
        "metric,benchmark",
        "system;benchmark;scope;metric;value;unit",
        '"benchmark"\t"metric"\t"value"',
        "sep=;\nbenchmark;metric;value",
        "sep=|\nbenchmark|metric|value",
        "benchmark;metrc;value",
        "Benchmark;Metric;Value",
        "benchmark,value,unit",
        "system,bench,scope,metric,value",
        "\n\n benchmark , metric\n",
    ],
)
def test_a_table_is_told_by_its_head(head: str) -> None:
    assert formats.detect(File("x", head.encode())) == "table"
    assert formats.detect(File("x", codecs.BOM_UTF16_LE + head.encode("utf-16-le"))) == "table"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "sep=;",
        "benchmark metric value",
        "Function    Best Rate MB/s  Avg time     Min time     Max time",
        "time,cpu,value,unit",
        "<?xml version='1.0'?>",
        "GET,1000,200",
        "benchmark: stream, metric: triad, value: 3",
        '{"benchmark": 1, "metric": 2, "value": 3}',
        "\0\1\2,benchmark",
    ],
)
def test_other_texts_are_no_tables(text: str) -> None:
    assert formats.detect(File("x", text.encode())) != "table"


def test_a_misspelt_head_names_its_column() -> None:
    with pytest.raises(BundleError) as caught:
        read("system;benchmark;scope;metrc;value;unit", row("1"))
    messages = [problem.message for problem in caught.value.problems]
    assert messages == [
        "unknown column 'metrc', expected 'metric'",
        "column 'metric' is missing",
    ]


def test_a_plain_table_needs_no_remark() -> None:
    found = draft("system,benchmark,scope,metric,value,unit", "a,stream,system,t,1.5,GB/s")
    assert found.remarks == ()


def test_delimiter_and_decimal_comma_are_said_with_their_lines() -> None:
    found = draft(HEAD, row("2"), row("1,5", "copy.bandwidth"))
    assert [(remark.text, remark.line, remark.file) for remark in found.remarks] == [
        ("The columns are parted by semicolons.", 1, "t.csv"),
        (
            "Numbers are read with a decimal comma: 1,5 is one and a half; "
            "the first such is in line 3.",
            3,
            "t.csv",
        ),
    ]


def test_a_line_for_excel_above_the_head_moves_every_line() -> None:
    found = draft("sep=;", HEAD, row("1,5"))
    assert [remark.line for remark in found.remarks] == [2, 3]
    assert found.reads
    (problem,) = problems("sep=;", HEAD, row("1,5"), row("x", "copy.bandwidth"))
    assert problem == (4, "'x'", "a number with a decimal comma, such as 1,5")


def problems(*lines: str) -> list[tuple[int | None, str, str]]:
    try:
        document = read(*lines)
    except BundleError as error:
        found = list(error.problems)
    else:
        found = document.problems(document.findings)
    return [(problem.line, problem.found, problem.expected) for problem in found]


def test_points_that_may_part_thousands_are_said() -> None:
    found = draft(HEAD, row("1.234"))
    assert found.remarks[1].text == (
        "Numbers are read with a decimal point: 1.234 in line 2 is not read as 1234."
    )
    assert len(draft(HEAD, row("1.234"), row("1.5", "copy.bandwidth")).remarks) == 1


def test_a_table_in_the_encoding_of_a_western_spreadsheet_says_how_to_save_it() -> None:
    with pytest.raises(BundleError) as caught:
        draft(f"{HEAD};note", f"{row('1')};für später", encoding="cp1252")
    (problem,) = caught.value.problems
    assert (problem.line, problem.found) == (2, "a byte that is no text (fc)")
    assert "saves as 'CSV UTF-8'" in problem.expected


def test_a_delimiter_that_is_not_read_is_refused() -> None:
    with pytest.raises(BundleError, match="found the delimiter '\\|'"):
        draft("sep=|", HEAD.replace(";", "|"), row("1").replace(";", "|"))


@settings(deadline=None, max_examples=200)
@given(st.text(alphabet="0123456789,.;\t\"'= -+eE\r\nx", max_size=60))
def test_any_cells_are_read_or_refused_in_words(text: str) -> None:
    found = problems(HEAD, text)
    assert all(found and expected for _, found, expected in found)


# Cells that a spreadsheet would take for formulas: out and in again.

FIRST = st.sampled_from(["=", "+", "-", "@", "'", "'=", "''-", "", "a", "=cmd|'", '"'])


def texts(alphabet: str) -> st.SearchStrategy[str]:
    return st.builds("{}{}".format, FIRST, st.text(alphabet=alphabet, max_size=12))


LINE = texts("abc =+-@'\";,1.é").filter(lambda text: text.strip() != "null")
LINES = texts("abc =+-@'\";,\t\n1.é")
NUMBER = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


@settings(deadline=None, max_examples=100)
@given(LINES, LINE, LINE, LINE, NUMBER)
def test_text_is_defused_and_numbers_stay_numbers(
    note: str, node: str, setting: str, field: str, value: float
) -> None:
    whole = run(
        measurement(value, note=note),
        node=node,
        parameters={"engine": setting, "array_gib": -1.5, "threads": -7},
        setup={"os": field},
    )
    before = Bundle.model_validate(bundle(whole))
    text = write_csv(before)
    document = formats.parse(File("t.csv", text.encode())).reads
    assert document is not None
    after = document(GIVEN).bundle.runs[0]
    first = before.runs[0]
    assert after.measurements[0].value == value
    assert (after.measurements[0].note or "") == (first.measurements[0].note or "")
    assert (after.node or "") == (first.node or "")
    assert after.setup.get("os") == (first.setup["os"] or None)
    assert (after.parameters.get("engine") or "") == first.parameters["engine"]
    assert (after.parameters["array_gib"], after.parameters["threads"]) == ("-1.5", "-7")
    assert ",-7," in text.replace("\r\n", ",")


@pytest.mark.parametrize("first", "=+-@")
def test_no_written_text_begins_a_formula(first: str) -> None:
    given = run(measurement(-1.5, note=f"{first}1+1"), node=f"{first}2", setup={"os": f"{first}3"})
    text = write_csv(Bundle.model_validate(bundle(given)))
    cells = text.splitlines()[1].split(",")
    assert [cell for cell in cells if cell.startswith(first) and cell != "-1.5"] == []
    assert [cell for cell in cells if first in cell[:2]] == [
        f"'{first}2",
        *(["-1.5"] if first == "-" else []),
        f"'{first}1+1",
        f"'{first}3",
    ]
