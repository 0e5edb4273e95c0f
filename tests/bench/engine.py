"""What the engine costs around a benchmark that does nothing: `true`."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from tests.bench.remote import ROOT
from tests.bench.report import Line

if TYPE_CHECKING:  # imported for good, it would be in the memory that is measured against
    from runners.engine.base import Order

MOST_MS = 200
MOST_MB = 60
_KIB = 1024
_MB = 10**6


@dataclass(frozen=True)
class Cost:
    """Milliseconds of a run, from call to outcome, and MB of memory that the engine adds to a
    process that runs it, at its peak."""

    run_ms: float
    memory_mb: float


class _Onlooker:
    """A watch that wants nothing."""

    def began(self, session_id: int, started: int) -> None:
        pass

    def tick(self, progress: object) -> Order:
        return "go on"


def measure(processes: int = 3, runs: int = 15) -> Cost:
    """Medians over several fresh processes, each with several runs."""
    argv = [sys.executable, "-m", "tests.bench.engine", str(runs)]
    costs = []
    for _ in range(processes):
        done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True)
        costs.append(Cost(**json.loads(done.stdout)))
    return Cost(median(c.run_ms for c in costs), median(c.memory_mb for c in costs))


def lines(cost: Cost) -> list[Line]:
    """Beside the budgets of the design."""
    return [
        Line("engine: a run of `true`", cost.run_ms, MOST_MS, unit="ms", digits=0),
        Line("engine: memory that it adds", cost.memory_mb, MOST_MB, unit="MB", digits=1),
    ]


def _resident_kib(name: str) -> int:
    """VmRSS or VmHWM of this process, KiB."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    rows = dict(line.partition(":")[::2] for line in status.splitlines())
    return int(rows[name].split()[0])


def _measure_here(runs: int) -> Cost:
    before = _resident_kib("VmRSS")
    from runners.benchmarks.base import Step
    from runners.engine import run

    taken = []
    with tempfile.TemporaryDirectory(prefix="benchhub-bench-") as root:
        for number in range(runs):
            scratch = Path(root) / str(number)
            scratch.mkdir()
            begun = time.perf_counter()
            outcome = run([Step("nothing", ("true",))], scratch, watch=_Onlooker(), marker="bench")
            taken.append(time.perf_counter() - begun)
            if outcome.end != "finished":
                raise RuntimeError(f"`true` {outcome.end}: {outcome.message}")
    added = (_resident_kib("VmHWM") - before) * _KIB / _MB
    return Cost(median(taken) * 1000, added)


if __name__ == "__main__":
    print(json.dumps(vars(_measure_here(int(sys.argv[1])))))
