"""R-16: two workers on one host never measure at once."""

from __future__ import annotations

import subprocess
import sys
import time

from tests.bench.remote import ROOT, environment
from tests.bench.report import Line
from tests.reliability.desk import Desk, marked
from tests.reliability.hub import JOBS, Hub, end


def measure(hub: Hub, count: int) -> list[Line]:
    """`count` jobs at a host with a second worker; how many attempts were seen at once."""
    desk = Desk(hub)
    jobs = [desk.order(ms=500, serial=n) for n in range(1)]
    with (hub.var.parent / "second-worker.log").open("wb") as output:
        second = subprocess.Popen(
            [sys.executable, "manage.py", "worker"],
            cwd=ROOT,
            env=environment(hub.var, **JOBS),
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        jobs += [desk.order(ms=500, serial=n) for n in range(1, count)]
        most, begun = _watch(desk, hub, jobs)
    finally:
        end(second)
    attempts = desk.attempts(jobs)
    order = sorted(jobs) == [job for job in begun if job in set(jobs)]
    return [
        Line("jobs", count, digits=0),
        Line("attempts seen at once, at most", most, 1, digits=0),
        Line("attempts seen at all", most, 1, "at least", digits=0),
        Line("attempts", len(attempts), count, digits=0),
        Line("jobs out of their order", int(not order), 0, digits=0),
    ]


def _watch(desk: Desk, hub: Hub, jobs: list[int]) -> tuple[int, list[int]]:
    """The most attempts that were seen at once, and the jobs in the order they began."""
    seen: list[frozenset[str]] = []
    while desk.states(jobs)["finished"] < len(jobs):
        end_s = time.monotonic() + 1
        while time.monotonic() < end_s:
            seen.append(frozenset(marked()))
    rows = hub.rows("SELECT job_id, owner FROM runners_attempt ORDER BY started_at")
    owners = {owner for job, owner in rows if job in set(jobs)}
    return max(len(marks & owners) for marks in seen), [job for job, _owner in rows]
