"""How a table is written: what parts its columns, and which sign is the decimal one.

Spreadsheets of half of Europe write `a;1,5`. A table is read so where all of it agrees;
where 1,234 may be a thousand or little more than one, it is refused, never guessed.
"""

from __future__ import annotations

import csv
import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from results.bundle.columns import COLUMNS, is_known
from results.bundle.problems import BundleError, Problem, show

DELIMITERS = (",", ";", "\t")
NAMES = {",": "commas", ";": "semicolons", "\t": "tabs"}
# Longer cells are no number, and no expression is tried on them.
LONGEST_NUMBER = 60
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,5})?", re.ASCII)
COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d{1,5})?", re.ASCII)
# 1,234 may be a thousand or little more than one; 0,234 and 1234,567 may not.
EITHER = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}", re.ASCII)
THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:[.,'’\s]\d{3})+(?:[.,]\d+)?", re.ASCII)
BLANKS = re.compile(r"[\s\u00a0\u2007\u2009\u202f]")
UNPARTED = "a number with a decimal point and nothing between its thousands, such as 1234.5"
# Excel's own line above the head.
DECLARED = re.compile(r'"?sep=(.)"?\r?(?:\n|$)', re.IGNORECASE)
LONGEST_HEAD = 5_000

Numeral = tuple[int, str]


@dataclass(frozen=True)
class Opening:
    """A table's first lines: what parts its columns, and the cells of its head.

    `declared`: the first line says so (`sep=;`), and the head stands below it.
    """

    delimiter: str
    cells: Sequence[str]
    declared: bool = False


def opening(text: str) -> Opening:
    """How the table begins. The delimiter is the one by which most columns are known."""
    start = text[: LONGEST_HEAD * 2]
    declared = DECLARED.match(start)
    lines = start[declared.end() if declared else 0 :].lstrip("\r\n ")[:LONGEST_HEAD].splitlines()
    line = lines[0] if lines else ""
    if declared:
        return Opening(declared[1], _cells(line, declared[1]), declared=True)
    read = {delimiter: _cells(line, delimiter) for delimiter in DELIMITERS}
    best = max(DELIMITERS, key=lambda d: (sum(map(is_known, read[d])), len(read[d])))
    return Opening(best, read[best])


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])]
    except (csv.Error, TypeError):
        return []


def check_delimiter(opened: Opening, name: str) -> None:
    """Raise BundleError for a declared delimiter that is not read."""
    if opened.delimiter not in DELIMITERS:
        found, expected = f"the delimiter {show(opened.delimiter)}", "a comma, semicolon or tab"
        message = f"found {found}, expected {expected}"
        raise BundleError([Problem(message, name, 1, "", found, expected)])


def looks_like_csv(text: str) -> bool:
    """Whether the first line is the head of such a table, or is meant to be.

    A head that only misspells a column is one too, so that its reader names the column.
    """
    cells = [cell.casefold()[:40] for cell in opening(text).cells[:100]]
    wanted = ("benchmark", "metric")
    if all(name in cells for name in wanted):
        return True
    if len(cells) < 3:
        return False
    near = sum(bool(difflib.get_close_matches(name, cells, 1, 0.75)) for name in wanted)
    known = sum(cell in COLUMNS for cell in cells)
    return (near == 2 and known > 0) or (near == 1 and known > 2)


@dataclass(frozen=True)
class Decimals:
    """The decimal sign of a table's numbers.

    `first` is the first number that shows it (line and cell); `other` the first that has
    the other sign: such a table is refused. `doubtful` is the first with a point where
    each might have it between thousands.
    """

    sign: Literal[".", ","] = "."
    first: Numeral | None = None
    other: Numeral | None = None
    doubtful: Numeral | None = None

    def plain(self, cell: str) -> str | None:
        """A number as programs write it, with a point; None for what is none here."""
        if len(cell) > LONGEST_NUMBER:
            return None
        if self.sign == "," and COMMA.fullmatch(cell):
            return cell.replace(",", ".")
        if NUMBER.fullmatch(cell) and (self.sign == "." or "." not in cell):
            return cell
        return None

    def refusal(self, cell: str) -> tuple[str, str]:
        """What was found and what is expected, of a cell that `plain` does not read."""
        found, short = show(cell), BLANKS.sub(" ", cell[: LONGEST_NUMBER + 1])
        if EITHER.fullmatch(short):
            point, whole = re.sub("[.,]", ".", short), re.sub("[.,]", "", short)
            return f"{found}, which may be {point} or {whole}", UNPARTED
        if THOUSANDS.fullmatch(short):
            return found, UNPARTED
        signed = COMMA if self.sign == "." else NUMBER
        if self.first and self.other and signed.fullmatch(short):
            sign, (line, first) = {".": "point", ",": "comma"}[self.sign], self.first
            same = f"one decimal sign in all numbers: a {sign}, as {show(first)} in line {line}"
            return found, same
        if self.sign == ",":
            return found, "a number with a decimal comma, such as 1,5"
        expected = "a number with a decimal point, such as 1.5"
        return found, expected + (": a comma is not read as one" if signed.fullmatch(short) else "")

    def is_meant(self, cell: str) -> bool:
        """Whether a cell is a number in some spelling: read, or refused by `refusal`."""
        short = BLANKS.sub(" ", cell[: LONGEST_NUMBER + 1])
        return any(form.fullmatch(short) for form in (NUMBER, COMMA, THOUSANDS))


def survey(cells: Iterable[Numeral]) -> Decimals:
    """Which decimal sign the numbers of a table have, from each with its line.

    A comma is one where more numbers can only be read so than have a point.
    """
    sure = points = 0
    comma = point = None
    doubtful = True
    for line, cell in cells:
        if len(cell) > LONGEST_NUMBER:
            continue
        if COMMA.fullmatch(cell):
            comma = comma or (line, cell)
            sure += EITHER.fullmatch(cell) is None
        elif "." in cell and NUMBER.fullmatch(cell):
            points, point = points + 1, point or (line, cell)
            doubtful = doubtful and EITHER.fullmatch(cell) is not None
    if sure > points:
        return Decimals(",", comma, point)
    return Decimals(".", point, comma, point if doubtful and not comma else None)


def remarks(opened: Opening, decimals: Decimals) -> list[tuple[str, int]]:
    """What a reader of the preview should know of how the table was read, with lines."""
    said = []
    if opened.delimiter != ",":
        text = f"The columns are parted by {NAMES[opened.delimiter]}."
        said.append((text, 2 if opened.declared else 1))
    if decimals.sign == "," and decimals.first:
        line = decimals.first[0]
        said.append(
            (
                "Numbers are read with a decimal comma: 1,5 is one and a half; "
                f"the first such is in line {line}.",
                line,
            )
        )
    if decimals.doubtful:
        line, cell = decimals.doubtful
        whole = cell.replace(".", "")
        said.append(
            (
                f"Numbers are read with a decimal point: {cell} in line {line} "
                f"is not read as {whole}.",
                line,
            )
        )
    return said
