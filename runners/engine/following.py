"""Follows a step's program until it ends or has to be ended."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

from runners.benchmarks.base import Step
from runners.engine.base import Limits, Order
from runners.engine.course import Course
from runners.engine.family import Family
from runners.engine.launch import Leader
from runners.engine.output import Outputs
from runners.engine.sampling import Sampler

# A flood of some GB/s is a few hundred MB long when it is noticed, and then cut.
LOOK_S = 0.1
BURY_S = 1.0
Reason = Literal["exited", "time", "output"] | Order


@dataclass(frozen=True)
class Following:
    """One step that runs, and all that watches it."""

    step: Step
    leader: Leader
    outputs: Outputs
    family: Family
    course: Course
    limits: Limits
    sampler: Sampler | None

    def until_it_ends(self) -> Reason:
        """Why it is over: by itself ("exited"), by a limit, or by order."""
        begun_s = time.monotonic()
        tick_s = begun_s + self.limits.tick_s
        bury_s = begun_s + BURY_S
        while not self.leader.ends_within(LOOK_S):
            now_s = time.monotonic()
            if self.outputs.are_over():
                return "output"
            if now_s - begun_s > self.step.time_limit_s:
                return "time"
            if self.sampler is not None and now_s >= self.sampler.due_s:
                self.sampler.take()
            if now_s >= bury_s:
                self.family.bury()
                bury_s = now_s + BURY_S
            if now_s >= tick_s:
                tick_s = now_s + self.limits.tick_s
                if (order := self.course.tick(self.step, self.outputs)) != "go on":
                    return order
        return "exited"
