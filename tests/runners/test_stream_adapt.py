"""A stored run of any machine, as this host can do it; what it cannot is named."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from runners.benchmarks.base import Value
from runners.benchmarks.stream import RUNNER, adapt
from runners.machine import Facts
from runners.parameters import complete
from tests.runners.test_stream import SMALL, server

REVIEW: Mapping[str, Value] = {
    "smt": "off",
    "placement": "all",
    "sockets": 2,
    "threads_per_core": 1,
    "array_gib": 16,
    "streaming_stores": "no",
}
REFERENCE = Path(__file__).parents[2] / "results" / "reference"


def stored() -> list[dict[str, Any]]:
    """Every STREAM run that is published with the project."""
    files = sorted(REFERENCE.glob("*.json"))
    runs = [run for path in files for run in json.loads(path.read_text()).get("runs", ())]
    return [run for run in runs if run["benchmark"] == "stream"]


def test_the_reviews_run_on_a_small_host_names_arrays_and_sockets() -> None:
    adapted = adapt(REVIEW, "system", SMALL)
    assert adapted.values == {
        "placement": "all",
        "threads": 2,
        "array_gib": 0.5,
        "streaming_stores": "no",
    }
    assert adapted.cannot == (
        "16 GiB arrays: this host has 24 GiB of memory; 0.5 GiB instead",
        "2 sockets: this host has one socket; that one instead",
    )


def test_a_host_like_the_runs_own_can_do_all_of_it() -> None:
    adapted = adapt(REVIEW, "system", server(cores=88))
    assert adapted.cannot == ()
    assert (adapted.values["threads"], adapted.values["array_gib"]) == (176, 16)


@pytest.mark.parametrize(
    ("changed", "scope", "facts", "values", "cannot"),
    [
        (
            {"placement": "remote", "sockets": 1, "array_gib": 0.25},
            "socket",
            SMALL,
            {"placement": "local", "array_gib": 0.25},
            ("Remote memory: this host has one NUMA node; one socket, its own memory instead",),
        ),
        (
            {"placement": "interleave", "array_gib": 1, "sockets": 1},
            "system",
            SMALL,
            {"placement": "all"},
            (
                "Interleaved memory: this host has one NUMA node; "
                "all sockets, each its own memory instead",
            ),
        ),
        ({"placement": "remote", "sockets": 1}, "socket", server(), {"threads": 4}, ()),
        (
            {"smt": "off"},
            "system",
            server(smt=True),
            {"threads": 8},
            ("SMT off: it is on on this host, and stays so",),
        ),
        ({"smt": "on", "threads_per_core": 2}, "system", server(smt=True), {"threads": 16}, ()),
        (
            {"sockets": 1},
            "system",
            server(),
            {"threads": 8},
            ("one socket: this host has 2 sockets; all 2 instead",),
        ),
        (
            {"threads": 128},
            "system",
            server(),
            {"threads": 8},
            ("128 threads: this host has 8 logical CPUs; 8 instead",),
        ),
        (
            {"threads": 8, "placement": "local", "sockets": 1},
            "socket",
            server(),
            {"threads": 4},
            ("8 threads: that part of this host has 4 logical CPUs; 4 instead",),
        ),
        (
            {"threads": 1, "placement": "local", "sockets": 1},
            "thread",
            server(),
            {"threads": 1},
            (),
        ),
        ({"ntimes": 5000}, "system", server(), {"ntimes": 1000}, ()),
        (
            {"nps": 4},
            "system",
            server(),
            {},
            ("NPS4: this host has 2 NUMA nodes",),
        ),
        (
            {"policy": "os_auto"},
            "system",
            server(),
            {},
            ("Placed by the OS: here each thread is bound to a CPU instead",),
        ),
        (
            {"placement": "local+remote"},
            "system",
            server(),
            {"placement": "local"},
            ("Placement local+remote: no such placement here; one socket, its own memory instead",),
        ),
    ],
)
def test_each_thing_is_named_with_what_stands_instead(
    changed: dict[str, Value],
    scope: str,
    facts: Facts,
    values: dict[str, Value],
    cannot: tuple[str, ...],
) -> None:
    run: dict[str, Value] = {**REVIEW, "array_gib": 1, **changed}
    adapted = adapt(run, scope, facts)
    assert {name: adapted.values[name] for name in values} == values
    assert adapted.cannot == cannot


def test_a_socket_without_a_placement_is_its_own_memory() -> None:
    assert adapt({}, "socket", server()).values["placement"] == "local"


def test_streaming_stores_that_a_cpu_has_not_are_named() -> None:
    facts = Facts(arch="riscv64", memory_gib=16.0)
    adapted = adapt({"streaming_stores": "yes"}, "system", facts)
    assert adapted.values["streaming_stores"] == "no"
    assert "Streaming stores (yes): none on riscv64; plain instead" in adapted.cannot


@pytest.mark.parametrize("facts", [SMALL, server(), server(smt=True, nodes=2), Facts()])
def test_every_published_run_becomes_values_that_are_taken(facts: Facts) -> None:
    runs = stored()
    assert len(runs) >= 40
    for run in runs:
        adapted = adapt(run["parameters"], run["scope"], facts)
        for preset in RUNNER.presets:
            values = complete(RUNNER, preset.name, adapted.values, facts)
            assert {name: values[name] for name in adapted.values} == adapted.values
        assert all(text.isprintable() and len(text) < 200 for text in adapted.cannot)


def test_values_that_are_none_are_left_aside() -> None:
    odd: dict[str, Any] = {"placement": None, "cores": "all", "array_gib": None, "threads": True}
    adapted = adapt(odd, "system", server())
    assert adapted.values["threads"] == 8
    assert adapted.values["array_gib"] == 3.0
    assert adapted.cannot == ()
