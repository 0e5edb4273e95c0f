"""BenchHub's own bandwidth kernel (runners/kernels/bandwidth.c), version benchhub-1.

It follows the definition of STREAM and is stored beside it. Its layout is known to the line, so
the lines are read in their order: one that is missing, doubled or of another kind is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from results.bundle.problems import show
from results.formats.base import (
    Draft,
    DraftRun,
    File,
    Found,
    Log,
    Reading,
    Remark,
    Scalar,
    every_run,
)

NAME = "BenchHub bandwidth kernel"
ORDER = 39
# Arrays that a kernel reads and writes, in the order in which they run.
KERNELS = {"copy": 2, "scale": 2, "add": 3, "triad": 3}
BEGIN = r"^BenchHub bandwidth kernel, version (\S{1,40})$"
KNOWN = re.compile(r"(?m)^BenchHub bandwidth kernel, version ")
VERSION = "benchhub-1"
HEAD = "Kernel    Best GB/s  Average GB/s  Worst GB/s   Shortest s    Average s    Longest s"
SECONDS = r"(\d{1,9}\.\d{9})"
RATE = r"(\d{1,12}\.\d{4})"
PASS = (
    r"^Pass (\d{1,4}) of (\d{1,4}): "
    rf"copy {SECONDS} scale {SECONDS} add {SECONDS} triad {SECONDS} s$"
)
LIST = r"([\d,-]{1,2000}|not known)$"
# Lines of the head by name, in their order: the expression, and what was expected in words.
LINES = {
    "follows": (r"^Not the STREAM program: ", "a line 'Not the STREAM program: …'"),
    "started": (r"^Started: ([\d:TZ-]{20})$", "'Started: ' and the time in UTC"),
    "compiler": (
        r"^Compiler: ((?:GCC|Clang) \d{1,3}\.\d{1,3}\.\d{1,3}|not known)$",
        "'Compiler: ' and its version",
    ),
    "flags": (r"^Compiler flags: ([ -~]{1,200})$", "'Compiler flags: '"),
    "stores": (r"^Stores: (plain|streaming)\b", "'Stores: ' plain or streaming"),
    "elements": (r"^Elements: (\d{1,13}) in each of 3 arrays$", "'Elements: ' and their number"),
    "bytes": (r"^Bytes per element: (8)$", "'Bytes per element: 8'"),
    "gib": (r"^Array size: (\d{1,9}\.\d{6}) GiB$", "'Array size: ' in GiB"),
    "pages": (r"^Pages: ", "'Pages: '"),
    "cache": (
        r"^Last-level cache: (?:(\d{1,16}) bytes, an array is (\d{1,15}\.\d\d) times as large"
        r"|not known)$",
        "'Last-level cache: '",
    ),
    "note": (r"^Note: an array should be at least 4 times ", ""),
    "threads": (r"^Threads: (\d{1,4}) counted, (bound|not bound)$", "'Threads: ' as counted"),
    "placement": (r"^Placement: (all|local|remote|interleave)$", "'Placement: '"),
    "passes": (r"^Passes: (\d{1,4}), the first does not count$", "'Passes: ' and their number"),
    "cpus": (rf"^CPUs: {LIST}", "'CPUs: '"),
    "cpu_nodes": (rf"^Nodes of the CPUs: {LIST}", "'Nodes of the CPUs: '"),
    "memory_nodes": (rf"^Nodes of the memory: {LIST}", "'Nodes of the memory: '"),
}
OPTIONAL = frozenset({"note"})
FAILED = "'Validation: passed': the result was wrong, so no rate counts"
LLC_TIMES = 4
# A rate is printed with its own shortest time, both rounded: they agree far better than this.
APART = 0.01


def detect(file: File) -> bool:
    """The line with which the kernel begins."""
    return KNOWN.search(file.head) is not None


def parse(file: File) -> Draft:
    """Every output of the file as a run. Raises FormatError with what is wrong in each."""
    draft = every_run(file, BEGIN, _run)
    if not draft.runs:
        file.log.require(BEGIN, "'BenchHub bandwidth kernel, version …'")
    return draft


def _run(log: Log) -> tuple[DraftRun, list[Remark]]:
    """One output. Raises FormatError where it failed, was cut, or contradicts itself."""
    lines = _Lines(log)
    head = _head(lines)
    times = _passes(lines, int(head["passes"][1]))
    elements = int(head["elements"][1])
    readings = tuple(_table(lines, times, elements))
    _check_end(lines)
    _check_size(log, head)
    remarks = [*_cache_remarks(log, head), *_placement_remarks(log, head)]
    compiler, flags = head["compiler"][1], head["flags"][1]
    setup = {"compiler": compiler, "compiler.flags": flags}
    threads = int(head["threads"][1])
    run = DraftRun(
        benchmark="stream",
        readings=readings,
        version=VERSION,
        scope="thread" if threads == 1 else None,
        parameters=_parameters(head),
        setup={name: said for name, said in setup.items() if not said.startswith("not ")},
        started_at=_started(log, head["started"]),
    )
    return run, remarks


class _Lines:
    """The lines of one output, taken one by one."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.at = log.first

    def next_if(self, pattern: str) -> Found | None:
        """The next line, if it is of this kind."""
        found = self.log.find(f"(?a){pattern}", start=self.at, end=self.at)
        self.at += found is not None
        return found

    def take(self, pattern: str, expected: str) -> Found:
        """The next line. Raises FormatError where it is of another kind, or there is none."""
        if self.at > self.log.last:
            self.log.refuse(self.log.last, "the end of the output", expected)
        found = self.next_if(pattern)
        if found is None:
            self.log.refuse(self.at, show(self.log.line(self.at)), expected)
        return found


def _head(lines: _Lines) -> dict[str, Found]:
    """The lines above the passes, by name."""
    first = lines.take(BEGIN, "the kernel's version")
    if first[1] != VERSION:
        lines.log.refuse(first.line, show(first[1]), f"version {VERSION}")
    found = {}
    for name, (pattern, expected) in LINES.items():
        line = lines.next_if(pattern) if name in OPTIONAL else lines.take(pattern, expected)
        if line:
            found[name] = line
    if not 0 < int(found["elements"][1]) <= 2**42:
        lines.log.refuse(found["elements"].line, show(found["elements"][1]), "a number above 0")
    if int(found["threads"][1]) == 0:
        lines.log.refuse(found["threads"].line, "no threads", "at least 1")
    if int(found["passes"][1]) < 2:
        lines.log.refuse(found["passes"].line, show(found["passes"][1]), "at least 2 passes")
    return found


def _passes(lines: _Lines, passes: int) -> list[tuple[float, ...]]:
    """Seconds of each pass and kernel, without the first pass, which does not count."""
    times = []
    for number in range(1, passes + 1):
        expected = f"'Pass {number} of {passes}: ' with a time for each kernel"
        found = lines.take(PASS, expected)
        seconds = tuple(float(found[at]) for at in range(3, 3 + len(KERNELS)))
        if (int(found[1]), int(found[2])) != (number, passes) or not all(seconds):
            lines.log.refuse(found.line, show(lines.log.line(found.line)), expected)
        times.append(seconds)
    return times[1:]


def _table(lines: _Lines, times: Sequence[tuple[float, ...]], elements: int) -> list[Reading]:
    """The best rate of each kernel: by definition the value.

    The passes are no samples of it: one process, one placement of its pages, one moment of the
    machine. How much results vary is told by several runs.
    """
    lines.take(rf"^{re.escape(HEAD)}$", "the table's head ('Kernel    Best GB/s …')")
    readings = []
    for at, (kernel, arrays) in enumerate(KERNELS.items()):
        row = _take_row(lines, kernel)
        taken = [seconds[at] for seconds in times]
        row.check(lines.log, taken, moved=8 * arrays * elements)
        place = (row.line, row.line)
        printed = f"{row.found[1]} GB/s"
        readings.append(Reading(f"{kernel}.bandwidth", row.rates[0], "GB/s", place, printed))
    lines.take(r"^GB/s: 10\^9 bytes a second", "'GB/s: 10^9 bytes a second'")
    return readings


def _take_row(lines: _Lines, kernel: str) -> _Row:
    gap = r" {1,12}"
    cells = gap.join((RATE, RATE, RATE, SECONDS, SECONDS, SECONDS))
    expected = f"a row '{kernel.title()}' of three rates and three times"
    return _Row(kernel, lines.take(rf"^{kernel.title()}{gap}{cells}$", expected))


@dataclass(frozen=True)
class _Row:
    """A kernel's row: best, average and worst rate in GB/s, and their times in s."""

    kernel: str
    found: Found

    @property
    def line(self) -> int:
        return self.found.line

    @property
    def rates(self) -> tuple[float, ...]:
        return tuple(float(self.found[at]) for at in (1, 2, 3))

    @property
    def seconds(self) -> tuple[float, ...]:
        return tuple(float(self.found[at]) for at in (4, 5, 6))

    def check(self, log: Log, taken: Sequence[float], *, moved: int) -> None:
        """Raises FormatError where passes, times and rates do not make each other."""
        if not all((self.rates[0], *self.seconds)):
            log.refuse(self.line, show(log.line(self.line)), "a best rate and times above 0")
        made = (min(taken), sum(taken) / len(taken), max(taken))
        for said, own, what in zip(
            self.seconds, made, ("shortest", "average", "longest"), strict=True
        ):
            if abs(said - own) > 2e-9 + 1e-9 * own:
                found = f"a {what} time of {said:.9f} s for {self.kernel}"
                log.refuse(self.line, found, f"{own:.9f} s, as the passes above make")
        for rate, seconds in zip(self.rates, self.seconds, strict=True):
            makes = moved / seconds / 1e9
            if abs(rate - makes) > APART * makes + 1e-4:
                found = f"{rate:.4f} GB/s beside a time of {seconds:.9f} s"
                log.refuse(self.line, found, f"about {makes:.4f} GB/s, as size and time make")


def _check_end(lines: _Lines) -> None:
    """The kernel's own check, and the line that says that it came to its end."""
    failed = lines.next_if(r"^Validation: failed")
    if failed:
        lines.log.refuse(failed.line, show(lines.log.line(failed.line)), FAILED)
    number = r"(\d(?:\.\d)?e[+-]\d{2,3})"
    passed = lines.take(
        rf"^Validation: passed, largest relative error {number} of {number} allowed$", FAILED
    )
    if float(passed[1]) > float(passed[2]):
        lines.log.refuse(passed.line, f"an error of {passed[1]}", f"at most {passed[2]}")
    lines.take(r"^Finished$", "'Finished': the output came to its end")


def _check_size(log: Log, head: dict[str, Found]) -> None:
    """Raises FormatError where the sizes that are said do not make each other."""
    size = int(head["elements"][1]) * 8
    if abs(float(head["gib"][1]) - size / 2**30) > 1e-6:
        found, expected = f"{head['gib'][1]} GiB", f"{size / 2**30:.6f} GiB, as the elements make"
        log.refuse(head["gib"].line, found, expected)
    cache = head["cache"]
    if not cache[1]:
        return
    if not int(cache[1]):
        log.refuse(cache.line, "a last-level cache of 0 bytes", "its size, or 'not known'")
    times = size / int(cache[1])
    if abs(float(cache[2]) - times) > 0.006:
        log.refuse(cache.line, f"{cache[2]} times", f"{times:.2f} times, as both sizes make")


def _parameters(head: dict[str, Found]) -> dict[str, Scalar]:
    """By the catalogue's names."""
    elements = int(head["elements"][1])
    array_gib = float(f"{elements * 8 / 2**30:.4g}")
    return {
        "threads": int(head["threads"][1]),
        "placement": head["placement"][1],
        "streaming_stores": "yes" if head["stores"][1] == "streaming" else "no",
        "array_gib": int(array_gib) if array_gib.is_integer() else array_gib,
        "array_elements": elements,
        "ntimes": int(head["passes"][1]),
    }


def _cache_remarks(log: Log, head: dict[str, Found]) -> list[Remark]:
    cache = head["cache"]
    if not cache[1]:
        text = (
            "the last-level cache is not known: whether the arrays are large enough cannot be told"
        )
        return [Remark(text, cache.line)]
    if int(head["elements"][1]) * 8 < LLC_TIMES * int(cache[1]):
        text = (
            f"an array is {cache[2]} times as large as the last-level caches; the rules ask for 4"
        )
        return [Remark(text, cache.line)]
    return []


def _placement_remarks(log: Log, head: dict[str, Found]) -> list[Remark]:
    """Where memory lay otherwise than the placement means. Raises FormatError if it is wrong."""
    remarks = []
    if head["threads"][2] == "not bound":
        text = "the threads were not bound to CPUs: they may have moved"
        remarks.append(Remark(text, head["threads"].line))
    near, used = _numbers(head["cpu_nodes"][1]), _numbers(head["memory_nodes"][1])
    if not near or not used:
        return remarks
    line, placement = head["memory_nodes"].line, head["placement"][1]
    said = f"memory of nodes {head['memory_nodes'][1]} and CPUs of nodes {head['cpu_nodes'][1]}"
    if placement == "remote" and near & used:
        log.refuse(line, said, "memory of other nodes only, as remote means")
    if placement == "interleave" and len(used) < 2:
        log.refuse(line, said, "memory of two nodes or more, as interleave means")
    if placement in {"all", "local"} and used - near:
        text = f"{said}: some of it lay on nodes of other CPUs"
        remarks.append(Remark(text, line))
    return remarks


def _numbers(listed: str) -> set[int]:
    """The numbers of "0-3,8"; none where it is not such a list."""
    found: set[int] = set()
    for part in listed.split(","):
        ends = re.fullmatch(r"(\d{1,4})(?:-(\d{1,4}))?", part, re.ASCII)
        if not ends:
            return set()
        found.update(range(int(ends[1]), int(ends[2] or ends[1]) + 1))
    return found


def _started(log: Log, found: Found) -> str:
    """The time as ISO 8601. Raises FormatError where there is no such time."""
    try:
        datetime.fromisoformat(found[1])
    except ValueError:
        log.refuse(found.line, show(found[1]), "a time like 2026-12-01T08:30:00Z")
    return found[1]
