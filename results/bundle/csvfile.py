"""A bundle as a flat table: one row a measurement, `param.*` and `setup.*` columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NoReturn

from results import catalogue
from results.bundle import model
from results.bundle.columns import (
    COLUMNS,
    MEASUREMENT_COLUMNS,
    NUMBERS,
    REQUIRED,
    RUN_COLUMNS,
    defuse,
    is_known,
    undefuse,
)
from results.bundle.dialect import (
    Decimals,
    Numeral,
    Opening,
    check_delimiter,
    opening,
    remarks,
    survey,
)
from results.bundle.document import Defaults, Document, apply_defaults, build
from results.bundle.problems import (
    BundleError,
    Finding,
    Path,
    Problem,
    did_you_mean,
    printable,
    show,
)

MOST_COLUMNS = 500

Row = dict[str, str]


@dataclass(frozen=True)
class Table:
    """A table of measurements and the dialect that it is written in."""

    text: str
    name: str

    @cached_property
    def opening(self) -> Opening:
        return opening(self.text)

    @cached_property
    def decimals(self) -> Decimals:
        """The decimal sign. A table that parts its columns by commas has no other than a point."""
        if self.opening.delimiter == ",":
            return Decimals()
        return survey(self._numerals())

    def remarks(self) -> list[tuple[str, int]]:
        """How the table is read, where that is not plain: sentences with their lines.

        Raises BundleError for a table whose columns cannot be told apart.
        """
        check_delimiter(self.opening, self.name)
        return remarks(self.opening, self.decimals)

    def read(self, given: Defaults) -> Document:
        """The document. The lab is given beside the table, the system may be.

        Raises BundleError for a table that cannot be read at all.
        """
        check_delimiter(self.opening, self.name)
        gathering = _Gathering(self.decimals)
        for line, row in self._rows(given):
            gathering.add(line, row)
        if not gathering.runs:
            _refuse(self.name, 1, "no row below the head", "one row a measurement")
        raw: dict[str, Any] = {"bundle": 1, "runs": gathering.runs}
        findings = gathering.findings + apply_defaults(raw, given)
        if "lab" not in raw:
            message = "a table does not say whose it is: give the lab beside it (--lab)"
            raise BundleError([Problem(message, self.name, None, "lab", "nothing", "a lab")])
        return build(
            raw, name=self.name, lines=gathering.lines, naming=column_name, findings=findings
        )

    def _rows(self, given: Defaults) -> Iterator[tuple[int, Row]]:
        """Each row below the head as a mapping, and the line it begins on."""
        head: list[str] = []
        for line, cells in self._lines():
            if not head:
                head = _head(cells, self.name, line, given)
            elif len(cells) < len(head) or any(map(str.strip, cells[len(head) :])):
                expected = f"{len(head)}, as the head has"
                if self.opening.delimiter == "," and len(cells) > len(head):
                    expected += ": a cell with a comma in it stands in quotes"
                _refuse(self.name, line, f"{len(cells)} cells", expected)
            else:
                yield line, dict(zip(head, cells, strict=False))

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        """The cells of each row with content, the head's first, and the line it begins on.

        Lines end in LF, as those of the evidence do; a CR before it belongs to the end.
        """
        source = io.StringIO(self.text, newline="\n")
        reader = csv.reader(source, delimiter=self.opening.delimiter, strict=True)
        line = 1
        try:
            for cells in reader:
                began, line = line, reader.line_num + 1
                declares = self.opening.declared and began == 1
                if not declares and any(cell.strip() for cell in cells):
                    yield began, cells
        except csv.Error as error:
            if "new-line" in str(error):
                _refuse(self.name, line, "a line that ends in CR alone", "lines ending in LF")
            expected = "a table with quoted cells closed"
            _refuse(self.name, line, f"a broken row ({error})", expected)

    def _numerals(self) -> Iterator[Numeral]:
        """Each cell that should be a number, with its line, as far as rows can be read."""
        try:
            for line, row in self._rows(Defaults(leave_open=True)):
                benchmark = undefuse(row.get("benchmark", "").strip())
                for column, cell in row.items():
                    if column in NUMBERS or _counts(benchmark, column):
                        yield line, undefuse(cell.strip())
        except BundleError:
            return  # told when the table is read


def read_csv(text: str, *, name: str, defaults: Defaults | None = None) -> Document:
    """Read a table of measurements. Raises BundleError as `Table.read` does."""
    return Table(text, name).read(defaults or Defaults())


@lru_cache(maxsize=4_096)
def _counts(benchmark: str, column: str) -> bool:
    """Whether the column is of a parameter that the catalogue has as a number."""
    entry = catalogue.get(benchmark) if column.startswith("param.") else None
    known = entry.parameter(column.removeprefix("param.")) if entry else None
    return known is not None and known.kind != "text"


def column_name(path: Path) -> str:
    """The column that a path in the bundle was read from."""
    for part, prefix in (("parameters", "param."), ("setup", "setup.")):
        if part in path[:-1]:
            return f"{prefix}{printable(str(path[-1])[:60])}"
    return path[-1] if path and isinstance(path[-1], str) else ""


def _head(cells: list[str], name: str, line: int, given: Defaults) -> list[str]:
    head = [cell.strip() for cell in cells]
    while head and not head[-1]:  # a delimiter after the last column
        head.pop()
    if len(head) > MOST_COLUMNS:
        _refuse(name, line, f"{len(head)} columns", f"at most {MOST_COLUMNS}")
    if "" in head:
        _refuse(name, line, f"no name in column {head.index('') + 1}", "a name for each column")
    problems = [_unknown_column(column, name, line) for column in head if not is_known(column)]
    problems += [
        Problem(f"column {show(column)} stands twice", name, line, column, column, "once")
        for column in sorted({column for column in head if head.count(column) > 1})
    ]
    needed = REQUIRED if given.system or given.leave_open else ("system", *REQUIRED)
    problems += [
        Problem(f"column '{column}' is missing", name, line, column, "nothing", column)
        for column in needed
        if column not in head
    ]
    if problems:
        raise BundleError(problems)
    return head


def _unknown_column(column: str, name: str, line: int) -> Problem:
    expected = did_you_mean(column, (*COLUMNS, "param.…", "setup.…"))
    message = f"unknown column {show(column)}, expected {expected}"
    return Problem(message, name, line, column[:80], show(column), expected)


class _Gathering:
    """Rows that are equal in everything but the measurement become one run."""

    def __init__(self, decimals: Decimals) -> None:
        self.decimals = decimals
        self.runs: list[dict[str, Any]] = []
        self.findings: list[Finding] = []
        self._line_of: dict[Path, int] = {}
        self._open: dict[tuple[tuple[str, str], ...], tuple[int, set[str]]] = {}

    def add(self, line: int, row: Row) -> None:
        """Take a row: into the run it belongs to, or a new one if its metric is there."""
        cells = {column: undefuse(cell.strip()) for column, cell in row.items() if cell.strip()}
        key = tuple(item for item in cells.items() if item[0] not in MEASUREMENT_COLUMNS)
        metric = cells.get("metric", "")
        at, metrics = self._open.get(key, (None, {metric}))
        if at is None or metric in metrics:
            at, metrics = self._open[key] = len(self.runs), set()
            self.runs.append({"measurements": []})
            self._line_of[("runs", at)] = line
            self.runs[at].update(self._run(cells, ("runs", at)))
        metrics.add(metric)
        measurements = self.runs[at]["measurements"]
        path: Path = ("runs", at, "measurements", len(measurements))
        self._line_of[path] = line
        measurements.append(self._measurement(cells, path))

    def _run(self, cells: Row, path: Path) -> dict[str, Any]:
        run: dict[str, Any] = {name: cells[name] for name in RUN_COLUMNS if name in cells}
        if "ordinal" in run:
            run["ordinal"] = self._number(run["ordinal"], (*path, "ordinal"), whole=True)
        for part, prefix in (("parameters", "param."), ("setup", "setup.")):
            found = {k.removeprefix(prefix): v for k, v in cells.items() if k.startswith(prefix)}
            if found:
                run[part] = {k: self._setting(v, cells, (*path, part, k)) for k, v in found.items()}
        return run

    def _setting(self, cell: str, cells: Row, path: Path) -> str | None:
        """A parameter or setup field as text, a parameter that is a number with a point.

        A number that cannot be read is a finding, and stands in as not stated.
        """
        if cell == "null":
            return None
        if not _counts(cells.get("benchmark", ""), column_name(path)):
            return cell
        number = self.decimals.plain(cell)
        if number is None and self.decimals.is_meant(cell):
            self.findings.append(Finding(path, *self.decimals.refusal(cell)))
            return None
        return number or cell

    def _measurement(self, cells: Row, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {c: cells[c] for c in MEASUREMENT_COLUMNS if c in cells}
        for column in NUMBERS:
            if column in found:
                found[column] = self._number(found[column], (*path, column))
        return found

    def _number(self, cell: str, path: Path, *, whole: bool = False) -> float | int | None:
        """A cell as a number. What cannot be read is a finding, and stands in as 0."""
        plain = self.decimals.plain(cell)
        if plain is not None:
            number = float(plain)
            return int(number) if whole and number.is_integer() else number
        self.findings.append(Finding(path, *self.decimals.refusal(cell)))
        return 0

    def lines(self, paths: Collection[Path]) -> Mapping[Path, int]:
        """The line of each path's row."""
        return {path: self._line(path) for path in paths}

    def _line(self, path: Path) -> int:
        for length in range(len(path), 0, -1):
            if path[:length] in self._line_of:
                return self._line_of[path[:length]]
        return 1


def write_csv(bundle: model.Bundle) -> str:
    """The bundle's runs as a table; hardware, sources and evidence have no place in it."""
    parameters = sorted({name for run in bundle.runs for name in run.parameters})
    setups = sorted({name for run in bundle.runs for name in run.setup})
    head = [*COLUMNS, *(f"param.{n}" for n in parameters), *(f"setup.{n}" for n in setups)]
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(head)
    for run in bundle.runs:
        for measurement in run.measurements:
            cells = _cells(run, measurement)
            writer.writerow([_write(cells.get(column)) for column in head])
    return out.getvalue()


def _cells(run: model.Run, measurement: model.Measurement) -> dict[str, Any]:
    cells: dict[str, Any] = {name: getattr(run, name) for name in RUN_COLUMNS}
    cells |= {name: getattr(measurement, name) for name in MEASUREMENT_COLUMNS}
    cells["note"] = measurement.note or run.note
    if run.started_at:
        cells["started_at"] = run.started_at.isoformat()
    cells |= {f"param.{k}": "null" if v is None else v for k, v in run.parameters.items()}
    cells |= {f"setup.{k}": v for k, v in run.setup.items()}
    return cells


def _write(cell: Any) -> str:
    if cell is None:
        return ""
    return repr(cell) if isinstance(cell, (int, float)) else defuse(str(cell))


def _refuse(name: str, line: int | None, found: str, expected: str) -> NoReturn:
    message = f"found {found}, expected {expected}"
    raise BundleError([Problem(message, name, line, "", found, expected)])
