"""`python -m tests.reliability full [--only NAME]…`: the figures, in full, on a real server.

Ends with 1 where a figure is not as it must be.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.bench.report import Line, table
from tests.benchhub.receiver import disks
from tests.reliability import (
    bells,
    bombs,
    cancels,
    disk,
    hostile,
    jobs,
    killing,
    leaks,
    pairs,
    restarts,
    same,
    slow,
)
from tests.reliability.hub import Hub, running
from tests.servers.postgres import running as run_postgres
from tests.servers.redis import running as run_redis

TITLES = {
    "killed": "R-01: uploads while processes are killed",
    "same": "R-08: the same file many times at once",
    "hostile": "S-01: damaged files",
    "disk": "R-07: a disk that fills up",
    "slow": "R-12: slow clients",
    "bombs": "S-02, S-03: bombs, and archives that reach out",
    "tokens": "S-10: a live token",
    "jobs": "R-02, R-09: jobs while workers are killed and their queue is wiped",
    "cancels": "R-04: jobs cancelled in every state",
    "trees": "R-05, R-06: stubborn processes and floods of output",
    "bells": "R-10: the broker in files",
    "pairs": "R-16: two workers on one host",
    "restarts": "R-13: PostgreSQL and Redis restarted under load",
}


@dataclass(frozen=True)
class Plan:
    """How much of everything."""

    uploads: int
    kills: int
    times: int
    mutations: int
    left_kb: Sequence[int]
    seconds: int
    bomb_mb: int
    jobs: int
    trees: int
    children: int
    cancels: int
    pair: int
    messages: int
    restarts: int


PLANS = {
    "full": Plan(500, 20, 50, 2000, [*range(0, 320, 8)], 60, 300, 60, 8, 4, 40, 12, 9000, 10),
    "small": Plan(40, 6, 50, 120, [0, 72, 96, 240], 5, 60, 10, 1, 1, 4, 4, 900, 2),
}


def parts(hub: Hub, plan: Plan, folder: Path) -> Mapping[str, Callable[[], list[Line]]]:
    """Each figure by its name."""
    return {
        "killed": lambda: killing.measure(hub, plan.uploads, plan.kills),
        "same": lambda: same.measure(hub, plan.times),
        "hostile": lambda: hostile.measure(hub, plan.mutations),
        "disk": lambda: every_disk(hub, plan, folder),
        "slow": lambda: slow.measure(hub, plan.seconds),
        "bombs": lambda: bombs.measure(hub, plan.bomb_mb),
        "tokens": lambda: leaks.measure(hub),
        "jobs": lambda: jobs.measure(hub, plan.jobs, plan.trees, plan.children, wipes=2),
        "cancels": lambda: cancels.measure(hub, plan.cancels),
        "trees": lambda: cancels.trees(hub),
        "bells": lambda: bells.measure(folder / "queue", plan.messages),
        "pairs": lambda: pairs.measure(hub, plan.pair),
        "restarts": lambda: every_restart(plan, folder),
    }


def every_restart(plan: Plan, folder: Path) -> list[Line]:
    """On a hub of its own, with real servers under it; each is restarted `restarts` times."""
    (folder / "on-servers").mkdir()
    with run_postgres() as postgres, run_redis() as redis:
        settings = {
            "DATABASE_URL": postgres.url(postgres.new_database()),
            "BROKER_URL": redis.url,
        }
        with running(folder / "on-servers", **settings) as hub:
            times, load = 2 * plan.restarts, 12 * plan.restarts
            return restarts.measure(hub, postgres, redis, restarts=times, uploads=load)


def every_disk(hub: Hub, plan: Plan, folder: Path) -> list[Line]:
    """On a disk of 8 MB where this machine allows one, and with a limit on files."""
    lines = []
    for name, kind in disks().items():
        inner = folder / f"disk-{name}"
        inner.mkdir()
        found = disk.measure(hub, kind, inner, plan.left_kb)
        lines += [replace(line, what=f"{name}: {line.what}") for line in found]
    return lines


def run(plan: Plan, names: Sequence[str]) -> bool:
    """Measure the named parts and print each as it is done: whether all is as it must be."""
    fine = True
    with tempfile.TemporaryDirectory(prefix="benchhub-reliability-") as name:
        folder = Path(name)
        (folder / "hub").mkdir()
        with running(folder / "hub") as hub:
            for part in names:
                began_s = time.monotonic()
                lines = parts(hub, plan, folder)[part]()
                fine = fine and not any(line.is_over for line in lines)
                print(table(f"{TITLES[part]} ({time.monotonic() - began_s:.0f} s)", lines))
                print(flush=True)
    return fine


def main(argv: Sequence[str] | None = None) -> int:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability", description=__doc__)
    parser.add_argument("plan", choices=PLANS, help="full: as promised; small: as in the tests")
    parser.add_argument("--only", action="append", choices=TITLES, help="this figure alone")
    options = parser.parse_args(argv)
    # However it is ended, the hub ends with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    return 0 if run(PLANS[options.plan], options.only or list(TITLES)) else 1


if __name__ == "__main__":
    sys.exit(main())
