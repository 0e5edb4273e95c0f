"""R-02, R-09, R-10: jobs go on while workers are killed and their queue is wiped."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from contextlib import suppress

import psutil

from tests.bench.report import Line
from tests.benchhub.processes import wait_for
from tests.reliability.desk import Desk, left_of
from tests.reliability.hub import Hub

# Rings for attempts that were rung before, and for some that never were.
DOUBLES = """
from runners.models import Attempt
from runners.doorbell import ring
for attempt in Attempt.objects.select_related("host").order_by("?")[:5]:
    ring(attempt)
from runners.tasks import run_attempt
from runners.models import Host
for number in (0, -1, 10**12):
    run_attempt.apply_async((number,), queue=Host.objects.get().queue)
"""
RUNS_NOW = "SELECT id FROM runners_attempt WHERE state = 'running'"


def measure(hub: Hub, count: int, trees: int, children: int, wipes: int) -> list[Line]:
    """`count` jobs of 0.2 to 2 s, while whole workers and single children of them are killed."""
    desk = Desk(hub)
    chance = random.Random(count)
    jobs = [desk.order(ms=chance.randint(200, 2000), serial=n) for n in range(count)]
    blows = ["tree"] * trees + ["child"] * children + ["wipe"] * wipes + ["double"] * 2
    chance.shuffle(blows)
    dead = Counter[str]()
    for number, blow in enumerate(blows):
        due = (number + 1) * count // (len(blows) + 1)
        wait_for(lambda due=due: desk.states(jobs)["finished"] >= due)  # type: ignore[misc]
        dead[blow] += _strike(hub, blow)
    wait_for(lambda: sum(desk.states(jobs).values()) == sum(_over(desk, jobs).values()))
    return lines(desk, jobs, dead)


def _over(desk: Desk, jobs: list[int]) -> Counter[str]:
    states = desk.states(jobs)
    return Counter({s: n for s, n in states.items() if s not in ("queued", "running")})


def lines(desk: Desk, jobs: list[int], dead: Counter[str]) -> list[Line]:
    """What must be so in the end."""
    attempts = desk.attempts(jobs)
    finished = Counter(job for job, _number, state in attempts if state == "finished")
    runs = desk.runs(jobs)
    kills = dead["tree"] + dead["child"]
    begun = len([state for _job, _number, state in attempts if state != "queued"])
    remark = ", ".join(f"{n} × {blow}" for blow, n in sorted(dead.items()))
    wait_for(lambda: not left_of(desk.hub))
    return [
        Line("jobs", len(jobs), digits=0, remark=f"meanwhile: {remark}"),
        Line("jobs finished", desk.states(jobs)["finished"], len(jobs), "at least", digits=0),
        Line("jobs finished twice", len([n for n in finished.values() if n > 1]), 0, digits=0),
        Line("jobs with no run, or two", len([j for j in jobs if runs[j] != 1]), 0, digits=0),
        Line("attempts beyond one a job", begun - len(jobs), kills, digits=0),
        Line("processes left", left_of(desk.hub), 0, digits=0),
    ]


def _strike(hub: Hub, blow: str) -> int:
    """Do some harm; 1 if there was something to harm."""
    if blow == "wipe":
        shutil.rmtree(hub.var / "queue", ignore_errors=True)
        return 1
    if blow == "double":
        hub.manage("shell", "-c", DOUBLES)
        _plant(hub)
        return 1
    wait_for(lambda: hub.rows(RUNS_NOW))
    struck = wait_for(lambda: _whole(hub) if blow == "tree" else _pool(hub))
    for process in struck:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    return 1 if struck else 0


def _whole(hub: Hub) -> list[psutil.Process]:
    """The worker with all below it: keeper, Celery, its pool's child, the benchmark."""
    with suppress(psutil.NoSuchProcess):
        return [p for k in hub.find("keeper") for p in (k, *k.children(recursive=True))]
    return []


def _pool(hub: Hub) -> list[psutil.Process]:
    """The child of Celery's pool, in which the engine runs."""
    with suppress(psutil.NoSuchProcess):
        celery = [child for keeper in hub.find("keeper") for child in keeper.children()]
        return [child for one in celery for child in one.children()][:1]
    return []


def _plant(hub: Hub) -> None:
    """Files in the queue that are no messages."""
    for folder in [path for path in (hub.var / "queue").glob("*") if path.is_dir()]:
        (folder / "00000000000000000001.empty.msg").write_bytes(b"")
        (folder / "00000000000000000002.short.msg").write_bytes(b'{"body": "')
        (folder / "strange").write_bytes(b"\xff\x00")
