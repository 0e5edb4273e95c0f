"""A table as a page prints it: categories of lines of cells, in words, with lengths of bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from results import wording
from results.catalogue.base import CATEGORIES
from results.charts import scales
from results.compare import Cell, Column, Row, Table
from results.models import Qualifier
from results.wording import cellwords, findings

MOST_NAMED = 6  # columns without a value that a row's block names
FEW_COLUMNS = 3
MOST_COLUMNS = 8  # beside each other; with more a row is a block of bars, as on a phone


@dataclass(frozen=True)
class Mark:
    """A sign behind a number and what it means."""

    sign: str
    meaning: str


@dataclass(frozen=True)
class Shown:
    """A cell: its number, the sign of its standing against the baseline, its bar."""

    slot: int
    name: str
    text: str = ""
    run: str = ""
    run_id: int = 0
    marks: tuple[Mark, ...] = ()
    ratio: str = ""
    why: str = ""
    why_title: str = ""
    notes: tuple[str, ...] = ()
    others: str = ""
    others_at: str = ""
    title: str = ""
    start: float = 0.0
    end: float | None = None
    best: bool = False
    base: bool = False
    hollow: bool = False
    missing: str = ""


@dataclass
class Entry:
    """A line of the table: one row of the comparison."""

    id: str
    title: str
    benchmark: str
    unit: str
    arrow: str
    direction: str
    words: str
    cells: list[Shown]
    missing: str = ""
    repeated: bool = False


@dataclass
class Category:
    """The lines of one category, under their heading."""

    name: str
    lines: list[Entry] = field(default_factory=list)

    @property
    def id(self) -> str:
        return f"t-{slugify(self.name)}"


@dataclass(frozen=True)
class Head:
    """A column's head."""

    key: str
    slot: int
    name: str
    pins: str
    chassis: str
    cores: str
    url: str
    base: bool


@dataclass
class Display:
    """All that the table's part of the page needs."""

    heads: list[Head]
    categories: list[Category]
    alone: list[Entry]
    mean: list[Shown]
    mean_words: str
    not_in_mean: list[tuple[str, str]]
    marks: list[Mark]

    @property
    def blocks(self) -> bool:
        """Whether rows are blocks of bars at any width: too many columns for a table."""
        return len(self.heads) > MOST_COLUMNS

    @property
    def few(self) -> bool:
        """Whether columns of numbers, shared out over the page, would stand too far apart."""
        return len(self.heads) <= FEW_COLUMNS

    @property
    def names_width(self) -> float:
        """Percent of the table's width for each column of numbers."""
        return round(68 / max(1, len(self.heads)), 4)


def display(table: Table, slots: Mapping[str, int], formats: cellwords.Formats) -> Display:
    """Put a table into words. Rows that only one of several columns has stand apart."""
    several = len(table.columns) > 1
    together = [row for row in table.rows if len(row.cells) > 1 or not several]
    alone = [row for row in table.rows if len(row.cells) == 1 and several]
    maker = _Maker.of(table, slots, formats)
    categories = _categories([(row, maker.line(row)) for row in together])
    lines = [line for category in categories for line in category.lines]
    marks = {m.sign: m for line in lines for cell in line.cells for m in cell.marks}
    return Display(
        heads=[head(column, table.baseline, slots) for column in table.columns],
        categories=categories,
        alone=[maker.line(row) for row in alone],
        mean=maker.mean(),
        mean_words=_mean_words(table),
        not_in_mean=_not_in_mean(table, together),
        marks=list(marks.values()),
    )


def _categories(lines: Sequence[tuple[Row, Entry]]) -> list[Category]:
    found: dict[str, Category] = {}
    previous: tuple[str, str] | None = None
    for row, line in lines:
        slug = row.benchmark.category
        if slug not in found:
            found[slug] = Category(_(CATEGORIES[slug]))
            previous = None
        line.repeated = previous == (line.title, line.unit)
        previous = (line.title, line.unit)
        found[slug].lines.append(line)
    return list(found.values())


def head(column: Column, baseline: str, slots: Mapping[str, int]) -> Head:
    """The head of a column: CPU, what it is pinned to, chassis, cores."""
    system = column.system
    pinned = column.label != system.short
    return Head(
        key=column.key,
        slot=slots[column.key],
        name=system.short,
        pins=findings.pins_words(column) if pinned else "",
        chassis=system.chassis,
        cores=cores_words(column),
        url=system.get_absolute_url(),
        base=column.key == baseline,
    )


def cores_words(column: Column) -> str:
    """'2 × 88 cores'; empty where topology is not known."""
    system = column.system
    cores = system.processor.cores if system.processor else None
    if not cores or not system.sockets:
        return ""
    words = ngettext("%(cores)s core", "%(cores)s cores", cores) % {"cores": f"{cores:,}"}
    return f"{system.sockets} × {words}" if system.sockets > 1 else words


def measured_on(row: Row) -> str:
    """Scope and variant; also the SMT state where it is not the row's but all share it."""
    words = wording.row_words(row)
    states = {str(cell.tracked.get("smt", "")) for cell in row.cells.values()}
    parameter = row.benchmark.parameter("smt")
    if parameter and parameter.role == "tracked" and len(states) == 1 and "" not in states:
        words = " · ".join(part for part in (words, parameter.say(states.pop())) if part)
    return words


@dataclass(frozen=True)
class _Maker:
    """Makes the lines of one table."""

    table: Table
    slots: Mapping[str, int]
    formats: cellwords.Formats
    absent: Mapping[str, Shown] = field(default_factory=dict)
    trust: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Table, slots: Mapping[str, int], formats: cellwords.Formats) -> _Maker:
        missing = _("not reported by the source")
        absent = {c.key: Shown(slots[c.key], c.label, missing=missing) for c in table.columns}
        levels = {cell.trust for row in table.rows for cell in row.cells.values()}
        trust = {level: wording.trust_words(level) for level in levels}
        return cls(table, slots, formats, absent, trust)

    def line(self, row: Row) -> Entry:
        shown = self.formats[row.id]
        lengths = scales.lengths(row)
        level = len({cell.rank for _key, cell in row.order()}) == 1
        cells = [self._cell(row, column, shown, lengths, level) for column in self.table.columns]
        missing = [cell.name for cell in cells if not cell.text]
        return Entry(
            id=row.id,
            title=wording.row_title(row),
            benchmark=row.benchmark.slug,
            unit=shown.unit,
            arrow=wording.arrow(row.metric),
            direction=wording.direction(row.metric),
            words=measured_on(row),
            cells=cells,
            missing=_missing_words(missing),
        )

    def _cell(
        self,
        row: Row,
        column: Column,
        shown: wording.Figures,
        lengths: Mapping[str, tuple[float, float]],
        level: bool,
    ) -> Shown:
        cell = row.cells.get(column.key)
        if cell is None:
            return self.absent[column.key]
        alone = len(self.table.columns) == 1
        start, end = lengths.get(column.key, (0.0, None))
        why, why_title = _why(row, cell, row.cells.get(self.table.baseline))
        return Shown(
            slot=self.slots[column.key],
            name=column.label,
            text=cellwords.cell_text(cell, shown),
            run=cellwords.run_address(cell.run),
            run_id=cell.run,
            marks=tuple(marks_of(cell)) if cell.is_range or cell.value is not None else (),
            ratio="" if alone else cellwords.ratio_text(self.table, column, cell),
            why="" if cell.ratio is not None else why,
            why_title=why_title,
            notes=_notes(row, cell, shown),
            others=_others(cell),
            others_at=f"{column.system.get_absolute_url()}#runs" if cell.others else "",
            title=_cell_title(row, cell, self.trust[cell.trust]),
            start=start,
            end=None if alone else end,
            best=cell.rank == 1 and not level,
            base=column.key == self.table.baseline,
            hollow=cell.is_range,
        )

    def mean(self) -> list[Shown]:
        """The geometric means of the ratios; none without a row that all columns share."""
        means = self.table.geomean
        if not means or len(self.table.columns) < 2:
            return []
        best = max(means.values())
        return [self._mean_cell(column, means[column.key], best) for column in self.table.columns]

    def _mean_cell(self, column: Column, mean: float, best: float) -> Shown:
        base = column.key == self.table.baseline
        return Shown(
            slot=self.slots[column.key],
            name=column.label,
            ratio="1" if base else wording.ratio_words(mean),
            base=base,
            best=mean == best,
            end=round(mean / best * 100, 1),
        )


def marks_of(cell: Cell) -> list[Mark]:
    """The signs behind a cell's number."""
    found = []
    if cell.qualifier == Qualifier.CHART_ONLY:
        found.append(Mark("c", _("figure of a chart caption only")))
    if cell.assumed:
        found.append(Mark("a", _("a parameter is assumed, the source does not state it")))
    if cell.inferred:
        found.append(Mark("*", _("divided by an inferred number, the source does not state it")))
    return found


def _missing_words(names: Sequence[str]) -> str:
    """The columns that have nothing in a row; only how many where a factor makes many."""
    if len(names) > MOST_NAMED:
        return _("Nothing from %(n)s other columns") % {"n": len(names)}
    return _("Not reported: %(names)s") % {"names": ", ".join(names)} if names else ""


def _why(row: Row, cell: Cell, base: Cell | None) -> tuple[str, str]:
    """Why a cell has no ratio, in a word and in a sentence."""
    if cell.is_range:
        return _("range"), _("a reported range, not this system's own value: no ratio, no rank")
    if cell.value is None:
        return "", ""
    if base is not None and not row.one_scale and cell.scale != base.scale:
        return _("other work"), _("not comparable: %(scale)s") % {"scale": scale_words(row)}
    return "", ""


def scale_words(row: Row) -> str:
    """The different values of a row's scale parameters: 'Tree arm64, x86-64'."""
    values: dict[str, dict[str, None]] = {}
    for cell in row.cells.values():
        for name, value in cell.scale.items():
            parameter = row.benchmark.parameter(name)
            label = (parameter.label if parameter else "") or name
            values.setdefault(label, {})[str(value)] = None
    return "; ".join(f"{label} {', '.join(found)}" for label, found in values.items())


def _notes(row: Row, cell: Cell, shown: wording.Figures) -> tuple[str, ...]:
    """What stands below a number: divisor or place on a curve, spread, rank kept out of."""
    notes = [cellwords.cell_note(row, cell)]
    if cell.value is None and cell.missing:
        notes = [_(cell.missing)]
    if cell.n > 1:
        notes.append(cellwords.spread_words(cell, shown))
    if not cell.ranked and not cell.is_range:
        notes.append(_("not ranked"))
    if cell.above_peak:
        notes.append(_("above the peak: check it"))
    return tuple(note for note in notes if note)


def _others(cell: Cell) -> str:
    """How many other results the cell could show: of other labs, setups, versions."""
    if not cell.others:
        return ""
    return ngettext("%(n)s other result", "%(n)s other results", cell.others) % {"n": cell.others}


def _cell_title(row: Row, cell: Cell, trust: str) -> str:
    """What a pointer over the number says: the total, who stands behind it, what is assumed."""
    parts = [cellwords.total_words(row, cell), *cellwords.at_words(row.benchmark, cell.at), trust]
    for name in cell.assumed:
        parameter = row.benchmark.parameter(name)
        label = (parameter.label if parameter else "") or name
        parts.append(_("%(name)s assumed") % {"name": label})
    return "; ".join(part for part in parts if part)


def _mean_words(table: Table) -> str:
    if not table.geomean:
        return ""
    columns = len(table.columns)
    words = ngettext(
        "of the ratios, over the one row that all %(columns)s have",
        "of the ratios, over the %(rows)s rows that all %(columns)s have",
        table.common_rows,
    )
    return words % {
        "rows": findings.number_words(table.common_rows),
        "columns": findings.number_words(columns),
    }


def _not_in_mean(table: Table, rows: Sequence[Row]) -> list[tuple[str, str]]:
    """The rows that the mean leaves out, each with the columns that it lacks and why."""
    common = {row.id for row in findings.common_rows(table)}
    found = []
    for row in rows:
        if row.id in common or len(table.columns) < 2:
            continue
        title = ", ".join(part for part in (wording.row_title(row), wording.row_words(row)) if part)
        found.append((title, "; ".join(_lacks(table, row))))
    return found


def _lacks(table: Table, row: Row) -> list[str]:
    """'no value from A, B', 'a range from C', 'other work on D'."""
    reasons: dict[str, list[str]] = {}
    base = row.cells.get(table.baseline)
    for column in table.columns:
        cell = row.cells.get(column.key)
        if cell is not None and cell.ratio is not None:
            continue
        if cell is None:
            reason = gettext_noop("nothing from %(names)s")
        elif cell.is_range:
            reason = gettext_noop("only a range from %(names)s")
        elif base is None or base.value is None:
            continue  # the baseline's own lack says it
        elif cell.value is None:
            reason = gettext_noop("no divisor for %(names)s")
        else:
            reason = gettext_noop("other work on %(names)s")
        reasons.setdefault(reason, []).append(column.label)
    return [_(reason) % {"names": ", ".join(names)} for reason, names in reasons.items()]
