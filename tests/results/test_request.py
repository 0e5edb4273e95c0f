"""The address of a comparison: read, refused, written, and read again."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import QueryDict
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from results.compare import CompareError
from results.hints import hint
from results.models import Comparison
from results.request import State, address, read_state, stored_address

DEFAULT = Comparison(
    slug="six", title="Six", columns=["a", "b", "c"], factor="system", baseline="b", per="total"
)
NAMES = st.text("abcdefgh-_.,@=&%+日本", min_size=1, max_size=8)


def read(text: str, stored: Comparison | None = DEFAULT, *, strict: bool = False) -> State:
    return read_state(QueryDict(text), stored, strict=strict)


def errors(text: str) -> dict[str, list[str]]:
    with pytest.raises(CompareError) as caught:
        read(text, strict=True)
    return caught.value.fields


def test_an_empty_address_asks_for_the_stored_comparison() -> None:
    state = read("")
    assert (state.systems, state.baseline) == (("a", "b", "c"), "b")
    assert state.arguments() == {
        "systems": ("a", "b", "c"),
        "benchmarks": (),
        "factor": "system",
        "baseline": "b",
        "per": "total",
        "axis": "",
        "params": {},
    }


def test_what_an_address_says_overrides_the_stored_comparison() -> None:
    state = read("factor=smt&per=core&baseline=c&benchmark=stream/triad&axis=threads")
    assert state.systems == ("a", "b", "c")
    assert (state.factor, state.per, state.baseline) == ("smt", "core", "c")
    assert (state.benchmarks, state.axis) == (("stream/triad",), "threads")


def test_columns_of_the_address_leave_nothing_of_the_stored_comparison() -> None:
    state = read("system=x&system=y@smt=on")
    assert (state.systems, state.baseline) == (("x", "y@smt=on"), "")


def test_without_a_stored_comparison_there_are_no_columns() -> None:
    assert read("", None).systems == ()


def test_empty_values_are_as_if_not_given() -> None:
    assert read("system=&factor=&baseline=&per=&axis=&benchmark=&lang=") == read("")


def test_repeated_columns_count_once_and_keep_their_order() -> None:
    assert read("system=y&system=x&system=y").systems == ("y", "x")


def test_parameters_keep_all_their_values_and_empty_means_absent() -> None:
    state = read("param.smt=on&param.smt=off&param.placement=")
    assert state.params == {"smt": ("on", "off"), "placement": ("",)}


def test_unknown_names_are_listed_but_not_fatal_on_a_page() -> None:
    state = read("systm=a&fbclid=1")
    assert state.systems == ("a", "b", "c")
    assert len(state.unknown) == 2
    assert "did you mean system" in state.unknown[0]


def test_unknown_names_are_errors_in_the_api_with_a_hint() -> None:
    assert "did you mean benchmark" in errors("benchmarks=stream")["benchmarks"][0]
    assert "param.smt" in errors("param-smt=on")["param-smt"][0]
    assert set(errors("a=1&b=2&param.=3")) == {"a", "b", "param."}


def test_single_names_given_twice_are_errors_in_the_api_and_the_last_counts_on_a_page() -> None:
    assert "more than once" in errors("factor=smt&factor=engine")["factor"][0]
    assert read("factor=smt&factor=engine").factor == "engine"


def test_an_unknown_language_is_an_error_in_the_api_and_ignored_on_a_page() -> None:
    assert "zh-hans" in errors("lang=tlh")["lang"][0]
    assert read("lang=tlh").lang == ""
    assert read("lang=JA", strict=True).lang == "ja"


@pytest.mark.parametrize("query", ["system=a%00b", "factor=%0A", "param.%00=1", "per=%7F"])
def test_control_characters_are_refused_everywhere(query: str) -> None:
    with pytest.raises(CompareError, match="control character"):
        read(query)


@pytest.mark.parametrize("query", ["system=", "baseline=", "param.smt=", "x"])
def test_ten_thousand_characters_are_refused_everywhere(query: str) -> None:
    with pytest.raises(CompareError, match=r"1000[01]"):
        read(query + "x" * 10_000)


def test_broken_encoding_is_read_as_replacement_characters() -> None:
    assert read("system=%ED%A0%80%FF").systems == ("\ufffd\ufffd\ufffd\ufffd",)


def test_the_address_of_the_default_is_empty() -> None:
    assert address(read("")) == "?"
    assert address(read("system=a&system=b&system=c&baseline=b")) == "?"


def test_an_address_says_only_what_differs_in_a_fixed_order() -> None:
    state = read("lang=ja&per=core&param.smt=on&param.placement=all&factor=engine")
    assert address(state) == "?factor=engine&per=core&param.placement=all&param.smt=on&lang=ja"
    assert address(state, per="total", lang="") == (
        "?factor=engine&param.placement=all&param.smt=on"
    )


def test_a_whole_address_names_its_columns() -> None:
    assert address(read("per=core"), whole=True) == (
        "?system=a&system=b&system=c&baseline=b&per=core"
    )


def test_taking_back_the_stored_baseline_needs_the_columns() -> None:
    assert address(read(""), baseline="") == "?system=a&system=b&system=c"


def test_column_keys_stay_readable_in_an_address() -> None:
    text = address(read(""), systems=("a@engine=mariadb,engine_version=12.3.3",), baseline="")
    assert text == "?system=a@engine=mariadb,engine_version=12.3.3"


def test_a_stored_comparison_has_an_address_that_stands_alone() -> None:
    assert stored_address(DEFAULT) == "?system=a&system=b&system=c&baseline=b"


def test_hints_name_the_nearest_or_everything() -> None:
    assert hint("smtt", ["smt", "engine"]) == "did you mean smt?"
    assert hint("vera", ["nvidia-mgx-vera-c2", "vega"]) == "did you mean nvidia-mgx-vera-c2?"
    assert hint("zzz", ["smt", "engine"]) == "expected one of smt, engine"


STATES = st.fixed_dictionaries(
    {
        "systems": st.lists(NAMES, min_size=1, max_size=4, unique=True).map(tuple),
        "benchmarks": st.lists(NAMES, max_size=3, unique=True).map(tuple),
        "factor": NAMES,
        "baseline": st.just("") | NAMES,
        "per": NAMES,
        "axis": st.just("") | NAMES,
        "params": st.dictionaries(
            NAMES, st.lists(st.just("") | NAMES, min_size=1, max_size=3, unique=True).map(tuple)
        ),
        "lang": st.sampled_from(["", "ja", "zh-hans"]),
    }
)


# No limits of time: a busy machine is no fault of the code.
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(STATES)
def test_every_state_is_read_back_from_its_address(fields: dict[str, Any]) -> None:
    state = State(**fields, stored=read("").stored)
    back = read(address(state)[1:])
    assert back.arguments() == state.arguments()
    assert back.lang == state.lang
