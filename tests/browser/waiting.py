"""STREAM's own runner with one parameter more: how long a first step waits.

Named by EXTRA_RUNNERS. Without a wait it is the project's runner in all it does; with one, a job
lasts long enough on any machine to be looked at, cancelled or killed, and then measures.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace

from runners.benchmarks import stream
from runners.benchmarks.base import Bound, Parameter, Plan, Step, Values
from runners.machine import Facts
from tests.runners.given import LOG, PROGRAM

WAIT = "wait_ms"
PART = re.compile(r"(?m)^part (\d+) of 10$")


def bounds(facts: Facts) -> dict[str, Bound]:
    return {**stream.bounds(facts), WAIT: Bound(0, 0, 600_000)}


def plan(values: Values, facts: Facts, kernels: str) -> Plan:
    own = {name: value for name, value in values.items() if name != WAIT}
    real = stream.plan(own, facts, kernels)
    if not values[WAIT]:
        return real
    argv = (sys.executable, str(PROGRAM), "well", str(values[WAIT]), str(LOG))
    first = Step("wait", argv, time_limit_s=900, weight=9, progress=progress, measures=False)
    return replace(real, steps=(first, *real.steps))


def progress(tail: str) -> float | None:
    """The share of the parts that were said to be over."""
    found = PART.findall(tail)
    return int(found[-1]) / 10 if found else None


RUNNER = replace(
    stream.RUNNER,
    parameters=(*stream.PARAMETERS, Parameter(WAIT, "integer", "Wait, ms")),
    bounds=bounds,
    plan=plan,
)
