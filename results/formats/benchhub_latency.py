"""BenchHub's own memory latency kernel (runners/kernels/latency.c), version benchhub-1.

It counts as tinymembench counts its single random read and is stored beside it. The kernel
prints the same lines in the same order; anything else is refused, and so is a result that its
own repeats do not make.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from statistics import median

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

NAME = "BenchHub latency kernel"
ORDER = 39
VERSION = "benchhub-1"
BEGIN = r"^BenchHub latency kernel, version (\S{1,40})$"
KNOWN = re.compile(r"(?m)^BenchHub latency kernel, version ")
WHOLE = r"(\d{1,14})"
NS = r"(\d{1,9}\.\d{4})"
SPREAD = rf"best {NS} median {NS} worst {NS} ns$"
MIB, GIB = 2**20, 2**30
# What stands above the repeats, in its order: the name here, the line's beginning, the rest.
HEAD = (
    ("follows", "Not the tinymembench program: ", ""),
    ("started", "Started: ", r"([\d:TZ-]{20})$"),
    ("compiler", "Compiler: ", r"((?:GCC|Clang) \d{1,3}\.\d{1,3}\.\d{1,3}|not known)$"),
    ("flags", "Compiler flags: ", "([ -~]{1,200})$"),
    ("bytes", "Buffer: ", rf"{WHOLE} bytes$"),
    ("gib", "Buffer size: ", r"(\d{1,9}\.\d{6}) GiB$"),
    ("threads", "Threads: ", "(1)$"),
    ("placement", "Placement: ", "(local|remote)$"),
    ("loads", "Loads: ", r"(\d{1,10}) in each of (\d{1,4}) repeats$"),
    ("page", "Page size: ", "(4k|2m)$"),
    ("huge", "Huge pages: ", rf"{WHOLE} of {WHOLE} MiB(?:, (transparent|reserved))?$"),
    ("cpu", "CPU: ", r"(\d{1,4})$"),
    ("cpu_node", "Node of the CPU: ", r"(\d{1,4})$"),
    ("nodes", "Nodes of the memory: ", r"(\d{1,4}|not known)$"),
)
STOPPED = re.compile("(?:Not measured: |Validation: failed)")
HUGE_SHARE = 0.95
# Printed to four places, each rounded by itself.
ROUNDING = 0.00021
# A repeat that took so much longer than the best was disturbed.
DISTURBED = 1.2


def detect(file: File) -> bool:
    """The line with which the kernel begins."""
    return KNOWN.search(file.head) is not None


def parse(file: File) -> Draft:
    """Every output of the file as a run. Raises FormatError with what is wrong in each."""
    draft = every_run(file, BEGIN, _run)
    if not draft.runs:
        file.log.require(BEGIN, "'BenchHub latency kernel, version …'")
    return draft


def _run(log: Log) -> tuple[DraftRun, Iterable[Remark]]:
    """One output. Raises FormatError where it failed, was cut, or contradicts itself."""
    output = _Output(log)
    return output.run(), output.remarks()


class _Output:
    """One output, read to its last line. Raises FormatError where it is not as it must be."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.at = log.first
        version = self.take("", BEGIN, "the kernel's version")
        if version[1] != VERSION:
            log.refuse(version.line, show(version[1]), f"version {VERSION}")
        self.head = {name: self.take(begin, rest) for name, begin, rest in HEAD}
        _check_head(log, self.head)
        self.repeats = list(self._repeats(int(self.head["loads"][2])))
        self.l1 = self.take("L1 hit: ", rf"best {NS} ns$")
        self.full = self.take("Load to use: ", SPREAD)
        self.beyond = self.take("Beyond an L1 hit: ", SPREAD)
        _check_results(log, self.repeats, self.l1, self.full, self.beyond)
        self.take("Checksum: ", "[0-9a-f]{16}$")
        self.take("Validation: passed, ", r"all \d{1,4} chains of loads went as computed ")
        self.take("Finished", "$")

    def take(self, begin: str, rest: str, expected: str = "") -> Found:
        """The next line, if it is of this kind."""
        expected = expected or (f"'{begin}'" if rest == "$" else f"a line '{begin}…'")
        if self.at > self.log.last:
            self.log.refuse(self.log.last, "the end of the output", expected)
        text = show(self.log.line(self.at))
        if STOPPED.match(self.log.line(self.at)):
            self.log.refuse(self.at, text, "a measurement: without one no number counts")
        pattern = f"(?a)^{re.escape(begin)}{rest}" if begin else f"(?a){rest}"
        found = self.log.find(pattern, start=self.at, end=self.at)
        if found is None:
            self.log.refuse(self.at, text, expected)
        self.at += 1
        return found

    def _repeats(self, count: int) -> Iterator[Found]:
        """A line for each, with ns a load over the buffer and in the L1 cache."""
        if not count:
            self.log.refuse(self.head["loads"].line, "0 repeats", "at least 1")
        for number in range(1, count + 1):
            yield self.take(f"Repeat {number} of {count}: ", f"{NS} ns, in the L1 cache {NS} ns$")

    def run(self) -> DraftRun:
        """The best of the repeats: by definition the value. They are no samples of it: one
        process, one placement of its pages, one moment of the machine."""
        setup = {"compiler": self.head["compiler"][1], "compiler.flags": self.head["flags"][1]}
        return DraftRun(
            benchmark="tinymembench",
            readings=(
                _reading("random_read.latency", self.beyond),
                _reading("random_read.load_to_use", self.full),
            ),
            version=VERSION,
            scope="thread",
            parameters=_parameters(self.head),
            setup={name: said for name, said in setup.items() if not said.startswith("not ")},
            started_at=self.head["started"][1],
        )

    def remarks(self) -> Iterator[Remark]:
        """What is read, and yet worth a look."""
        found, whole = int(self.head["huge"][1]), int(self.head["huge"][2])
        if self.head["page"][1] == "2m" and found < whole:
            text = f"{found} of {whole} MiB were in pages of 2 MiB, the rest in small ones"
            yield Remark(text, self.head["huge"].line)
        if self.head["nodes"][1] == "not known":
            text = "of which node the buffer's memory was is not known"
            yield Remark(text, self.head["nodes"].line)
        best, worst = float(self.full[1]), float(self.full[3])
        if worst > DISTURBED * best:
            text = f"the slowest repeat took {worst / best:.2f} times the best: others used memory"
            yield Remark(text, self.full.line)


def _reading(metric: str, found: Found) -> Reading:
    return Reading(metric, float(found[1]), "ns", (found.line, found.line), f"{found[1]} ns")


def _parameters(head: dict[str, Found]) -> dict[str, Scalar]:
    """By the catalogue's names."""
    gib = round(int(head["bytes"][1]) / GIB, 6)
    return {
        "threads": 1,
        "placement": head["placement"][1],
        "page": head["page"][1],
        "buffer_gib": int(gib) if gib.is_integer() else gib,
        "repeats": int(head["loads"][2]),
    }


def _check_head(log: Log, head: dict[str, Found]) -> None:
    """Raises FormatError where what is said of buffer, pages and nodes does not fit."""
    size = int(head["bytes"][1])
    if not size or size % (2 * MIB):
        log.refuse(head["bytes"].line, f"{size} bytes", "whole pages of 2 MiB")
    if abs(float(head["gib"][1]) - size / GIB) > 1e-6:
        expected = f"{size / GIB:.6f} GiB, as the bytes make"
        log.refuse(head["gib"].line, f"{head['gib'][1]} GiB", expected)
    if not int(head["loads"][1]):
        log.refuse(head["loads"].line, "0 loads", "at least 1")
    _check_pages(log, head["huge"], head["page"][1], size // MIB)
    _check_nodes(log, head)
    try:
        datetime.fromisoformat(head["started"][1])
    except ValueError:
        expected = "a time like 2026-12-01T08:30:00Z"
        log.refuse(head["started"].line, show(head["started"][1]), expected)


def _check_pages(log: Log, huge: Found, page: str, mib: int) -> None:
    found = f"{huge[1]} of {huge[2]} MiB in huge pages"
    if int(huge[2]) != mib or int(huge[1]) > mib:
        log.refuse(huge.line, found, f"those of {mib} MiB, as the bytes make")
    if page == "4k" and int(huge[1]):
        log.refuse(huge.line, found, "none: pages of 4 KiB were asked for")
    if page == "2m" and int(huge[1]) < HUGE_SHARE * mib:
        log.refuse(huge.line, found, f"at least {HUGE_SHARE:.0%}: pages of 2 MiB were asked for")


def _check_nodes(log: Log, head: dict[str, Found]) -> None:
    near, used = head["cpu_node"][1], head["nodes"][1]
    found = f"a CPU of node {near} and memory of node {used}"
    if head["placement"][1] == "remote" and used in {near, "not known"}:
        log.refuse(head["nodes"].line, found, "memory of another node, as remote means")
    if head["placement"][1] == "local" and used not in {near, "not known"}:
        log.refuse(head["nodes"].line, found, "memory of the same node, as local means")


def _check_results(
    log: Log, repeats: Sequence[Found], l1: Found, full: Found, beyond: Found
) -> None:
    """Raises FormatError where the repeats do not make the results."""
    taken = [float(found[1]) for found in repeats]
    in_l1 = min(float(found[2]) for found in repeats)
    spread = (min(taken), median(taken), max(taken))
    if spread[0] <= in_l1:
        expected = "more than a load that hits the L1 cache takes"
        log.refuse(full.line, f"{spread[0]:.4f} ns for a load over the buffer", expected)
    _check_figures(log, l1, (in_l1,))
    _check_figures(log, full, spread)
    _check_figures(log, beyond, [ns - in_l1 for ns in spread])


def _check_figures(log: Log, found: Found, own: Sequence[float]) -> None:
    for at, ns in enumerate(own, 1):
        if not math.isclose(float(found[at]), ns, rel_tol=0, abs_tol=ROUNDING):
            log.refuse(found.line, f"{found[at]} ns", f"{ns:.4f} ns, as the repeats make")
