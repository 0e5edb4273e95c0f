"""A bundle as a flat table: one row a measurement, `param.*` and `setup.*` columns."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NoReturn

from results.bundle import model
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

RUN_COLUMNS = (
    "system",
    "node",
    "benchmark",
    "version",
    "scope",
    "started_at",
    "source",
    "ordinal",
    "not_ranked_because",
)
NUMBERS = ("value", "low", "high")
MEASUREMENT_COLUMNS = ("metric", *NUMBERS, "unit", "qualifier", "note")
COLUMNS = (
    *("system", "node", "benchmark", "version", "scope", "metric", "value", "low", "high"),
    *("unit", "qualifier", "started_at", "source", "note", "ordinal", "not_ranked_because"),
)
REQUIRED = ("benchmark", "scope", "metric", "unit")
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,5})?", re.ASCII)
COMMA = re.compile(r"[+-]?[\d.]*,\d+")
DELIMITERS = (",", ";", "\t")
# A spreadsheet takes a text that begins with one of these for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")
LONGEST_CELL = 10_000
MOST_COLUMNS = 500

Row = dict[str, str]


def read_csv(text: str, *, name: str, defaults: Defaults | None = None) -> Document:
    """Read a table of measurements. The lab is given beside it, the system may be.

    Raises BundleError for a table that cannot be read at all.
    """
    given = defaults or Defaults()
    gathering = _Gathering()
    for line, row in _rows(text, name, given):
        gathering.add(line, row)
    if not gathering.runs:
        _refuse(name, 1, "no row below the head", "one row a measurement")
    raw: dict[str, Any] = {"bundle": 1, "runs": gathering.runs}
    findings = gathering.findings + apply_defaults(raw, given)
    if "lab" not in raw:
        message = "a table does not say whose it is: give the lab beside it (--lab)"
        raise BundleError([Problem(message, name, None, "lab", "nothing", "a lab")])
    return build(raw, name=name, lines=gathering.lines, naming=column_name, findings=findings)


def looks_like_csv(text: str) -> bool:
    """Whether the first line is the head of such a table."""
    head = {cell.strip().strip('"') for cell in re.split("[,;\t]", _first_line(text))}
    return {"metric", "benchmark"} <= head


def _first_line(text: str) -> str:
    """The first line with something in it, cut at 5,000 characters."""
    return text.lstrip()[:5_000].splitlines()[0]


def column_name(path: Path) -> str:
    """The column that a path in the bundle was read from."""
    for part, prefix in (("parameters", "param."), ("setup", "setup.")):
        if part in path[:-1]:
            return f"{prefix}{printable(str(path[-1])[:60])}"
    return path[-1] if path and isinstance(path[-1], str) else ""


def _rows(text: str, name: str, given: Defaults) -> Iterator[tuple[int, Row]]:
    """Each row with content as a mapping, and the line it begins on."""
    delimiter = max(DELIMITERS, key=_first_line(text).count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    head: list[str] = []
    line = 1
    try:
        for cells in reader:
            began, line = line, reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if not head:
                head = _head(cells, name, began, given)
            elif len(cells) != len(head):
                _refuse(name, began, f"{len(cells)} cells", f"{len(head)}, as the head has")
            else:
                yield began, dict(zip(head, cells, strict=True))
    except csv.Error as error:
        _refuse(name, line, f"a broken row ({error})", "a table with quoted cells closed")


def _head(cells: list[str], name: str, line: int, given: Defaults) -> list[str]:
    head = [cell.strip() for cell in cells]
    if len(head) > MOST_COLUMNS:
        _refuse(name, line, f"{len(head)} columns", f"at most {MOST_COLUMNS}")
    problems = [_unknown_column(column, name, line) for column in head if not _known(column)]
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


def _known(column: str) -> bool:
    return column in COLUMNS or re.fullmatch(r"(param|setup)\..{1,60}", column) is not None


def _unknown_column(column: str, name: str, line: int) -> Problem:
    expected = did_you_mean(column, (*COLUMNS, "param.…", "setup.…"))
    message = f"unknown column {show(column)}, expected {expected}"
    return Problem(message, name, line, column[:80], show(column), expected)


class _Gathering:
    """Rows that are equal in everything but the measurement become one run."""

    def __init__(self) -> None:
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
                run[part] = {key: None if v == "null" else v for key, v in found.items()}
        return run

    def _measurement(self, cells: Row, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {c: cells[c] for c in MEASUREMENT_COLUMNS if c in cells}
        for column in NUMBERS:
            if column in found:
                found[column] = self._number(found[column], (*path, column))
        return found

    def _number(self, cell: str, path: Path, *, whole: bool = False) -> float | int | None:
        """A cell as a number. What cannot be read is a finding, and stands in as 0."""
        if len(cell) <= 60 and NUMBER.fullmatch(cell):
            number = float(cell)
            return int(number) if whole and number.is_integer() else number
        expected = "a number with a decimal point, such as 1.5"
        if COMMA.fullmatch(cell[:60]):
            expected += ": a comma is not read as one"
        self.findings.append(Finding(path, show(cell), expected))
        return 0

    def lines(self, paths: Collection[Path]) -> Mapping[Path, int]:
        """The line of each path's row."""
        return {path: self._line(path) for path in paths}

    def _line(self, path: Path) -> int:
        for length in range(len(path), 0, -1):
            if path[:length] in self._line_of:
                return self._line_of[path[:length]]
        return 1


def defuse(cell: str) -> str:
    """A text cell that no spreadsheet takes for a formula; `undefuse` gives it back."""
    return f"'{cell}" if cell.startswith((*FORMULA, "'")) else cell


def undefuse(cell: str) -> str:
    """What `defuse` was given."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith((*FORMULA, "'")) else cell


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
    return repr(cell) if isinstance(cell, float) else defuse(str(cell))


def _refuse(name: str, line: int | None, found: str, expected: str) -> NoReturn:
    message = f"found {found}, expected {expected}"
    raise BundleError([Problem(message, name, line, "", found, expected)])
