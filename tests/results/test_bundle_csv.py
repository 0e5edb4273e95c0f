"""Reading and writing a bundle as a table, as spreadsheets make them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.bundle import Bundle, BundleError, Defaults, Document, Problem, read_bundle, write_csv
from results.bundle.columns import defuse, undefuse
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


SEMI = HEAD.replace(",", ";")


def semi(value: str, metric: str = "triad.bandwidth", **more: str) -> str:
    return ";".join(["a", "stream", "system", metric, value, "GB/s", *more.values()])


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_decimal_comma_is_read_where_all_numbers_agree(delimiter: str) -> None:
    head = f"{SEMI};low;high;param.array_gib;setup.compiler"
    rows = [
        "a;stream;system;triad.bandwidth;-1,5;GB/s;;;0,5;GCC 12,1",
        "a;stream;system;copy.bandwidth;;GB/s;1,234;2,5e3;0,5;GCC 12,1",
        "a;stream;system;scale.bandwidth;7;GB/s;;;0,5;GCC 12,1",
    ]
    (found,) = read(*(line.replace(";", delimiter) for line in (head, *rows))).bundle.runs
    assert [(m.value, m.low, m.high) for m in found.measurements] == [
        (-1.5, None, None),
        (None, 1.234, 2500.0),
        (7.0, None, None),
    ]
    assert found.parameters == {"array_gib": "0.5"}
    assert found.setup == {"compiler": "GCC 12,1"}


def test_a_parameter_that_the_catalogue_has_as_text_keeps_its_comma_and_point() -> None:
    head, rest = f"{SEMI};param.engine;param.engine_version", {"engine": "a,b", "v": "12.1"}
    row = ";".join(["a", "hammerdb", "system", "tpcc.nopm", "1,5", "NOPM", *rest.values()])
    found = read(head, row).bundle.runs[0]
    assert found.measurements[0].value == 1.5
    assert found.parameters == {"engine": "a,b", "engine_version": "12.1"}


def test_where_signs_are_mixed_each_number_with_the_rarer_is_named() -> None:
    found = wrong(SEMI, semi("1,5"), semi("2.5", "copy.bandwidth"), semi("3,5", "add.bandwidth"))
    assert [(p.line, p.field, p.found) for p in found] == [(3, "value", "'2.5'")]
    assert found[0].expected == "one decimal sign in all numbers: a comma, as '1,5' in line 2"
    found = wrong(SEMI, semi("1.5"), semi("2,5", "copy.bandwidth"), semi("3", "add.bandwidth"))
    assert [(p.line, p.field, p.found) for p in found] == [(3, "value", "'2,5'")]
    assert found[0].expected == "one decimal sign in all numbers: a point, as '1.5' in line 2"


def test_a_number_in_a_parameter_counts_too() -> None:
    (problem,) = wrong(f"{SEMI};param.array_gib", semi("1.5", array="0,5"))
    assert (problem.line, problem.field, problem.found) == (2, "param.array_gib", "'0,5'")


def test_commas_that_may_part_thousands_are_refused_with_both_readings() -> None:
    found = wrong(SEMI, semi("1,234"), semi("12,500", "copy.bandwidth"), semi("7", "add.bandwidth"))
    assert [(p.line, p.found) for p in found] == [
        (2, "'1,234', which may be 1.234 or 1234"),
        (3, "'12,500', which may be 12.500 or 12500"),
    ]
    assert "nothing between its thousands, such as 1234.5" in found[0].expected


@pytest.mark.parametrize("sure", ["0,234", "1,23", "1234,567", "1,2345", ",5"])
def test_one_number_that_can_only_be_a_decimal_settles_the_others(sure: str) -> None:
    found = read(SEMI, semi("1,234"), semi(sure, "copy.bandwidth")).bundle.runs[0]
    assert [m.value for m in found.measurements] == [1.234, float(sure.replace(",", "."))]


@pytest.mark.parametrize(
    "cell",
    [
        "1.234,5",
        "1,234.5",
        "1 234,5",
        "1\u00a0234,5",
        "1\u202f234",
        "1'234.5",
        "1’234",
        "1,234,567",
    ],
)
@pytest.mark.parametrize("other", ["1,5", "1.5", "1"])
def test_signs_between_thousands_are_refused(cell: str, other: str) -> None:
    (problem,) = wrong(SEMI, semi(other), semi(cell, "copy.bandwidth"))
    assert problem.line == 3
    assert problem.found.startswith("'1")
    assert problem.expected.endswith("nothing between its thousands, such as 1234.5")


def test_lines_are_right_in_every_dialect() -> None:
    rows = [
        f'{semi("1,5")};"one\r\ntwo\nthree"',
        "",
        ";;;;;;",
        semi("x", "copy.bandwidth", note=""),
    ]
    for above in ([], ["sep=;"]):
        (problem,) = wrong(*above, f"{SEMI};note", *rows, end="\r\n")
        assert problem.line == 7 + len(above)
    document = read("sep=;", f"{SEMI};note", *rows[:3], semi("2", "add.bandwidth", n=""))
    path = ("runs", 0, "measurements", 1)
    assert document.lines([path]) == {path: 8}


def test_a_head_or_row_may_end_in_a_delimiter() -> None:
    found = read(f"{SEMI};;", f"{semi('1,5')};;", f"{semi('2', 'copy.bandwidth')};;;;")
    assert len(found.bundle.runs[0].measurements) == 2
    assert wrong(f"{SEMI};;", f"{semi('1,5')};;7")[0].found == "8 cells"
    assert wrong("system;;benchmark;metric", "a;;b;c")[0].found == "no name in column 2"


def test_a_decimal_comma_between_commas_says_that_cells_want_quotes() -> None:
    (problem,) = wrong(HEAD, ROW.replace("100", "1,5"))
    assert problem.found == "7 cells"
    assert "stands in quotes" in problem.expected


def test_lines_that_end_in_cr_alone_are_refused() -> None:
    assert wrong(HEAD, ROW, end="\r")[0].found == "a line that ends in CR alone"


@pytest.mark.parametrize("name", ["a,b,c,d,e", "a;b;c;d;e;f;g;h;i"])
def test_the_delimiter_is_the_one_by_which_columns_are_known(name: str) -> None:
    found = read(f'{HEAD},"param.{name}"', f"{ROW},x").bundle.runs[0]
    assert found.parameters == {name: "x"}


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
