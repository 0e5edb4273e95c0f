"""Executes one step from its start to the last of its processes, and judges it."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from runners.benchmarks.base import Step
from runners.engine import ending, launch, processes, validity, words
from runners.engine.base import End, Flag, Limits, Watch
from runners.engine.course import Course
from runners.engine.ending import Ended
from runners.engine.family import Family, Known
from runners.engine.following import Following, Reason
from runners.engine.launch import CannotStartError, Leader, Prepared
from runners.engine.output import Outputs
from runners.engine.sampling import Sampler, as_table

ORDERED: dict[str, tuple[End, str]] = {
    "cancel": ("cancelled", "cancelled"),
    "stop": ("stopped", "the worker was stopped"),
    "gone": ("gone", "another worker has taken this over"),
}
_SAID_BYTES = 4096


@dataclass(frozen=True)
class Surroundings:
    """What all steps of an execution have in common."""

    scratch: Path
    marker: str
    limits: Limits
    watch: Watch
    before: Known
    shortest_s: float


@dataclass
class Done:
    """What came of a step."""

    end: End
    message: str
    output: Path
    said: str = ""
    elapsed_s: float = 0.0
    flags: tuple[Flag, ...] = ()
    record: dict[str, Any] = field(default_factory=dict)


def execute(step: Step, number: int, around: Surroundings, course: Course) -> Done:
    """Run the step, the `number`th. Nothing of it is left when this returns or raises."""
    folder = around.scratch / "output"
    with Outputs.make(folder, f"{number}-{step.name}", around.limits.output_bytes) as outputs:
        prepared = Prepared(
            launch.arguments(step, around.scratch),
            launch.environment(step, around.scratch, around.marker),
            around.scratch,
        )
        record = _intended(step, prepared)
        try:
            leader = launch.start(step, prepared, outputs, around.limits)
        except CannotStartError as error:
            return Done("failed", str(error), outputs.out.path, record=record)
        done = _Running(step, leader, outputs, around).to_the_end(course)
        done.record = {**record, **done.record}
        return done


def _intended(step: Step, prepared: Prepared) -> dict[str, Any]:
    """What was to be run, for the record."""
    return {
        "name": step.name,
        "argv": [words.storable(one) for one in prepared.argv],
        "env": {name: words.storable(value) for name, value in prepared.env.items()},
        "cpus": None if step.cpus is None else list(step.cpus),
        "time_limit_s": step.time_limit_s,
        "measures": step.measures,
        "started_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
    }


class _Running:
    """A step whose program was started."""

    def __init__(self, step: Step, leader: Leader, outputs: Outputs, around: Surroundings) -> None:
        self.step, self.leader, self.outputs, self.around = step, leader, outputs, around
        self.begun_s = time.monotonic()
        self.family = Family(around.marker, leader.number, around.before)
        self.sampler: Sampler | None = None
        self.ended = Ended()

    def to_the_end(self, course: Course) -> Done:
        """Follow it, end what is left of it, judge it."""
        try:
            reason = self._follow(course)
            elapsed_s = time.monotonic() - self.begun_s
        finally:
            self._end_all()
        if self.sampler is not None:
            self.sampler.take(whole=True)
        # After the last of them has ended: only then has nobody written meanwhile.
        was_cut = self.outputs.are_over()
        end, message = self._judge("output" if was_cut and reason == "exited" else reason)
        if end == "finished":
            course.finish(self.step)
        course.see(self.outputs)
        return Done(
            end=end,
            message=message,
            output=self.outputs.out.path,
            said=self.outputs.last_lines(_SAID_BYTES) if end == "failed" else "",
            elapsed_s=elapsed_s,
            flags=self._flags(elapsed_s) if end == "finished" else (),
            record=self._record(end, message, elapsed_s),
        )

    def _follow(self, course: Course) -> Reason:
        since = processes.started(self.leader.number)
        self.around.watch.began(self.leader.number, since or 0)
        if self.step.measures:
            self.sampler = Sampler(self.family.cpu_s)
        return Following(
            step=self.step,
            leader=self.leader,
            outputs=self.outputs,
            family=self.family,
            course=course,
            limits=self.around.limits,
            sampler=self.sampler,
        ).until_it_ends()

    def _end_all(self) -> None:
        """The leader is buried last, so that no other session can have its id before."""
        self.ended = ending.end(
            self.family.find, grace_s=self.around.limits.grace_s, hurry=self.outputs.are_over
        )
        self.leader.bury()

    def _judge(self, reason: Reason) -> tuple[End, str]:
        name = self.step.name
        if reason in ORDERED:
            return ORDERED[reason]
        if reason == "output":
            return "failed", f"{name}: {self.outputs.too_long()}"
        if reason == "time":
            return "failed", f"{name} took longer than {self.step.time_limit_s:g} s"
        if self.ended.left:
            return "failed", f"{name} left processes that cannot be ended: {_named(self.ended)}"
        return self._judge_exit()

    def _judge_exit(self) -> tuple[End, str]:
        """Of a program that ended by itself: its exit code alone proves nothing."""
        name, code = self.step.name, self.leader.exit_code
        if code is None:
            return "failed", f"{name} ended, but its exit code was lost"
        if code != 0:
            return "failed", f"{name} {words.exit_words(code)}"
        if not self.outputs.out.is_in_place():
            return "failed", f"{name} removed or replaced the file that its output went to"
        if self.step.finished and not self.outputs.have(self.step.finished):
            return "failed", (
                f"{name} ended with exit code 0, but did not say that it finished: expected a "
                f"line that matches {self.step.finished!r}"
            )
        return "finished", ""

    def _flags(self, elapsed_s: float) -> tuple[Flag, ...]:
        if self.sampler is None:
            return ()
        return validity.flags(
            self.sampler.samples,
            cpus=os.cpu_count() or 1,
            elapsed_s=elapsed_s,
            shortest_s=self.around.shortest_s,
        )

    def _record(self, end: End, message: str, elapsed_s: float) -> dict[str, Any]:
        return {
            "end": end,
            "message": message,
            "elapsed_s": round(elapsed_s, 6),
            "exit_code": self.leader.exit_code,
            "used": self.leader.used(),
            "stdout": self.outputs.out.record(),
            "stderr": self.outputs.err.record(),
            "ended": _listed(self.ended),
            "samples": as_table(self.sampler.samples) if self.sampler else {},
        }


def _listed(ended: Ended) -> list[dict[str, Any]]:
    """Processes that the engine had to end: those that the program left behind, or all of them
    where it was ended by order or by a limit."""
    killed = {one.key for one in ended.killed}
    return [
        {
            "process": one.number,
            "name": words.storable(words.printable(one.name.encode())),
            "killed": one.key in killed,
        }
        for one in ended.found
    ]


def _named(ended: Ended) -> str:
    return ", ".join(f"{one.number} ({one.name})" for one in ended.left)
