"""The words in which a format says what it read. Pure: no Django, no database, no clock.

A format is one module of this room with three names: `NAME` (the tool, in words),
`detect(file)` and `parse(file)`. Nothing lists the modules: they are found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NoReturn

from results.bundle import BundleError, Defaults, Document, Problem
from results.bundle.decode import decode
from results.bundle.problems import show

HEAD_BYTES = 16_384
# Longer lines are cut before any expression is tried on them: no tool prints such a result.
LONGEST_LINE = 4_096
Scalar = str | int | float
Lines = tuple[int, int]
Scope = Literal["system", "socket", "cores", "thread", "shard", "cluster"]


class FormatError(BundleError):
    """A file that a format knows and refuses; says file, line, found and expected."""


def refuse(
    file: File, line: int | None, found: str, expected: str, *, field: str = ""
) -> NoReturn:
    """Refuse the file. `found` and `expected` make the sentence."""
    message = f"found {found}, expected {expected}"
    raise FormatError([Problem(message, file.name, line, field, found, expected)])


@dataclass(frozen=True)
class File:
    """A file as it came: its flat name and its bytes."""

    name: str
    data: bytes = field(repr=False)

    @cached_property
    def head(self) -> str:
        """The beginning as text, for `detect`; whatever is no text is replaced."""
        data = self.data[:HEAD_BYTES]
        encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        return data.decode(encoding, "replace")

    @cached_property
    def text(self) -> str:
        """The whole as text. Raises BundleError, naming the line, where it is none."""
        return decode(self.data, self.name)

    @cached_property
    def log(self) -> Log:
        """The text by its lines. Raises as `text` does."""
        return Log(self)


@dataclass(frozen=True)
class Reading:
    """A metric's value in the unit that the file prints, with the lines it was read from.

    `printed` is what stands there. A range has no value but `low` and `high`.
    """

    metric: str
    value: float | None
    unit: str
    lines: Lines | None = None
    printed: str = ""
    samples: tuple[float, ...] = ()
    low: float | None = None
    high: float | None = None
    note: str = ""


@dataclass(frozen=True)
class DraftRun:
    """A run as far as its output says. What it does not say stays out: nothing is guessed.

    `scope` None: to be worked out from the threads and the system, or asked. `asks` names
    parameters of the benchmark that the tool cannot know and a reader wants to know.
    `system` is a name that the file itself gives to the machine, if it does.
    """

    benchmark: str
    readings: tuple[Reading, ...]
    version: str = ""
    scope: Scope | None = None
    parameters: Mapping[str, Scalar] = field(default_factory=dict)
    setup: Mapping[str, str] = field(default_factory=dict)
    asks: tuple[str, ...] = ()
    started_at: str = ""
    node: str = ""
    note: str = ""
    system: str = ""


@dataclass(frozen=True)
class Fact:
    """Something a file says about the machine, and the line where it says so."""

    value: Scalar
    line: int | None = None


@dataclass(frozen=True)
class Remark:
    """Something a reader of the preview should know about how a file was read."""

    text: str
    line: int | None = None
    file: str = ""


@dataclass(frozen=True)
class Draft:
    """What was understood of one file: runs, facts of the machine, settings of its software.

    Names of `facts` are those of `FACTS`; of `setup` those of the Bundle. `reads` is given
    where the file is a Bundle already: it is read with what is known beside the file.
    """

    runs: tuple[DraftRun, ...] = ()
    facts: Mapping[str, Fact] = field(default_factory=dict)
    setup: Mapping[str, Fact] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()
    reads: Callable[[Defaults], Document] | None = None

    def of(self, file: File) -> Draft:
        """The same, its remarks naming the file."""
        return replace(self, remarks=tuple(replace(r, file=file.name) for r in self.remarks))


# What may be said of a machine: of the whole, unless the name says otherwise.
FACTS: Mapping[str, str] = {
    "processor": "model name of the CPU, as printed",
    "vendor": "who makes the CPU: AMD, Intel, Arm …",
    "isa": "x86-64, arm64, riscv64, ppc64le …",
    "sockets": "populated sockets",
    "cores_per_socket": "physical cores of one socket",
    "threads_per_core": "threads of one core as the system sees them: 1 with SMT off",
    "threads": "logical CPUs of the machine",
    "numa_nodes": "NUMA nodes",
    "base_ghz": "GHz",
    "max_ghz": "GHz",
    "l1d_kb": "KiB, of one core",
    "l1i_kb": "KiB, of one core",
    "l2_kb": "KiB, of one core",
    "l3_mb": "MiB, of one socket",
    "memory_gb": "GB as sold: modules × capacity",
    "memory_total_gb": "GiB that the system sees: somewhat less",
    "memory_modules": "populated modules",
    "memory_type": "DDR5 …",
    "memory_mts": "MT/s as configured",
    "product": "name of the machine, as its maker prints it",
    "maker": "maker of the machine",
    "bios": "version of the firmware",
    "virtual": "the hypervisor, where it is a virtual machine",
}


@dataclass(frozen=True)
class Found:
    """A match and its line."""

    line: int
    match: re.Match[str]

    def __getitem__(self, group: int | str) -> str:
        return self.match[group] or ""


class Log:
    """A text by its lines, numbered from 1 as editors and the evidence page number them."""

    def __init__(self, file: File) -> None:
        self.file = file
        self.lines = [line.rstrip("\r")[:LONGEST_LINE] for line in file.text.split("\n")]

    def all(self, pattern: str, *, start: int = 1, end: int | None = None) -> Iterator[Found]:
        """Each line from `start` to `end` that the expression is found in."""
        compiled = re.compile(pattern)
        for number, line in enumerate(self.lines[start - 1 : end], start):
            match = compiled.search(line)
            if match:
                yield Found(number, match)

    def find(self, pattern: str, *, start: int = 1, end: int | None = None) -> Found | None:
        """The first such line, if there is one."""
        return next(self.all(pattern, start=start, end=end), None)

    def require(self, pattern: str, expected: str, *, start: int = 1) -> Found:
        """The first such line. Raises FormatError that says what was expected."""
        found = self.find(pattern, start=start)
        if found is None:
            last = max(1, len(self.lines) - (self.lines[-1] == ""))
            refuse(self.file, last, "the end of the file", expected)
        return found

    def read(self, pattern: str, *, metric: str, unit: str) -> Reading:
        """The number in the expression's first group. Raises FormatError without one."""
        found = self.require(pattern, f"a line with {metric} in {unit}")
        value = self.number(found, 1, field=metric)
        return Reading(metric, value, unit, (found.line, found.line), f"{found[1]} {unit}")

    def number(self, found: Found, group: int | str = 1, *, field: str = "") -> float:
        """A group as a finite number above or equal to 0. Raises FormatError."""
        text = found[group]
        try:
            value = float(text) if len(text) <= 40 else float("nan")
        except ValueError:
            value = float("nan")
        if not 0 <= value < 1e300:
            refuse(self.file, found.line, show(text), "a number, 0 or more", field=field)
        return value

    def refuse(self, line: int | None, found: str, expected: str) -> NoReturn:
        """Refuse the file at a line."""
        refuse(self.file, line, found, expected)
