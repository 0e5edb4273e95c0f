"""Runs the steps of a benchmark, one after the other."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from runners.benchmarks.base import Step
from runners.engine import snapshot
from runners.engine.base import End, Flag, Limits, Outcome, Watch
from runners.engine.course import Course
from runners.engine.family import adopting
from runners.engine.stepping import ORDERED, Done, Surroundings, execute


def run(
    steps: Sequence[Step],
    scratch: Path,
    *,
    watch: Watch,
    marker: str,
    limits: Limits = Limits(),  # noqa: B008 (frozen)
    shortest_s: float = 0.0,
) -> Outcome:
    """Run the steps until the last one is done, one fails, or the watch orders an end.

    `scratch` is an existing folder, this execution's own: programs work in it, their output
    goes to `output/` in it. `marker` names the attempt in the environment of everything that is
    started. A measuring step that took less than `shortest_s` is flagged. The orders of the watch
    are asked for before each step, about twice a second, and once at the end.

    To be called by one thread of a process at a time, and by one that stays until it returns:
    the kernel ends the programs with the thread that started them. What `watch` raises is raised
    again, after everything was ended.
    """
    _check(steps)
    scratch = scratch.resolve(strict=True)
    for name in ("output", "tmp"):
        (scratch / name).mkdir(mode=0o700, exist_ok=True)
    begun_s, at = time.monotonic(), datetime.now(UTC)
    before = snapshot.take()
    done: dict[str, Done] = {}
    with adopting() as known:
        around = Surroundings(scratch, marker, limits, watch, known, shortest_s)
        course = Course(steps, watch, limits)
        end, message = _run_all(steps, around, course, done)
    record = {
        "marker": marker,
        "started_at": at.isoformat(timespec="milliseconds"),
        "limits": asdict(limits),
        "before": before,
        "after": snapshot.take(),
        "steps": [one.record for one in done.values()],
    }
    elapsed_s = time.monotonic() - begun_s
    outcome = _outcome(end, message, done, record, elapsed_s)
    return replace(outcome, tail=course.tail)


def _check(steps: Sequence[Step]) -> None:
    """ValueError for steps that could not be told apart."""
    if not steps:
        raise ValueError("steps: found none, expected at least one")
    twice = [name for name, count in Counter(step.name for step in steps).items() if count > 1]
    if twice:
        raise ValueError(f"steps: found {twice[0]!r} more than once, expected a name for each")


def _run_all(
    steps: Sequence[Step], around: Surroundings, course: Course, done: dict[str, Done]
) -> tuple[End, str]:
    for number, step in enumerate(steps, start=1):
        if (order := course.tick(step)) != "go on":
            return ORDERED[order]
        done[step.name] = one = execute(step, number, around, course)
        if one.end != "finished":
            return one.end, one.message
    # An order that came during the last step's end counts: its result is not taken.
    if (order := course.tick(steps[-1])) != "go on":
        return ORDERED[order]
    return "finished", ""


def _outcome(
    end: End, message: str, done: dict[str, Done], record: dict[str, Any], elapsed_s: float
) -> Outcome:
    return Outcome(
        end=end,
        message=message,
        said=next((one.said for one in done.values() if one.said), ""),
        outputs={name: one.output for name, one in done.items()} if end == "finished" else {},
        flags=_flags(done),
        record=record,
        elapsed_s=elapsed_s,
    )


def _flags(done: dict[str, Done]) -> tuple[Flag, ...]:
    """All flags; where several steps measured, each says of which it speaks."""
    several = sum(bool(one.record.get("measures")) for one in done.values()) > 1
    return tuple(
        replace(flag, text=f"{name}: {flag.text}") if several else flag
        for name, one in done.items()
        for flag in one.flags
    )
