"""Parameters made complete: nothing that was typed reaches a program as it came."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runners.benchmarks.base import ParameterError, Value
from runners.benchmarks.stream import RUNNER, bounds, elements_of, plan, within
from runners.machine import Facts
from runners.parameters import complete
from tests.runners.test_stream import SMALL, server

NAMES = [parameter.name for parameter in RUNNER.parameters]
HOSTILE: list[Any] = [
    "-x",
    "--help",
    ";",
    "1;reboot",
    "$(reboot)",
    "`id`",
    "1\n2",
    "1\0",
    "9" * 10**6,
    "x" * 10**6,
    "nan",
    "inf",
    "1e999",
    "-1",
    "+1",
    " 1",
    "1_0",
    "0x10",
    "",
    "٢",
    "２",
    "−1",
    "–help",
    math.nan,
    math.inf,
    -math.inf,
    -1,
    0,
    10**5000,
    True,
    False,
    None,
    [1],
    {"a": 1},
    b"1",
    1.5,
]


def messages(name: str, value: Any, facts: Facts = SMALL) -> dict[str, str]:
    with pytest.raises(ParameterError) as caught:
        complete(RUNNER, "standard", {name: value}, facts)
    return caught.value.messages


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "value",
    HOSTILE,
    ids=lambda value: (
        repr(value)[:20].encode("unicode_escape").decode() if not isinstance(value, int) else "int"
    ),
)
def test_what_is_hostile_is_refused_by_name_or_within_bounds(name: str, value: Any) -> None:
    if (name, value) == ("array_gib", 1.5):
        assert complete(RUNNER, "standard", {name: value}, SMALL)[name] == 1.5
        return
    ((named, text),) = messages(name, value).items()
    assert named == name
    assert text.isprintable()
    assert len(text) < 400
    assert ": found " in text
    assert ", expected " in text


def test_a_refusal_says_what_was_found_what_is_expected_and_why() -> None:
    assert messages("threads", "200")["threads"] == (
        "Threads: found '200', expected a whole number from 1 to 2 (2 logical CPUs)"
    )
    assert messages("array_gib", 16)["array_gib"] == (
        "Array: found 16, expected a number from 0.001 to 4.8 GiB (three arrays may take 60 % of"
        " 24 GiB of memory; 4 times the last-level caches (32 MiB) are 0.125 GiB)"
    )
    assert messages("placement", "remote")["placement"] == (
        "Placement: found 'remote', expected one of: all, local (one NUMA node)"
    )


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(ParameterError) as caught:
        complete(RUNNER, "standard", {"threads": 0, "ntimes": "x", "array_gib": 1}, SMALL)
    assert set(caught.value.messages) == {"threads", "ntimes"}


@pytest.mark.parametrize("preset", ["", "fast", "--help", "x" * 10**6, None, 3, ["quick"]])
def test_an_unknown_preset_is_refused(preset: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        complete(RUNNER, preset, {}, SMALL)
    text = caught.value.messages["preset"]
    assert text.endswith("expected one of: quick, standard, streaming")
    assert len(text) < 200


@pytest.mark.parametrize("name", ["speed", "-p", "threads ", "Threads", "x" * 10**6, "a\nb", 3])
def test_an_unknown_name_is_refused(name: Any) -> None:
    ((named, text),) = messages(name, 1).items()
    assert named
    assert named.isprintable()
    assert len(named) < 120
    assert text.endswith("expected: placement, threads, array_gib, streaming_stores, ntimes")


def test_very_many_unknown_names_are_not_all_said() -> None:
    with pytest.raises(ParameterError) as caught:
        complete(RUNNER, "standard", {f"n{number}": 1 for number in range(10_000)}, SMALL)
    assert len(caught.value.messages) == 20


def test_no_mapping_is_refused() -> None:
    with pytest.raises(ParameterError):
        complete(RUNNER, "standard", ["threads"], SMALL)  # type: ignore[arg-type]


def test_numbers_may_be_typed() -> None:
    values = complete(RUNNER, "quick", {"threads": "2", "array_gib": "0.25", "ntimes": 5.0}, SMALL)
    assert (values["threads"], values["array_gib"], values["ntimes"]) == (2, 0.25, 5)
    assert [type(values[name]) for name in ("threads", "array_gib", "ntimes")] == [int, float, int]


@pytest.mark.parametrize("value", ["2.0", "2.5", 2.5])
def test_a_part_of_a_thread_is_no_thread(value: Any) -> None:
    assert "a whole number" in messages("threads", value)["threads"]


def test_chosen_stands_before_preset_and_preset_before_default() -> None:
    assert complete(RUNNER, "quick", {}, SMALL)["ntimes"] == 10
    assert complete(RUNNER, "quick", {"ntimes": 7}, SMALL)["ntimes"] == 7
    assert complete(RUNNER, "streaming", {}, SMALL)["streaming_stores"] == "yes"


def test_bounds_follow_what_else_was_chosen() -> None:
    facts = server()
    assert complete(RUNNER, "standard", {"threads": 8}, facts)["threads"] == 8
    with pytest.raises(ParameterError, match="found 8, expected a whole number from 1 to 4"):
        complete(RUNNER, "standard", {"threads": 8, "placement": "local"}, facts)


def taken(chosen: dict[str, Any], preset: str, facts: Facts) -> dict[str, Value] | ParameterError:
    """The values, or what was said against them."""
    try:
        return complete(RUNNER, preset, chosen, facts)
    except ParameterError as error:
        return error


scalars = st.one_of(
    st.text(),
    st.integers(),
    st.floats(),
    st.booleans(),
    st.none(),
    st.sampled_from(HOSTILE),
    st.sampled_from(["all", "local", "remote", "interleave", "no", "yes"]),
    st.integers(1, 40).map(str),
    st.decimals(0, 10, places=3).map(str),
)


@settings(max_examples=300, deadline=None)
@given(
    chosen=st.dictionaries(st.sampled_from(NAMES), scalars), preset=st.sampled_from(RUNNER.presets)
)
def test_arguments_equal_the_template_whatever_was_chosen(
    kernel_folder: Path, chosen: dict[str, Any], preset: Any
) -> None:
    facts = server(smt=True)
    values = taken(chosen, preset.name, facts)
    if isinstance(values, ParameterError):
        assert set(values.messages) <= set(NAMES)
        assert all(text.isprintable() for text in values.messages.values())
        return
    limits = {**bounds(facts), **within(values, facts)}
    assert {str(values[n]) for n in ("placement", "streaming_stores")} <= {
        word for name in ("placement", "streaming_stores") for word in limits[name].choices
    }
    nodes = {"remote": ("--nodes=1",), "interleave": ("--nodes=0,1",)}
    step = plan(values, facts, str(kernel_folder)).steps[-1]
    assert step.argv[1:] == (
        f"--elements={elements_of(float(values['array_gib']))}",
        f"--threads={int(values['threads'])}",
        f"--passes={int(values['ntimes'])}",
        f"--placement={values['placement']}",
        *nodes.get(str(values["placement"]), ()),
        f"--stores={'streaming' if values['streaming_stores'] == 'yes' else 'plain'}",
        f"--llc-bytes={768 * 2**20}",
    )
    assert step.env["OMP_NUM_THREADS"] == str(int(values["threads"]))
    assert len(step.cpus or ()) == values["threads"]


@pytest.fixture(scope="module")
def kernel_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")
