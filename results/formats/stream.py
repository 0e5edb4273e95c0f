"""STREAM's output: the C program, 5.9 and 5.10, and the Fortran one.

Source: https://www.cs.virginia.edu/stream/. Rates are in MB/s, 10**6 bytes a second; the
best of all passes but the first. A file may hold several outputs, one behind another.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

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
    number,
)

NAME = "STREAM"
ORDER = 40
# Arrays that a kernel reads and writes, as STREAM counts them.
KERNELS = {"copy": 2, "scale": 2, "add": 3, "triad": 3}
VERSION = r"^[ \t]*STREAM version\s{1,9}\$Revision:\s{0,9}([\w.]{1,20})"
BEGIN = f"(?i){VERSION}"
HEAD = r"(?i)^[\s|]*Function\b.*(?:\bRate\b|\b[MG]i?B/s)"
# A table without the rest is a relative's: better refused by name than not known.
KNOWN = re.compile(rf"(?im){VERSION}|^[ \t]*Function {{1,20}}Best Rate MB/s")
COLUMN = re.compile(
    r"function"
    r"|(?:\b(?:best|avg|average|mean|worst|max|min)\s{1,9})?(?:rate\s{0,9})?\(?[MG]i?B/s\)?"
    r"|(?:avg|average|mean|rms|min|max|best|worst)\s{1,9}time",
    re.IGNORECASE,
)
UNIT = re.compile(r"[MG]i?B/s", re.IGNORECASE)
UNITS = {"mb/s": "MB/s", "mib/s": "MiB/s", "gb/s": "GB/s", "gib/s": "GiB/s"}
PER_SECOND = {"MB/s": 1e6, "MiB/s": 2.0**20, "GB/s": 1e9, "GiB/s": 2.0**30}
LAYOUT = "STREAM's layout: a rate and its times for each kernel"
# A rate is made from its own shortest time; these are how far they may be apart.
TOLD, REFUSED = 1.02, 1.25


def detect(file: File) -> bool:
    """The line with STREAM's version, or the head of its table."""
    return file.head.lstrip()[:1] not in {"<", "{"} and KNOWN.search(file.head) is not None


def parse(file: File) -> Draft:
    """Every output of the file as a run. Raises FormatError with what is wrong in each."""
    draft = every_run(file, BEGIN, _run)
    if not draft.runs:
        head = file.log.require(HEAD, "STREAM's own lines")
        file.log.refuse(head.line, _variant("a table without 'STREAM version' above"), LAYOUT)
    return draft


def _run(log: Log) -> tuple[DraftRun, list[Remark]]:
    """One output. Raises FormatError where it failed, was cut, or is another program's."""
    _check_program(log)
    head = log.require(HEAD, "the table of rates ('Function    Best Rate MB/s …')")
    parameters = _parameters(log, head.line)
    table = _table(log, head)
    readings = tuple(table.reading(kernel) for kernel in KERNELS)
    log.require(r"^\s*Solution Validates", "'Solution Validates': STREAM's check of its result")
    remarks = _remarks(log, head.line)
    remarks += table.doubts(parameters.get("array_elements"), _element_bytes(log, head.line))
    threads = parameters.get("threads")
    run = DraftRun(
        benchmark="stream",
        readings=readings,
        version=log.require(BEGIN, "STREAM's version")[1],
        scope="thread" if threads == 1 else None,
        parameters=parameters,
        asks=_asks(threads),
    )
    return run, remarks


def _asks(threads: Scalar | None) -> tuple[str, ...]:
    """A build without OpenMP says nothing of threads: a compiler may have made some."""
    if threads is None:
        return ("threads", "placement")
    return () if threads == 1 else ("placement",)


def _check_program(log: Log) -> None:
    """Refuse what STREAM itself found wrong, and its version for clusters."""
    failed = log.find(r"^\s*Failed Validation")
    if failed:
        found = show(log.line(failed.line).strip())
        log.refuse(
            failed.line, found, "'Solution Validates': the result was wrong, so no rate counts"
        )
    ranks = log.find(r"^.{0,80}\bMPI rank")
    if ranks:
        log.refuse(ranks.line, _variant("one over MPI ranks"), "STREAM of one machine")


def _variant(what: str) -> str:
    return f"an unknown STREAM variant ({what})"


def _parameters(log: Log, head: int) -> dict[str, Scalar]:
    """What the lines above the table say, by the catalogue's names."""
    patterns = {
        "threads": (
            r"^\s*Number of Threads counted\s*=\s*(\d{1,7})\b",
            r"^\s*Number of Threads(?: requested)?\s*=\s*(\d{1,7})\b",
        ),
        "array_elements": (r"^\s*Array size\s*=\s*(\d{1,15})\b",),
        "ntimes": (r"^\s*(?:Each|You are).{0,40}\s(\d{1,9}) times\b",),
    }
    found: dict[str, Scalar] = {}
    for name, tried in patterns.items():
        lines = (log.find(pattern, end=head) for pattern in tried)
        line = next((line for line in lines if line), None)
        if line and int(line[1]):
            found[name] = int(line[1])
    size = _element_bytes(log, head)
    if size and "array_elements" in found:
        found["array_gib"] = _round(int(found["array_elements"]) * size / 2**30)
    return found


def _element_bytes(log: Log, head: int) -> int:
    """Bytes of an element, 0 where the file does not say."""
    line = log.find(r"(?i)\b(\d{1,2}) bytes per (?:array element|double precision word)", end=head)
    return int(line[1]) if line else 0


def _round(value: float) -> int | float:
    """To four digits: 20,000,000 elements are 0.149 GiB, 2**28 are 2."""
    short = float(f"{value:.4g}")
    return int(short) if short.is_integer() else short


def _remarks(log: Log, head: int) -> list[Remark]:
    """What the program itself warns of."""
    remarks = []
    ticks = log.find(r"^\s*\(= (\d{1,15}) clock ticks\)", end=head)
    if ticks and int(ticks[1]) < 20:
        text = (
            f"each test took {ticks[1]} clock ticks; STREAM asks for 20: the arrays are too small"
        )
        remarks.append(Remark(text, ticks.line))
    asked = log.find(r"^\s*Number of Threads requested\s*=\s*(\d{1,7})\b", end=head)
    counted = log.find(r"^\s*Number of Threads counted\s*=\s*(\d{1,7})\b", end=head)
    if asked and counted and int(asked[1]) != int(counted[1]):
        text = f"{asked[1]} threads were asked for, {counted[1]} ran: these count"
        remarks.append(Remark(text, counted.line))
    return remarks


@dataclass(frozen=True)
class _Row:
    """A kernel's line: rate in the head's unit, shortest time in s as printed, '' without."""

    line: int
    rate: str
    shortest: str


@dataclass(frozen=True)
class _Table:
    """The table of rates; `unit` as its head says."""

    log: Log
    unit: str
    rows: dict[str, _Row]

    def reading(self, kernel: str) -> Reading:
        """A kernel's best rate. Raises FormatError where it is no number above 0."""
        row, metric = self.rows[kernel], f"{kernel}.bandwidth"
        value = number(self.log.file, row.line, row.rate, field=metric)
        if not value:
            self.log.refuse(row.line, show(row.rate), "a rate above 0")
        return Reading(metric, value, self.unit, (row.line, row.line), f"{row.rate} {self.unit}")

    def doubts(self, elements: Scalar | None, element_bytes: int) -> list[Remark]:
        """Rates that do not fit their own time. Raises FormatError where they are far off."""
        remarks = []
        for kernel, row in self.rows.items():
            seconds = number(self.log.file, row.line, row.shortest) if row.shortest else 0.0
            if not (seconds and elements and element_bytes):
                continue
            moved = KERNELS[kernel] * int(elements) * element_bytes
            apart = float(row.rate) * PER_SECOND[self.unit] * seconds / moved
            apart = max(apart, 1 / apart) if apart else math.inf
            apart -= 0.5 * 10.0 ** -_decimals(row.shortest) / seconds
            makes = f"{moved / seconds / PER_SECOND[self.unit]:.1f} {self.unit}"
            found = f"{row.rate} {self.unit} beside a shortest time of {row.shortest} s"
            if apart > REFUSED:
                self.log.refuse(row.line, found, f"about {makes}, as size and time make")
            if apart > TOLD:
                text = f"{kernel}: {found}, which makes {makes}"
                remarks.append(Remark(text, row.line))
        return remarks


def _decimals(printed: str) -> int:
    return len(printed.partition(".")[2])


def _table(log: Log, head: Found) -> _Table:
    """The rows below the head, the best rate taken from wherever its column stands."""
    columns = _columns(log, head.line)
    best = _best_column(log, head.line, columns)
    unit = UNIT.search(columns[best])
    shortest = next((i for i, c in enumerate(columns) if re.fullmatch(r"min\s+time", c)), None)
    rows = {}
    for kernel in KERNELS:
        line, cells = _row(log, head.line, kernel)
        if len(cells) != len(columns):
            what = f"{len(cells)} cells below a head of {len(columns)}"
            log.refuse(line, _variant(what) if len(cells) > len(columns) else what, LAYOUT)
        rows[kernel] = _Row(line, cells[best], "" if shortest is None else cells[shortest])
    return _Table(log, UNITS[unit[0].lower()] if unit else "", rows)


def _columns(log: Log, line: int) -> list[str]:
    """The head's columns in small letters."""
    text = log.line(line)
    if "|" in text:
        return [cell.lower() for cell in _between_bars(text)]
    rest = COLUMN.sub("", text).strip()
    if rest:
        log.refuse(line, _variant(f"the column {show(rest)}"), LAYOUT)
    return [" ".join(column.lower().split()) for column in COLUMN.findall(text)]


def _best_column(log: Log, line: int, columns: list[str]) -> int:
    """The column of the best rate. Raises FormatError where it cannot be told."""
    rates = [i for i, column in enumerate(columns) if UNIT.search(column)]
    for word in ("best", "max"):
        named = [i for i in rates if word in columns[i]]
        if len(named) == 1:
            return named[0]
    others = ("avg", "average", "mean", "min", "worst", "best", "max")
    if len(rates) != 1 or any(word in columns[rates[0]] for word in others):
        log.refuse(line, _variant("no single column of best rates"), LAYOUT)
    return rates[0]


def _row(log: Log, head: int, kernel: str) -> tuple[int, list[str]]:
    """A kernel's only line and its cells, the name among them."""
    pattern = rf"(?i)^[\s|]*{kernel}\s*[:|]"
    found = log.require(pattern, f"a row '{kernel.title()}:' below the table's head", start=head)
    again = log.find(pattern, start=found.line + 1)
    if again:
        log.refuse(again.line, f"a second row '{kernel.title()}:'", "one a table")
    text = log.line(found.line)
    if "|" in text:
        return found.line, _between_bars(text)
    name, _, rest = text.partition(":")
    return found.line, [name.strip(), *rest.split()]


def _between_bars(text: str) -> list[str]:
    return [cell.strip() for cell in text.strip().strip("|").split("|")]
