"""Reading a bundle's JSON: what is taken, and what is refused in which words."""

from __future__ import annotations

import codecs
import contextlib
import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.bundle import BundleError, read_bundle
from results.bundle.document import MOST_PROBLEMS
from results.bundle.locate import DEEPEST, lines_of
from results.bundle.problems import show
from results.bundle.schema import FILE, schema_text
from tests.results.bundles import as_bytes, bundle, measurement, read, reading_problems, run

EVIL = "<script>alert(1)</script>"
UNSEEN = {
    "NUL": "\0",
    "bell": "\a",
    "right-to-left override": "\u202e",
    "left-to-right isolate": "\u2066",
    "zero-width space": "\u200b",
    "zero-width joiner": "\u200d",
    "byte order mark": "\ufeff",
    "lone surrogate": "\ud800",
    "line separator": "\u2028",
    "soft hyphen": "\u00ad",
    "Hangul filler": "\u3164",
}


def one(given: Any) -> str:
    found = reading_problems(given)
    assert len(found) == 1, [str(problem) for problem in found]
    return str(found[0])


def test_the_committed_schema_is_that_of_the_model() -> None:
    assert FILE.read_text(encoding="utf-8") == schema_text(), "run manage.py bundle_schema --write"


def test_the_schema_takes_what_the_model_takes_and_refuses_unknown_keys() -> None:
    schema = json.loads(schema_text())
    jsonschema.validate(bundle(run()), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(bundle(run(colour="red")), schema)


def test_every_reference_bundle_fits_the_schema() -> None:
    schema = json.loads(schema_text())
    files = sorted(FILE.parents[1].glob("reference/*.json"))
    assert files
    for file in files:
        jsonschema.validate(json.loads(file.read_text(encoding="utf-8")), schema)


def test_a_whole_bundle_is_read() -> None:
    document = read(bundle(run(measurement(1, samples=[0.9, 1.1]))))
    found = document.bundle.runs[0]
    assert (found.benchmark, found.measurements[0].value) == ("stream", 1.0)
    assert found.started_at is not None
    assert found.started_at.utcoffset() is not None


def test_a_problem_names_line_and_field_of_the_bad_run_among_fifty() -> None:
    runs = [run() for _ in range(50)]
    runs[31]["measurements"][0]["value"] = "fast"
    data = as_bytes(bundle(*runs))
    document = read(data)
    (problem,) = document.problems(document.findings)
    assert problem.field == "runs[31].measurements[0].value"
    assert data.decode().splitlines()[(problem.line or 0) - 1].strip() == '"value": "fast",'
    assert len(document.bundle.runs) == 49


def test_all_problems_of_a_file_are_told_together() -> None:
    found = reading_problems(
        bundle(run(scope="planet"), run(), run(measurement(value=True)), run(system=None))
    )
    assert [problem.field for problem in found] == [
        "runs[0].scope",
        "runs[2].measurements[0].value",
        "runs[3].system",
    ]


def test_reading_stops_where_more_is_wrong_than_anyone_reads() -> None:
    found = reading_problems(bundle(*[{}] * 5_000))
    assert len(found) == MOST_PROBLEMS + 2
    assert found[0].message == "runs[0].system is missing"
    assert found[-1].message == "with so many problems, nothing from runs[1000] on was read"


def test_a_wrong_run_behind_a_thousand_is_named_by_its_place() -> None:
    document = read(bundle(*[run() for _ in range(1_500)], run(scope="planet"), run()))
    (problem,) = document.problems(document.findings)
    assert problem.field == "runs[1500].scope"
    assert document.run_path(1_500) == ("runs", 1_501)


def test_an_unknown_key_is_named_with_the_one_meant() -> None:
    assert "unknown key 'sytem', expected 'system'" in one(bundle({**run(), "sytem": "x"}))
    assert "unknown key 'valeu'" in one(bundle(run(measurement(valeu=1))))
    assert "unknown key 'run', expected 'runs'" in one(bundle(run=[]))


def test_a_missing_key_is_named() -> None:
    assert "runs[0].benchmark is missing" in one(bundle(run(benchmark=None)))
    assert "lab is missing" in one({"bundle": 1, "runs": []})


def test_a_file_that_is_no_bundle_says_so() -> None:
    assert "found a list of 1 at the top" in one([1])
    assert "expected a bundle" in one({"runs": []})
    assert "bundle: found 2, expected 1" in one(bundle(bundle=2))
    assert "empty file" in one(b"")
    assert "empty file" in one(b" \n\n")
    assert "neither JSON nor a table" in one(b"Triad: 2073\n")


def test_broken_json_is_told_with_its_line() -> None:
    found = reading_problems(b'{"bundle": 1,\n "lab": "x",\n "runs": [}')
    assert found[0].line == 3
    assert found[0].expected.startswith("JSON")


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999", "1" + "0" * 400])
@pytest.mark.parametrize("field", ["value", "low", "high", "samples"])
def test_a_number_that_is_not_finite_is_refused(text: str, field: str) -> None:
    made = run(measurement(**{field: "HERE"}))
    data = as_bytes(bundle(made)).replace(
        b'"HERE"', f"[{text}]".encode() if field == "samples" else text.encode()
    )
    (problem,) = reading_problems(data)
    assert problem.expected == "a finite number"
    assert field in problem.field


def test_a_number_of_five_thousand_digits_is_refused() -> None:
    data = as_bytes(bundle(run(measurement(7)))).replace(b'"value": 7', b'"value": ' + b"7" * 5000)
    assert "expected a finite number" in one(data)


def test_whole_numbers_beyond_2_to_the_53_are_floats() -> None:
    document = read(bundle(run(measurement(2**60 + 1))))
    assert document.bundle.runs[0].measurements[0].value == float(2**60)


@pytest.mark.parametrize("bracket", ["[", '{"a":'])
def test_twenty_thousand_brackets_are_refused(bracket: str) -> None:
    text = '{"bundle": 1,\n"runs": ' + bracket * 20_000
    (problem,) = reading_problems(text.encode())
    assert problem.line == 2
    assert problem.expected == f"at most {DEEPEST} brackets within each other"


def test_doubled_keys_are_refused_since_the_last_would_win() -> None:
    text = '{"bundle": 1, "lab": "x",\n "runs": [{"system": "a",\n "\\u0073ystem": "b"}]}'
    (problem,) = reading_problems(text.encode())
    assert (problem.line, problem.found) == (3, "'system'")


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
    ],
)
def test_text_is_decoded_by_its_byte_order_mark(mark: bytes, encoding: str) -> None:
    text = json.dumps(bundle(run(node="ノード")), ensure_ascii=False, indent=1)
    data = mark + text.replace("\n", "\r\n").encode(encoding)
    assert read(data).bundle.runs[0].node == "ノード"


def test_bytes_that_are_no_text_are_refused_with_their_line() -> None:
    assert one(b'{"bundle": 1,\n"lab": "\xff"}').startswith(
        "b.json:2: found a byte that is no text"
    )
    assert "UTF-16" in one(json.dumps(bundle()).encode("utf-16-le"))
    assert "broken UTF-16" in one(codecs.BOM_UTF16_LE + b"{\0\x00\xd8a\0")


def test_a_file_over_64_mb_is_refused_unread() -> None:
    assert "expected at most 64,000,000 bytes" in one(b" " * 64_000_001)


@pytest.mark.parametrize("name", UNSEEN)
@pytest.mark.parametrize("field", ["node", "version", "system", "note"])
def test_characters_that_cannot_be_seen_are_refused(name: str, field: str) -> None:
    (problem,) = reading_problems(bundle(run(**{field: f"a{UNSEEN[name]}b"})))
    assert "U+" in problem.expected
    assert UNSEEN[name] not in str(problem)


@pytest.mark.parametrize("part", ["setup", "parameters"])
@pytest.mark.parametrize("bad", ["a\0b", "\ud800", "a" * 10_000, EVIL + "\u202e"])
def test_names_within_an_object_are_checked_too(part: str, bad: str) -> None:
    found = reading_problems(bundle(run(**{part: {bad: "x"}})))
    assert len(found) == 1
    assert len(str(found[0])) < 500
    assert str(found[0]).isprintable()


TEXTS = ("system", "node", "benchmark", "version", "source", "not_ranked_because")


@pytest.mark.parametrize("field", TEXTS)
def test_ten_thousand_characters_are_refused_briefly(field: str) -> None:
    (problem,) = reading_problems(bundle(run(**{field: "x" * 10_000})))
    assert "(10000 characters)" in problem.found
    assert "at most" in problem.expected
    assert len(str(problem)) < 300


def test_markup_in_a_name_is_text_like_any_other() -> None:
    assert read(bundle(run(node=EVIL))).bundle.runs[0].node == EVIL


def test_names_are_stored_in_one_spelling() -> None:
    decomposed = "Me\u0301tal "
    assert read(bundle(run(node=decomposed))).bundle.runs[0].node == "M\u00e9tal"


def test_notes_may_have_lines_and_names_may_not() -> None:
    document = read(bundle(run(note="one\r\ntwo")))
    assert document.bundle.runs[0].note == "one\ntwo"
    assert "U+000A" in one(bundle(run(node="one\ntwo")))


@pytest.mark.parametrize(
    "value",
    [
        "2026-10-01T12:00:00",
        "2026-10-01",
        "yesterday",
        "1759320000",
        1759320000,
        True,
        "24:00Z",
        "",
        "1969-12-31T23:59:59Z",
        "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59-23:59",
    ],
)
def test_a_time_without_zone_or_form_is_refused(value: Any) -> None:
    assert "expected a date and time since 1970 with its zone" in one(bundle(run(started_at=value)))


@pytest.mark.parametrize("value", [[], {}, True, "x" * 101])
def test_a_parameter_is_a_plain_value(value: Any) -> None:
    (problem,) = reading_problems(bundle(run(parameters={"placement": value})))
    assert problem.field == "runs[0].parameters.placement"


def test_setup_fields_become_text_and_null_leaves_them_out() -> None:
    found = read(bundle(run(setup={"bios.nps": 4, "kernel": None, "os": ""}))).bundle.runs[0].setup
    assert found == {"bios.nps": "4", "kernel": None, "os": None}


@pytest.mark.parametrize("url", ["javascript:alert(1)", "ftp://x", "https://a b", "//x"])
def test_an_address_is_http_or_refused(url: str) -> None:
    sources = [{"id": "s", "title": "t", "url": url}]
    assert "http" in one(bundle(sources=sources))


def test_hostile_keys_print_safely() -> None:
    message = one(bundle({**run(), "\u202e\n": 1}))
    assert message.isprintable()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(JSON)
def test_no_json_whatsoever_breaks_the_reader(value: Any) -> None:
    for made in (value, bundle(value), bundle(run(setup=value)), bundle(run(measurements=[value]))):
        for problem in reading_problems(json.dumps(made).encode()):
            assert str(problem).isprintable()
            assert problem.line is None or problem.line >= 1


@given(st.binary(max_size=200))
def test_no_bytes_whatsoever_break_the_reader(data: bytes) -> None:
    for start in (b"", b"{", b"system,benchmark,scope,metric,value,unit\n"):
        with contextlib.suppress(BundleError):
            read_bundle(start + data, name="x")


@given(JSON)
def test_lines_are_those_of_the_values(value: Any) -> None:
    text = json.dumps({"a": value, "b": [value, {"c": 5}]}, indent=1)
    line = lines_of(text, [("b", 1, "c")])[("b", 1, "c")]
    assert text.splitlines()[line - 1].strip() == '"c": 5'


def test_a_line_is_that_of_the_nearest_part_where_the_path_ends_early() -> None:
    text = '{\n"a": [\n{"x":\n1}]}'
    paths = [("a", 0, "gone"), ("a", 7), ("nothing",), ("a", 0, "x")]
    assert list(lines_of(text, paths).values()) == [3, 2, 1, 4]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        (True, "true"),
        (float("nan"), "NaN"),
        (10**30, "1e+30"),
        ([1, 2], "a list of 2"),
        ({}, "an empty object"),
        ("a\tb", "'a\\u0009b'"),
    ],
)
def test_found_values_are_shown_briefly(value: Any, shown: str) -> None:
    assert show(value) == shown
