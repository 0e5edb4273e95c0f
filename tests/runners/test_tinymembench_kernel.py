"""The latency kernel itself, on this machine: what it takes, what it prints, what it refuses."""

from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path

import pytest

from results.formats import parse
from results.formats.base import File
from runners.benchmarks.tinymembench import RUNNER, plan
from runners.kernels import build
from runners.machine import Cpu, Facts
from runners.parameters import complete

CPU = min(os.sched_getaffinity(0))
SMALL = "--buffer-bytes=2097152"
NO_HUGE_PAGES = 41  # PR_SET_THP_DISABLE of <sys/prctl.h>


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The kernel, compiled."""
    built = build("latency", tmp_path_factory.mktemp("kernels"))
    for step in built.steps:
        subprocess.run(step.argv, check=True, timeout=120)
    return built.path


def run(kernel: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (kernel, *arguments), capture_output=True, text=True, timeout=120, check=False
    )


def read(output: str) -> list[tuple[str, float]]:
    """The readings of a real output, through the format."""
    (found,) = parse(File("latency.txt", output.encode())).runs
    return [(reading.metric, reading.value or 0.0) for reading in found.readings]


def test_small_pages_are_measured_and_read(kernel: str) -> None:
    done = run(kernel, SMALL, "--page=4k", f"--cpu={CPU}", "--repeats=2")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[1].startswith("Not the tinymembench program: ")
    assert "Huge pages: 0 of 2 MiB" in lines
    assert f"CPU: {CPU}" in lines
    assert lines[-1] == "Finished"
    beyond, full = read(done.stdout)
    assert (beyond[0], full[0]) == ("random_read.latency", "random_read.load_to_use")
    l1 = next(line for line in lines if line.startswith("L1 hit: ")).split()[3]
    assert full[1] - beyond[1] == pytest.approx(float(l1), abs=0.0002)
    repeats = [float(line.split()[4]) for line in lines if line.startswith("Repeat ")]
    assert full[1] == min(repeats)


def test_the_same_chain_is_gone_through_whatever_the_pages(kernel: str) -> None:
    sums = set()
    for page in ("4k", "2m"):
        done = run(kernel, SMALL, f"--page={page}", "--repeats=1")
        assert done.returncode == 0, done.stdout + done.stderr
        sums.add(next(line for line in done.stdout.splitlines() if line.startswith("Checksum: ")))
    assert len(sums) == 1


def test_the_runners_plan_is_measured_in_large_pages(kernel: str) -> None:
    facts = Facts(cpus=(Cpu(CPU, 0),), memory_gib=4.0)
    values = complete(RUNNER, "quick", {"buffer_gib": 0.0625, "repeats": 1}, facts)
    step = plan(values, facts, str(Path(kernel).parent)).steps[-1]
    assert step.argv[0] == kernel
    done = run(*step.argv)
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = parse(File("latency.txt", done.stdout.encode())).runs
    assert found.parameters == {
        "threads": 1,
        "placement": "local",
        "page": "2m",
        "buffer_gib": 0.0625,
        "repeats": 1,
    }


def test_large_pages_that_cannot_be_had_are_not_measured(kernel: str) -> None:
    done = subprocess.run(
        (kernel, SMALL, "--page=2m", "--repeats=1"),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=lambda: ctypes.CDLL(None).prctl(NO_HUGE_PAGES, 1, 0, 0, 0),
    )
    last = done.stdout.splitlines()[-1]
    assert done.returncode == 1
    assert last.startswith("Not measured: 0 of 2 MiB came in pages of 2 MiB, expected at least 95")
    assert "Finished" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "--buffer-bytes and --page are needed"),
        ((SMALL,), "--buffer-bytes and --page are needed"),
        ((SMALL, "--page=1g"), "--page: found '1g', expected one of: 4k 2m"),
        (("--buffer-bytes=4194305", "--page=4k"), "expected whole pages of 2097152"),
        (("--buffer-bytes=1", "--page=4k"), "--buffer-bytes: found 1, expected 2097152 to "),
        (("--buffer-bytes=4e6", "--page=4k"), "--buffer-bytes: found '4e6', expected a whole"),
        ((SMALL, "--page=4k", "--repeats=-1"), "--repeats: found '-1', expected a whole number"),
        ((SMALL, "--page=4k", "--placement=remote"), "--placement=remote needs --node"),
        ((SMALL, "--page=4k", "--node=0"), "--node says nothing for --placement=local"),
        ((SMALL, "--page=4k", "--cpu=4095"), "--cpu=4095: "),
        ((SMALL, "--page", "4k"), "the argument '--page' is not known"),
        (("--help",), "the argument '--help' is not known"),
    ],
)
def test_what_is_not_understood_is_refused(
    kernel: str, arguments: tuple[str, ...], said: str
) -> None:
    done = run(kernel, *arguments)
    assert (done.returncode, said in done.stderr) == (2, True)
    assert "Finished" not in done.stdout


def test_memory_of_its_own_node_is_not_remote(kernel: str) -> None:
    node = next(Path(f"/sys/devices/system/cpu/cpu{CPU}").glob("node*")).name.removeprefix("node")
    done = run(kernel, SMALL, "--page=4k", f"--cpu={CPU}", "--placement=remote", f"--node={node}")
    assert done.returncode == 2
    assert f"--node={node}: that is the node of CPU {CPU} itself" in done.stderr
