"""A stored log as a page shows it: the lines that values were read from, and those around them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import BinaryIO

from results.artefacts import path_of
from results.models import Artefact, Measurement
from results.wording import figures

WHOLE_BYTES = 128 * 1024  # files up to this size are shown whole,
WHOLE_LINES = 1500  # if they have no more lines than this
AROUND = 6  # lines shown on each side of an evidence line
MOST_LINES = 600  # of a file that is not shown whole
MOST_MARKED = 200  # lines of one measurement that are marked
LONGEST_LINE = 400  # characters shown of a line
FURTHEST_LINE = 20_000  # that is looked up by itself
CHUNK = 64 * 1024

# Control signs, and those that turn the direction of text, would let a log pose as another.
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


@dataclass(frozen=True)
class Line:
    """A line by its number; `notes` say what was read from it; `gap`: lines left out before it."""

    number: int
    text: str
    hit: bool = False
    notes: tuple[str, ...] = ()
    cut: bool = False
    gap: int = 0

    @property
    def is_rule(self) -> bool:
        """Whether it only draws a line, as tools do between parts."""
        return len(self.text) > 10 and not self.text.strip("-=*_# ")


@dataclass(frozen=True)
class Log:
    """A file and as much of it as is shown; `problem` says why it is not, or not whole."""

    artefact: Artefact
    lines: list[Line] = field(default_factory=list)
    problem: str = ""
    whole: bool = False

    @property
    def can_be_fetched(self) -> bool:
        return self.problem != "absent"

    @property
    def is_beside(self) -> bool:
        """Whether no value was read from it: it tells of the run in another way."""
        return bool(self.lines) and not any(line.hit for line in self.lines)


def read_log(artefact: Artefact, measurements: Iterable[Measurement]) -> Log:
    """The lines of a stored file to show, its evidence lines marked.

    `problem` is "absent" (not kept here), "binary", or "" where lines are shown.
    """
    marks = _marks(artefact, measurements)
    path = path_of(artefact.sha256)
    if not artefact.stored or not path.is_file():
        return Log(artefact, problem="absent")
    with path.open("rb") as file:
        if b"\0" in file.read(8192):
            return Log(artefact, problem="binary")
        file.seek(0)
        found = (_line(*line, marks) for line in _numbered(file))
        lines, whole = _select(found, marks, small=path.stat().st_size <= WHOLE_BYTES)
    return Log(artefact, lines, whole=whole)


def lines_at(artefact: Artefact, numbers: Collection[int]) -> dict[int, str]:
    """Some lines of a stored text by their numbers, without reading further than the last.

    What is not kept, is no text or lies too far behind is left out.
    """
    path = path_of(artefact.sha256)
    last = max((number for number in numbers if number <= FURTHEST_LINE), default=0)
    if not last or not artefact.stored or not path.is_file():
        return {}
    with path.open("rb") as file:
        if b"\0" in file.read(8192):
            return {}
        file.seek(0)
        lines = (_line(*line, {}) for line in islice(_numbered(file), last))
        return {line.number: line.text for line in lines if line.number in numbers}


def _marks(artefact: Artefact, measurements: Iterable[Measurement]) -> dict[int, tuple[str, ...]]:
    """What was read from each line, by its number."""
    marks: dict[int, tuple[str, ...]] = {}
    for one in measurements:
        if one.artefact_id != artefact.pk or one.line_from is None:
            continue
        last = min(one.line_to or one.line_from, one.line_from + MOST_MARKED)
        for number in range(one.line_from, last + 1):
            marks.setdefault(number, ())
        marks[one.line_from] += (value_note(one),)
    return marks


def value_note(measurement: Measurement) -> str:
    """'triad.bandwidth = 82.1506 GB/s', with all digits that are stored."""
    metric = measurement.metric
    unit = figures(metric.unit, []).unit
    if measurement.value is not None:
        return f"{metric.full_name} = {measurement.value:,.12g} {unit}"
    ends = [f"{end:,.12g}" for end in (measurement.low, measurement.high) if end is not None]
    return f"{metric.full_name} = {' – '.join(ends)} {unit}"


def _numbered(file: BinaryIO) -> Iterator[tuple[int, bytes, bool]]:
    """Number, bytes and 'was cut' of each line; however long a line is, little of it is kept."""
    number, kept, cut = 1, b"", False
    while chunk := file.readline(CHUNK):
        ended = chunk.endswith(b"\n")
        cut = cut or len(kept) + len(chunk) > LONGEST_LINE * 4
        kept = (kept + chunk)[: LONGEST_LINE * 4]
        if ended:
            yield number, kept, cut
            number, kept, cut = number + 1, b"", False
    if kept:
        yield number, kept, cut


def _select(
    lines: Iterable[Line], marks: Mapping[int, tuple[str, ...]], *, small: bool
) -> tuple[list[Line], bool]:
    """The lines to show and whether they are all: a small file whole, else what is near marks."""
    if small:
        everything = list(lines)
        if len(everything) <= WHOLE_LINES:
            return everything, True
        lines = everything
    return list(_near(lines, marks)), False


def _near(lines: Iterable[Line], marks: Mapping[int, tuple[str, ...]]) -> Iterator[Line]:
    """Marked lines and those around them, without marks the first; gaps are counted."""
    around = {n for mark in marks or (1,) for n in range(mark - AROUND, mark + AROUND + 1)}
    wanted = set(sorted(n for n in around if n > 0)[:MOST_LINES])
    last, before = max(wanted), 0
    for line in lines:
        if line.number > last:
            return
        if line.number in wanted:
            yield replace(line, gap=line.number - before - 1)
            before = line.number


def _line(number: int, data: bytes, cut: bool, marks: Mapping[int, tuple[str, ...]]) -> Line:
    text = UNSEEN.sub("\N{REPLACEMENT CHARACTER}", data.decode("utf-8", "replace").rstrip("\r\n"))
    cut = cut or len(text) > LONGEST_LINE
    return Line(number, text[:LONGEST_LINE], number in marks, marks.get(number, ()), cut)
