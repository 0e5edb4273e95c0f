"""A runner whose programs do what a test asks: wait, fail, flood, leave processes behind.

Named by EXTRA_RUNNERS, it takes the place of STREAM's own runner. What it prints at the end is a
real output of STREAM.
"""

from __future__ import annotations

import sys
from pathlib import Path

from runners.benchmarks.base import (
    Adapted,
    Bound,
    Check,
    Parameter,
    Plan,
    Preset,
    Runner,
    Step,
    Values,
)
from runners.machine import Facts

LOG = Path(__file__).parents[1] / "data" / "stream" / "gcc_2t.txt"
PROGRAM = Path(__file__).parent / "program.py"
WAYS = ("well", "badly", "cut", "unfinished", "stubborn", "flood", "kill")


def check(facts: Facts) -> Check:
    return Check(ready=True, version="5.10")


def bounds(facts: Facts) -> dict[str, Bound]:
    return {
        "ms": Bound(default=100, minimum=0, maximum=600_000),
        "way": Bound(default="well", choices=WAYS),
        "serial": Bound(default=0, minimum=0, maximum=1_000_000),
    }


def plan(values: Values, facts: Facts, kernels: str) -> Plan:
    argv = (sys.executable, str(PROGRAM), str(values["way"]), str(values["ms"]), str(LOG))
    step = Step("measure", argv, finished="^Solution Validates", time_limit_s=300)
    return Plan((step,), "measure", "stream", "system", {"placement": "all"}, shortest_s=0)


def adapt(values: Values, scope: str, facts: Facts) -> Adapted:
    return Adapted({}, tuple(f"{name}: not here" for name in values))


RUNNER = Runner(
    benchmark="stream",
    parameters=(
        Parameter("ms", "integer", "Milliseconds"),
        Parameter("way", "choice", "How it goes"),
        Parameter("serial", "integer", "Serial number"),
    ),
    presets=(Preset("standard", "Standard", "takes a tenth of a second"),),
    check=check,
    bounds=bounds,
    plan=plan,
    adapt=adapt,
)
