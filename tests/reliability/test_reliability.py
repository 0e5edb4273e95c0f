"""The figures of docs/reliability.md in small, on one real hub."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.bench.report import Line
from tests.benchhub.receiver import Limit, Tmpfs, disks
from tests.reliability import (
    bombs,
    cancels,
    disk,
    hostile,
    jobs,
    killing,
    leaks,
    pairs,
    same,
)
from tests.reliability.__main__ import PLANS
from tests.reliability.hub import Hub

# One process of pytest-xdist runs these, so that one hub is started.
pytestmark = pytest.mark.xdist_group("hub")
SMALL = PLANS["small"]
DISKS = disks()


def wrong(lines: Sequence[Line]) -> list[tuple[str, ...]]:
    """What is not as it must be."""
    return [line.cells() for line in lines if line.is_over]


def found(lines: Sequence[Line], what: str) -> float:
    """The figure of that name."""
    (figure,) = (line.found for line in lines if line.what == what)
    assert figure is not None
    return figure


def test_the_same_file_many_times_at_once_is_one_upload(hub: Hub) -> None:
    assert wrong(same.measure(hub, SMALL.times)) == []


def test_damaged_files_are_read_or_refused_in_words_and_kill_nothing(hub: Hub) -> None:
    lines = hostile.measure(hub, SMALL.mutations)
    assert wrong(lines) == []
    assert found(lines, "damaged uploads") > SMALL.mutations


def test_the_same_damaged_files_are_made_each_time() -> None:
    assert [*hostile.made(100)] == [*hostile.made(100)]


def test_bombs_and_archives_that_reach_out_are_refused_in_words(hub: Hub) -> None:
    assert wrong(bombs.measure(hub, SMALL.bomb_mb)) == []


def test_the_secret_of_a_live_token_is_nowhere(hub: Hub) -> None:
    assert wrong(leaks.measure(hub)) == []


@pytest.mark.parametrize("kind", DISKS.values(), ids=DISKS.keys())
def test_a_disk_that_fills_up_loses_nothing(hub: Hub, tmp_path: Path, kind: Limit | Tmpfs) -> None:
    assert wrong(disk.measure(hub, kind, tmp_path, SMALL.left_kb)) == []


def test_nothing_is_lost_or_doubled_while_processes_are_killed(hub: Hub) -> None:
    lines = killing.measure(hub, SMALL.uploads, SMALL.kills)
    assert wrong(lines) == []
    assert found(lines, "requests that broke off and were sent again") > 0


def test_jobs_are_done_once_though_workers_die_and_their_queue_is_wiped(hub: Hub) -> None:
    lines = jobs.measure(hub, SMALL.jobs, SMALL.trees, SMALL.children, wipes=1)
    assert wrong(lines) == []
    assert found(lines, "attempts beyond one a job") > 0


def test_jobs_are_cancelled_in_every_state(hub: Hub) -> None:
    assert wrong(cancels.measure(hub, SMALL.cancels)) == []


def test_stubborn_processes_and_floods_end_with_their_job(hub: Hub) -> None:
    assert wrong(cancels.trees(hub)) == []


def test_two_workers_on_one_host_measure_one_at_a_time(hub: Hub) -> None:
    assert wrong(pairs.measure(hub, SMALL.pair)) == []
