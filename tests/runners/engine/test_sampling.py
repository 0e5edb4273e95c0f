"""Samples: whose CPU time is whose, and how many are kept."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runners.engine.family import Family, adopting
from runners.engine.sampling import INTERVAL_S, MOST, Sample, Sampler, as_table
from tests.runners.engine.helpers import execute, python

SPIN = """
import os, time
def spin(seconds):
    while time.process_time() < seconds:
        pass
"""
# One second each by the leader, by a child that it waits for, and by a daemon.
THREE = (
    SPIN
    + """
if os.fork() == 0:
    spin(1)
    os._exit(0)
os.wait()
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    spin(1)
    open("done", "w").close()
    os._exit(0)
spin(1)
while not os.path.exists("done"):
    time.sleep(0.01)
"""
)


def test_the_time_of_all_that_came_of_a_step_is_its_own(tmp_path: Path) -> None:
    outcome = execute(tmp_path, python(THREE))
    assert outcome.end == "finished", outcome.message
    own_s = outcome.record["steps"][0]["samples"]["own_s"]
    assert own_s == sorted(own_s)
    assert 3.0 <= own_s[-1] - own_s[0] < 4.0


@pytest.fixture
def spinning() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", SPIN + "spin(1000)"], start_new_session=True)
    yield process
    process.kill()
    process.wait()


def test_the_time_of_others_is_not(spinning: subprocess.Popen[bytes], tmp_path: Path) -> None:
    outcome = execute(tmp_path, python(SPIN + "spin(0.2); time.sleep(1.5)"))
    samples = outcome.record["steps"][0]["samples"]
    own_s = samples["own_s"][-1] - samples["own_s"][0]
    busy_s = samples["busy_s"][-1] - samples["busy_s"][0]
    assert own_s < 0.8
    assert busy_s > own_s
    assert spinning.poll() is None


def test_a_family_counts_living_members() -> None:
    with adopting() as before:
        argv = [sys.executable, "-c", SPIN + "spin(0.5); print(flush=True); time.sleep(1000)"]
        with subprocess.Popen(argv, start_new_session=True, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            assert 0.45 <= Family("x", process.pid, before).cpu_s() < 1.5
            process.kill()


def test_long_runs_are_thinned_out_between_first_and_last(tmp_path: Path) -> None:
    sampler = Sampler(lambda: 0.0, tmp_path)
    first = sampler.samples[0]
    for _ in range(3 * MOST):
        sampler.take()
    assert len(sampler.samples) <= MOST
    assert sampler.samples[0] is first
    at_s = [sample.at_s for sample in sampler.samples]
    assert at_s == sorted(at_s)
    # Thinned out more than once, each time to half as many.
    assert sampler.interval_s >= 4 * INTERVAL_S


def test_columns_of_which_nothing_is_known_are_left_out() -> None:
    samples = [Sample(0.0, busy_s=1.23456, throttles=3), Sample(1.0005, busy_s=2.0)]
    assert as_table(samples) == {
        "at_s": [0.0, 1.0],
        "busy_s": [1.235, 2.0],
        "throttles": [3, None],
    }
