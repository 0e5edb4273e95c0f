"""What the engine is asked and what it answers. The engine knows no database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

Order = Literal["go on", "cancel", "stop", "gone"]
End = Literal["finished", "failed", "cancelled", "stopped", "gone"]


@dataclass(frozen=True)
class Progress:
    """How far an execution is: the step, 0 to 1 of the whole, the end of the last output."""

    step: str
    share: float
    tail: str


class Watch(Protocol):
    """Who looks on while the engine works, and may end it."""

    def began(self, session_id: int, started: int) -> None:
        """A step's session exists: its leader's id and start in clock ticks since boot."""

    def tick(self, progress: Progress) -> Order:
        """Asked about twice a second. All but "go on" ends what runs: by order of a person
        ("cancel"), because the worker ends ("stop"), or because the attempt is not its own
        any more ("gone")."""


@dataclass(frozen=True)
class Flag:
    """What speaks against a result, in a word for programs and a sentence for readers.

    Words: "load" (others used the host), "steal" (the hypervisor gave its time to others),
    "throttled" (the clock was held down), "swap", "short" (too short to measure), "memory".
    """

    word: str
    text: str


@dataclass(frozen=True)
class Limits:
    """Bounds of one execution: bytes of each output file, s between TERM and KILL, s between
    two ticks, bytes of the end of the output that a tick is shown; bytes of any file that a
    program writes (None: nine tenths of what is free, or the memory's size if that is more)."""

    output_bytes: int = 10_000_000
    grace_s: float = 5.0
    tick_s: float = 0.5
    tail_bytes: int = 8_000
    file_bytes: int | None = None


@dataclass(frozen=True)
class Outcome:
    """What came of the steps.

    `end` "finished" is said only where every step ended by itself with exit code 0, its
    "finished" sign, and its whole output; then `outputs` holds each step's standard output by the
    step's name. `message` says in a sentence why it did not, without
    a word of what was printed, which not all may read: that is `said`, the last lines of what
    failed, and `tail`, the end of the last output. `record` can be written as JSON:
    for each step arguments, environment, CPUs, times, exit code, bytes; the host before and
    after; samples.
    """

    end: End
    message: str = ""
    said: str = ""
    tail: str = ""
    outputs: Mapping[str, Path] = field(default_factory=dict)
    flags: tuple[Flag, ...] = ()
    record: Mapping[str, Any] = field(default_factory=dict)
    elapsed_s: float = 0.0
