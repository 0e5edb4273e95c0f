"""How far an execution is, and the one who looks on."""

from __future__ import annotations

import math
from collections.abc import Sequence

from runners.benchmarks.base import Step
from runners.engine.base import Limits, Order, Progress, Watch
from runners.engine.output import Outputs


class Course:
    """The progress over all steps, which only rises, told to the watch."""

    def __init__(self, steps: Sequence[Step], watch: Watch, limits: Limits) -> None:
        self._whole = sum(step.weight for step in steps) or 1.0
        self._watch, self._limits = watch, limits
        self._done = 0.0
        self._share = 0.0
        self.tail = ""

    def tick(self, step: Step, outputs: Outputs | None = None) -> Order:
        """Tell how far it is, ask how to go on."""
        part = 0.0
        if outputs is not None:
            part = _part(step, self.see(outputs))
        share = (self._done + part * step.weight) / self._whole
        self._share = min(max(self._share, share), 1.0)
        return self._watch.tick(Progress(step.name, self._share, self.tail))

    def see(self, outputs: Outputs) -> str:
        """The end of what the step has printed so far; kept as what is shown."""
        text = outputs.tail(self._limits.tail_bytes)
        self.tail = text or self.tail
        return text

    def finish(self, step: Step) -> None:
        """The step is done."""
        self._done += step.weight


def _part(step: Step, text: str) -> float:
    """How much of the step is done by its own words, 0 to 1."""
    part = step.progress(text) if step.progress else None
    if part is None or not math.isfinite(part):
        return 0.0
    return min(max(part, 0.0), 1.0)
