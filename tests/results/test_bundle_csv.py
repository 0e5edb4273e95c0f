"""Reading and writing a bundle as a table, as spreadsheets make them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.bundle import Bundle, BundleError, Defaults, Document, Problem, read_bundle, write_csv
from results.bundle.csvfile import defuse, undefuse
from tests.results.bundles import LAB, bundle, measurement, run

HEAD = "system,benchmark,scope,metric,value,unit"
ROW = "a,stream,system,triad.bandwidth,100,GB/s"


def read(*lines: str, end: str = "\n", **given: Any) -> Document:
    defaults = Defaults(**{"lab": LAB, **given})
    return read_bundle(end.join(lines).encode(), name="t.csv", defaults=defaults)


def wrong(*lines: str, **given: Any) -> list[Problem]:
    try:
        document = read(*lines, **given)
    except BundleError as error:
        return list(error.problems)
    return document.problems(document.findings)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r\n\r\n"])
def test_a_row_is_a_measurement(end: str) -> None:
    found = read(HEAD, ROW, end=end).bundle.runs
    assert [m.value for m in found[0].measurements] == [100.0]


def test_rows_that_differ_only_in_metric_and_value_are_one_run() -> None:
    rows = [ROW, ROW.replace("triad", "copy").replace("100", "90"), ROW.replace("a,", "b,", 1)]
    found = read(HEAD, *rows).bundle.runs
    assert [[m.metric for m in one.measurements] for one in found] == [
        ["triad.bandwidth", "copy.bandwidth"],
        ["triad.bandwidth"],
    ]


def test_the_same_metric_again_is_another_run() -> None:
    assert len(read(HEAD, ROW, ROW.replace("100", "101")).bundle.runs) == 2


def test_parameters_and_setup_have_columns() -> None:
    head = f"{HEAD},param.smt,setup.bios.nps,node,started_at,note,param.placement"
    found = read(head, f"{ROW},on,4,n1,2026-10-01T12:00:00+02:00,warm,null").bundle.runs[0]
    assert found.parameters == {"smt": "on", "placement": None}
    assert found.setup == {"bios.nps": "4"}
    assert (found.node, found.measurements[0].note) == ("n1", "warm")


def test_a_comma_decimal_is_an_error_with_its_line() -> None:
    (problem,) = wrong(HEAD, ROW, 'a,stream,system,copy.bandwidth,"1,5",GB/s')
    assert (problem.line, problem.field, problem.found) == (3, "value", "'1,5'")
    assert "decimal point" in problem.expected


@pytest.mark.parametrize(
    "cell", ["1.234,5", "1 234", "NaN", "inf", "0x10", "1e", "12GB", "1_000", "１２"]
)
def test_other_forms_of_number_are_errors(cell: str) -> None:
    (problem,) = wrong(HEAD, f'a,stream,system,copy.bandwidth,"{cell}",GB/s')
    assert "a number with a decimal point" in problem.expected


def test_an_infinite_number_is_an_error() -> None:
    (problem,) = wrong(HEAD, "a,stream,system,copy.bandwidth,1e999,GB/s")
    assert problem.expected == "a finite number"


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_semicolons_and_tabs_may_part_the_columns(delimiter: str) -> None:
    found = read(HEAD.replace(",", delimiter), ROW.replace(",", delimiter))
    assert found.bundle.runs[0].system == "a"


def test_lines_are_right_below_a_cell_of_several_lines() -> None:
    (problem,) = wrong(f"{HEAD},note", f'{ROW},"one\ntwo\nthree"', f"{ROW.replace('100', 'x')},")
    assert problem.line == 5


def test_unknown_missing_and_doubled_columns_are_named() -> None:
    found = wrong("system,benchmark,metric,valeu,unit,unit", "a,b,c,1,s,s")
    assert [problem.message for problem in found] == [
        "unknown column 'valeu', expected 'value'",
        "column 'unit' stands twice",
        "column 'scope' is missing",
    ]


def test_rows_of_another_length_and_open_quotes_are_refused() -> None:
    assert wrong(HEAD, f"{ROW},7")[0].found == "7 cells"
    assert "broken row" in wrong(HEAD, 'a,"stream')[0].found


def test_a_table_without_rows_or_lab_is_refused() -> None:
    assert wrong(HEAD)[0].expected == "one row a measurement"
    assert wrong(HEAD, ROW, lab="")[0].field == "lab"


def test_the_system_may_be_given_beside_the_table() -> None:
    head, row = HEAD.removeprefix("system,"), ROW.removeprefix("a,")
    assert read(head, row, system="z").bundle.runs[0].system == "z"
    assert wrong(head, row)[0].message == "column 'system' is missing"


def test_settings_fill_in_and_contradictions_are_told() -> None:
    settings = {"smt": "on", "setup.os": "Debian 12", "node": "n7"}
    found = read(HEAD, ROW, settings=settings).bundle.runs[0]
    assert (found.parameters, found.setup, found.node) == ({"smt": "on"}, {"os": "Debian 12"}, "n7")
    (problem,) = wrong(f"{HEAD},param.smt", f"{ROW},off", settings={"smt": "on"})
    assert (problem.field, problem.found) == ("param.smt", "'off'")
    assert problem.expected.startswith("'on'")


@given(st.text(max_size=20))
def test_a_defused_cell_is_no_formula_and_comes_back(cell: str) -> None:
    assert undefuse(defuse(cell)) == cell
    assert not defuse(cell).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_a_table_written_is_read_back() -> None:
    runs = [
        run(measurement(-1.5), measurement(0.1, metric="copy.bandwidth"), node="=1+1"),
        run(measurement(None, low=1.0, high=2.0, note="@x"), node="'quoted", note=None),
        run(node="-7", parameters={"placement": None, "array_gib": 0.5}, ordinal=3),
    ]
    before = Bundle.model_validate(bundle(*runs))
    text = write_csv(before)
    assert "'=1+1" in text
    after = read_bundle(text.encode(), defaults=Defaults(lab=LAB)).bundle
    assert [m.value for one in after.runs for m in one.measurements] == [-1.5, 0.1, None, 100.0]
    assert [one.node for one in after.runs] == ["=1+1", "'quoted", "-7"]
    assert after.runs[2].parameters == {"placement": None, "array_gib": "0.5"}
    assert after.runs[2].ordinal == 3
