"""The words in which a format says what it read. Pure: no Django, no database, no clock.

A format is one module of this room with three names: `NAME` (the tool, in words),
`detect(file)` and `parse(file)`. Nothing lists the modules: they are found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Literal, NoReturn

from results.bundle import BundleError, Defaults, Document, Problem
from results.bundle.decode import decode
from results.bundle.problems import show

HEAD_BYTES = 16_384
# Longer lines are cut before any expression is tried on them: no tool prints such a result.
LONGEST_LINE = 4_096
# What float() takes beside these (1_000, digits of other scripts, inf) no tool prints.
NUMBER = re.compile(
    r"[+-]?(?:\d{1,40}|\d{0,40}\.\d{1,40}|\d{1,40}\.)(?:[eE][+-]?\d{1,4})?", re.ASCII
)
Scalar = str | int | float
Lines = tuple[int, int]
Scope = Literal["system", "socket", "cores", "thread", "shard", "cluster"]


class FormatError(BundleError):
    """A file that a format knows and refuses; says file, line, found and expected."""


def refuse(file: File, line: int | None, found: str, expected: str, *, field: str = "") -> NoReturn:
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
    def top(self) -> tuple[str, ...]:
        """The first 12 lines of `head` with something in them, without outer blanks."""
        lines = (line.strip() for line in self.head.split("\n"))
        return tuple(islice((line for line in lines if line), 12))

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
    """A text by its lines, numbered from 1 as editors and the evidence page number them.

    A part of a text (`parts`) keeps the numbers of the whole: its own begin at `first`.
    """

    def __init__(self, file: File, *, lines: list[str] | None = None, first: int = 1) -> None:
        self.file = file
        self.first = first
        if lines is None:
            lines = [line.rstrip("\r")[:LONGEST_LINE] for line in file.text.split("\n")]
        self.lines = lines

    def all(self, pattern: str, *, start: int = 1, end: int | None = None) -> Iterator[Found]:
        """Each line from `start` to `end` that the expression is found in."""
        compiled = re.compile(pattern)
        begin = max(start - self.first, 0)
        stop = None if end is None else max(end - self.first + 1, 0)
        for number, line in enumerate(self.lines[begin:stop], self.first + begin):
            match = compiled.search(line)
            if match:
                yield Found(number, match)

    def find(self, pattern: str, *, start: int = 1, end: int | None = None) -> Found | None:
        """The first such line, if there is one."""
        return next(self.all(pattern, start=start, end=end), None)

    def parts(self, pattern: str) -> Iterator[Log]:
        """A part for each such line: from it to the line before the next.

        For files in which a tool was run several times. None where there is no such line.
        """
        begins = [found.line for found in self.all(pattern)]
        ends = [*(line - 1 for line in begins[1:]), self.first + len(self.lines) - 1]
        for begin, end in zip(begins, ends, strict=bool(begins)):
            lines = self.lines[begin - self.first : end - self.first + 1]
            yield Log(self.file, lines=lines, first=begin)

    def line(self, number: int) -> str:
        """The text of a line of this log."""
        return self.lines[number - self.first]

    @property
    def last(self) -> int:
        """The number of the last line; an empty one behind the last line end is none."""
        return max(self.first, self.first + len(self.lines) - 1 - (self.lines[-1:] == [""]))

    def require(self, pattern: str, expected: str, *, start: int = 1) -> Found:
        """The first such line. Raises FormatError that says what was expected."""
        found = self.find(pattern, start=start)
        if found is None:
            self.refuse(self.last, "the end of the output", expected)
        return found

    def read(self, pattern: str, *, metric: str, unit: str) -> Reading:
        """The number in the expression's first group. Raises FormatError without one."""
        found = self.require(pattern, f"a line with {metric} in {unit}")
        value = self.number(found, 1, field=metric)
        return Reading(metric, value, unit, (found.line, found.line), f"{found[1]} {unit}")

    def number(self, found: Found, group: int | str = 1, *, field: str = "") -> float:
        """A group as a finite number above or equal to 0. Raises FormatError."""
        return number(self.file, found.line, found[group], field=field)

    def refuse(self, line: int | None, found: str, expected: str) -> NoReturn:
        """Refuse the file at a line."""
        refuse(self.file, line, found, expected)


MOST_PROBLEMS = 20


Read = Callable[[Log], tuple[DraftRun, Iterable[Remark]]]


def every_run(file: File, begin: str, read: Read) -> Draft:
    """The runs of all outputs that stand in a file, each from a line with `begin` on.

    `read` raises FormatError; here it is raised with what is wrong in all of them.
    """
    runs: list[DraftRun] = []
    remarks: list[Remark] = []
    problems: list[Problem] = []
    for part in file.log.parts(begin):
        try:
            run, told = read(part)
        except FormatError as error:
            problems += error.problems
        else:
            runs.append(run)
            remarks += told
        if len(problems) >= MOST_PROBLEMS:
            break
    if problems:
        raise FormatError(problems)
    return Draft(runs=tuple(runs), remarks=tuple(remarks))


def number(file: File, line: int, text: str, *, field: str = "") -> float:
    """`text` as a finite number, 0 or more, with a decimal point. Raises FormatError."""
    value = float(text) if len(text) <= 40 and NUMBER.fullmatch(text) else float("nan")
    if not 0 <= value < 1e300:
        refuse(file, line, show(text), "a number, 0 or more", field=field)
    return value
