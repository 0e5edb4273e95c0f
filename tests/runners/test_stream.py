"""STREAM's runner: what a host may be asked for, what is run there, what the run stands for."""

from __future__ import annotations

import math
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from results.formats import parse
from results.formats.base import File
from runners import kernels
from runners.benchmarks.base import Plan
from runners.benchmarks.stream import RUNNER, bounds, check, elements_of, plan, progress, within
from runners.machine import Cpu, Facts, Node
from runners.parameters import complete

SMALL = Facts(
    cpus=(Cpu(0, 0), Cpu(1, 1)),
    nodes=(Node(0, 24.0, (0, 1)),),
    arch="x86-64",
    llc_mib=32,
    memory_gib=24.0,
)


def server(*, sockets: int = 2, cores: int = 4, smt: bool = False, nodes: int = 1) -> Facts:
    """A server as Linux numbers it: cores of all sockets first, their other threads behind."""
    cpus = [
        Cpu(
            core + cores * (socket + sockets * thread),
            core,
            socket,
            socket * nodes + core * nodes // cores,
        )
        for thread in range(2 if smt else 1)
        for socket in range(sockets)
        for core in range(cores)
    ]
    memory = tuple(
        Node(number, 64.0, tuple(cpu.number for cpu in cpus if cpu.node == number))
        for number in range(sockets * nodes)
    )
    return Facts(
        cpus=tuple(cpus),
        nodes=memory,
        arch="x86-64",
        llc_mib=768,
        memory_gib=64.0 * len(memory),
        smt="on" if smt else "off",
    )


def planned(facts: Facts, tmp_path: Path, **chosen: Any) -> Plan:
    return plan(complete(RUNNER, "standard", chosen, facts), facts, str(tmp_path))


def test_by_default_each_core_has_a_thread_and_arrays_are_four_times_the_caches() -> None:
    facts = server(smt=True)
    assert complete(RUNNER, "standard", {}, facts) == {
        "placement": "all",
        "threads": 8,
        "array_gib": 3.0,
        "streaming_stores": "no",
        "ntimes": 20,
    }


def test_placements_on_one_socket_have_the_threads_and_memory_of_one() -> None:
    facts = server(smt=True)
    for placement in ("local", "remote"):
        assert complete(RUNNER, "quick", {"placement": placement}, facts)["threads"] == 4
        limits = within({"placement": placement}, facts)
        assert limits["threads"].maximum == 8
        assert limits["threads"].because == "8 logical CPUs, those of one socket or node"
        assert limits["array_gib"].maximum == 12.8
    assert within({"placement": "all"}, facts)["array_gib"].maximum == 25.6


def test_a_host_of_one_node_has_no_remote_memory() -> None:
    assert bounds(SMALL)["placement"].choices == ("all", "local")
    assert bounds(SMALL)["placement"].because == "one NUMA node"
    assert set(bounds(server())["placement"].choices) == {"all", "local", "remote", "interleave"}


def test_arrays_are_bounded_by_the_memory_and_it_is_said() -> None:
    bound = bounds(SMALL)["array_gib"]
    assert (bound.default, bound.maximum) == (0.5, 4.8)
    assert bound.because == (
        "three arrays may take 60 % of 24 GiB of memory; "
        "4 times the last-level caches (32 MiB) are 0.125 GiB"
    )
    poor = bounds(Facts(cpus=(Cpu(0, 0),), llc_mib=32, memory_gib=0.5))["array_gib"]
    assert poor.default == poor.maximum == 0.1


def test_what_is_not_known_of_a_host_is_said_and_not_guessed() -> None:
    bound = bounds(Facts())["array_gib"]
    assert (bound.default, bound.maximum) == (1.0, 1.0)
    assert "not known" in bound.because
    caches = bounds(Facts(memory_gib=24.0))["array_gib"]
    assert (caches.default, caches.maximum) == (1.0, 4.8)
    assert "how large the last-level caches are, is not known" in caches.because


def test_presets_are_within_the_rules_and_differ_in_what_they_say() -> None:
    quick, standard, streaming = (complete(RUNNER, p.name, {}, SMALL) for p in RUNNER.presets)
    assert quick["array_gib"] == standard["array_gib"] == 0.5
    assert (quick["ntimes"], standard["ntimes"]) == (10, 20)
    assert streaming == {**standard, "streaming_stores": "yes"}


def test_the_arguments_are_numbers_and_words(tmp_path: Path) -> None:
    step = planned(SMALL, tmp_path, array_gib="0.25", threads="1").steps[-1]
    assert step.argv == (
        kernels.build("bandwidth", tmp_path).path,
        "--elements=33554432",
        "--threads=1",
        "--passes=20",
        "--placement=all",
        "--stores=plain",
        "--llc-bytes=33554432",
    )
    assert (step.cpus, step.finished) == ((0,), "^Finished$")


def test_each_thread_has_a_place(tmp_path: Path) -> None:
    step = planned(server(smt=True), tmp_path, threads=10).steps[-1]
    assert step.cpus == (0, 1, 2, 3, 4, 5, 6, 7, 8, 12)
    assert step.env == {
        "OMP_NUM_THREADS": "10",
        "OMP_DYNAMIC": "false",
        "OMP_PROC_BIND": "close",
        "OMP_PLACES": "{0},{1},{2},{3},{4},{5},{6},{7},{8},{12}",
    }


def test_fewer_threads_than_cores_are_even_over_the_sockets(tmp_path: Path) -> None:
    assert planned(server(), tmp_path, threads=4).steps[-1].cpus == (0, 1, 4, 5)
    local = planned(server(), tmp_path, placement="local", threads=2)
    assert local.steps[-1].cpus == (0, 1)


@pytest.mark.parametrize(("placement", "nodes"), [("remote", "2,3"), ("interleave", "0,1,2,3")])
def test_memory_of_other_nodes_is_asked_for(tmp_path: Path, placement: str, nodes: str) -> None:
    step = planned(server(nodes=2), tmp_path, placement=placement).steps[-1]
    assert f"--nodes={nodes}" in step.argv
    assert step.cpus == ((0, 1, 2, 3) if placement == "remote" else tuple(range(8)))


def test_on_one_socket_of_several_nodes_remote_is_another_node(tmp_path: Path) -> None:
    step = planned(server(sockets=1, nodes=2), tmp_path, placement="remote").steps[-1]
    assert step.cpus == (0, 1)
    assert "--nodes=1" in step.argv


def test_a_node_without_memory_is_nobodys_memory() -> None:
    facts = Facts(cpus=(Cpu(0, 0),), nodes=(Node(0, 8.0, (0,)), Node(1, 0.0)), memory_gib=8.0)
    assert bounds(facts)["placement"].choices == ("all", "local")


@pytest.mark.parametrize(
    ("facts", "chosen", "scope", "stands"),
    [
        (server(), {}, "system", {"smt": "off", "sockets": 2}),
        (server(smt=True), {"threads": 16}, "system", {"smt": "on", "threads_per_core": 2}),
        (server(), {"placement": "local"}, "socket", {"sockets": 1}),
        (server(), {"placement": "remote"}, "socket", {"sockets": 1}),
        (server(), {"placement": "interleave"}, "system", {"sockets": 2}),
        (server(), {"threads": 1}, "thread", {"threads": 1, "sockets": 1}),
        (server(), {"threads": 4}, "cores", {"cores": 4, "sockets": 2}),
        (server(), {"placement": "local", "threads": 2}, "cores", {"cores": 2}),
        (server(sockets=1), {}, "system", {"sockets": 1}),
        # A whole socket and a whole system of one are told apart by what was meant.
        (server(sockets=1), {"placement": "local"}, "socket", {"sockets": 1}),
        (server(sockets=1, cores=1), {}, "system", {"sockets": 1}),
    ],
)
def test_the_run_stands_for_what_was_loaded(
    tmp_path: Path, facts: Facts, chosen: dict[str, Any], scope: str, stands: dict[str, Any]
) -> None:
    made = planned(facts, tmp_path, **chosen)
    assert made.scope == scope
    expected = {"threads_per_core": 1, **stands}
    assert {name: made.parameters[name] for name in expected} == expected
    assert ("cores" in made.parameters) == (scope == "cores")


def test_a_run_of_all_cores_stands_in_the_reviews_row(tmp_path: Path) -> None:
    made = planned(server(cores=88), tmp_path, array_gib=16)
    review = {
        "smt": "off",
        "placement": "all",
        "sockets": 2,
        "threads_per_core": 1,
        "array_gib": 16,
        "streaming_stores": "no",
    }
    assert (made.scope, {name: made.parameters[name] for name in review}) == ("system", review)


def test_smt_that_is_not_known_is_not_stated(tmp_path: Path) -> None:
    assert "smt" not in planned(SMALL, tmp_path).parameters


def test_arrays_below_the_rules_are_remarked(tmp_path: Path) -> None:
    assert planned(SMALL, tmp_path).remarks == ()
    assert planned(SMALL, tmp_path, array_gib=0.0625).remarks == (
        "An array is 2 times the last-level caches; the rules ask for 4.",
    )
    unknown = planned(Facts(cpus=(Cpu(0, 0),), memory_gib=4.0), tmp_path)
    assert "not known" in unknown.remarks[0]


def test_compiling_is_a_step_only_until_it_is_done(tmp_path: Path) -> None:
    assert [step.name for step in planned(SMALL, tmp_path).steps] == [
        "compile",
        "install",
        "measure",
    ]
    assert kernels.build_all(tmp_path) == []
    assert [step.name for step in planned(SMALL, tmp_path).steps] == ["measure"]


def test_arrays_are_whole_cache_lines() -> None:
    assert elements_of(16) == 2**31
    assert elements_of(0.149) == 19_998_440
    assert elements_of(1e-9) == 64


@pytest.mark.parametrize(
    ("tail", "share"),
    [
        ("Placement: all\n", None),
        ("Pass 1 of 20: copy 0.1 scale", 0.05),
        ("Pass 9 of 20: …\nPass 10 of 20: copy 0.1", 0.5),
        ("x Pass 9 of 20:", None),
        ("Pass 30 of 20: ", 1.0),
        ("Pass 1 of 0: ", 1.0),
    ],
)
def test_progress_is_the_last_pass(tail: str, share: float | None) -> None:
    assert progress(tail) == share


def test_what_is_planned_is_what_the_program_says_that_it_did(tmp_path: Path) -> None:
    facts = Facts(cpus=(Cpu(min(os.sched_getaffinity(0)), 0),), llc_mib=1, memory_gib=1.0)
    made = planned(facts, tmp_path, array_gib=0.005)
    said = ""
    for step in made.steps:
        env = {"PATH": os.environ["PATH"], **step.env}
        done = subprocess.run(step.argv, env=env, capture_output=True, text=True, check=True)
        said = done.stdout
    (run,) = parse(File("job.log", said.encode())).runs
    assert made.reads == "benchhub_bandwidth"
    for name in set(run.parameters) & set(made.parameters):
        asked, got = made.parameters[name], run.parameters[name]
        if isinstance(asked, str) or isinstance(got, str):
            assert asked == got
        else:
            assert math.isclose(asked, got, rel_tol=0.01)
    assert set(run.parameters) - set(made.parameters) == {"array_elements"}


def test_a_host_with_a_compiler_is_ready() -> None:
    found = check(SMALL)
    assert (found.ready, found.missing) == (True, "")
    assert found.version.startswith(("GCC ", "Clang "))


def test_without_a_compiler_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = check(SMALL)
    assert not found.ready
    assert "gcc" in found.missing


def test_without_libnuma_a_host_of_several_nodes_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiler that links everything but libnuma."""
    real = kernels.compiler()
    assert real is not None
    wrapped = tmp_path / "cc"
    wrapped.write_text(f'#!/bin/sh\ncase "$*" in *-lnuma*) exit 1;; esac\nexec {real.path} "$@"\n')
    wrapped.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert check(server()).missing == "libnuma (install the package libnuma-dev)"
    assert check(SMALL).ready
