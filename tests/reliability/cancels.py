"""R-04, R-05, R-06: a job is cancelled in every state, and whatever its programs do."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from tests.bench.report import Line
from tests.benchhub.processes import wait_for
from tests.reliability.desk import Desk, left_of
from tests.reliability.hub import Hub

LONG_MS = 120_000
STATES = ("queued", "starting", "running", "finishing")
LOG_LIMIT = 10_000_000 + 64 * 1024


def measure(hub: Hub, times: int) -> list[Line]:
    """Cancel `times` jobs, in each state in turn."""
    desk = Desk(hub)
    took: list[float] = []
    wrong = 0
    for number in range(times):
        state = STATES[number % len(STATES)]
        began_s, ended = _cancelled(desk, state)
        took.append(time.monotonic() - began_s)
        wrong += ended not in (
            ("finished", "cancelled") if state == "finishing" else ("cancelled",)
        )
    told = f"median {statistics.median(took):.1f} s, longest {max(took):.1f} s"
    return [
        Line("jobs cancelled", times, digits=0, remark=told),
        Line("took longer than 3 s", len([s for s in took if s > 3]), digits=0),
        Line("ended otherwise", wrong, 0, digits=0),
        Line("processes left", left_of(hub), 0, digits=0),
    ]


def _cancelled(desk: Desk, state: str) -> tuple[float, str]:
    """Cancel one job in a state; when it was asked, and the state it ended in."""
    before = desk.order(ms=LONG_MS) if state == "queued" else 0
    job = desk.order(ms=200 if state == "finishing" else LONG_MS)
    _when(desk, job, state)
    began_s = time.monotonic()
    status = desk.cancel(job)
    assert status in ((202, 409) if state == "finishing" else (202,)), status
    ended = str(desk.outcome(job)["state"])
    if before:
        desk.cancel(before)
        desk.outcome(before)
    return began_s, ended


def _when(desk: Desk, job: int, state: str) -> None:
    """Wait until the job is in that state."""
    if state == "running":
        wait_for(lambda: desk.job(job).get("progress", 0) > 0 or _is(desk, job, "running"))
        time.sleep(0.5)
    elif state == "finishing":
        time.sleep(0.4)
    elif state == "starting":
        wait_for(lambda: _is(desk, job, "running"))


def _is(desk: Desk, job: int, state: str) -> bool:
    return bool(desk.job(job).get("state") == state)


def trees(hub: Hub) -> list[Line]:
    """A tree that forks away, ignores TERM and holds the pipe; a flood of output; the web."""
    desk = Desk(hub)
    stubborn = desk.order(ms=LONG_MS, way="stubborn")
    wait_for(lambda: desk.job(stubborn).get("progress", 0) > 0 or left_of(hub) >= 2)
    desk.cancel(stubborn)
    tree = desk.outcome(stubborn)["state"]
    idle_s = _pages(hub)
    flood = desk.order(ms=10, way="flood")
    busy_s = _pages(hub, until=lambda: desk.job(flood).get("state") == "failed")
    log = desk.outcome(flood)
    largest = max(
        (path.stat().st_size for path in (hub.var / "scratch").rglob("*") if path.is_file()),
        default=0,
    )
    again = desk.outcome(desk.order(ms=10))["state"]
    told = f"{log['message'][:60]}; pages {busy_s / idle_s:.1f} times as slow meanwhile"
    return [
        Line("stubborn trees that were not cancelled", int(tree != "cancelled"), 0, digits=0),
        Line("floods taken as a result", int(log["state"] != "failed"), 0, digits=0, remark=told),
        Line("bytes of output left", largest, LOG_LIMIT, digits=0),
        Line("jobs after them that failed", int(again != "finished"), 0, digits=0),
        Line("processes left", left_of(hub), 0, digits=0),
    ]


def _pages(hub: Hub, until: Callable[[], bool] | None = None) -> float:
    """The median time of a page, s, over twenty of them or until something is so."""
    found: list[float] = []
    while len(found) < 20 or (until is not None and not until() and len(found) < 400):
        began_s = time.monotonic()
        assert hub.ask("jobs", "/jobs/").status == 200
        found.append(time.monotonic() - began_s)
    return statistics.median(found)
