"""What the charts show: figures of panels of bars, grouped bars or curves, from a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

from django.utils.translation import gettext as _

from results import wording
from results.catalogue.base import Benchmark, Parameter
from results.charts.scales import Axis, ends_of, round_axis
from results.compare import Cell, Column, Row, Table
from results.compare.factors import natural
from results.wording import cellwords, findings

COLOURS = 6
EMPTY_AXIS = Axis(1.0, (0.0, 1.0))
GROUPED_BY = "engine"
MOST_GROUPED = 6  # systems, and
MOST_NARROW = 12  # standing bars that half the width is enough for
MOST_GROUPS = 8  # groups that grouped bars are still readable with

Kind = Literal["bars", "grouped", "curve"]


@dataclass(frozen=True)
class Bar:
    """One column's bar: from `start` to `end`, in percent of the axis; `low` to `high` in units.

    `lines` are the name's; `note` says what it was divided by, or where on a curve it
    lies; `marks` stand behind the number. A hollow bar is a reported range.
    """

    key: str
    slot: int
    lines: tuple[str, ...]
    note: str
    low: float
    high: float
    start: float
    end: float
    text: str
    marks: str
    hollow: bool
    run: str
    hover: tuple[str, ...]
    ratio: str = ""
    spread: str = ""
    total: str = ""


@dataclass(frozen=True)
class Tick:
    """A mark on an axis: its value, where it lies in percent, and its text."""

    value: float
    at: float
    text: str


@dataclass(frozen=True)
class Group:
    """The bars of one row in a grouped panel."""

    title: str
    note: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Line:
    """A curve: name, colour, points [x, value, low, high, n] in the panel's unit.

    `style` tells lines of one colour apart: 0 for a system's first column, and so on.
    """

    slot: int
    style: int
    name: str
    points: tuple[tuple[float | str, float, float | None, float | None, int], ...]
    run: str
    shown: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True)
class Panel:
    """One drawing of a figure. `unit` is as shown; `factor` divides values into it."""

    id: str
    kind: Kind
    title: str
    unit: str
    axis: Axis
    ticks: tuple[Tick, ...]
    rows: tuple[Row, ...]
    bars: tuple[Bar, ...] = ()
    groups: tuple[Group, ...] = ()
    lines: tuple[Line, ...] = ()
    x_title: str = ""

    @property
    def row_height(self) -> int:
        """Pixels from bar to bar: more where names need two or three lines."""
        most = max((len(bar.lines) + bool(bar.note) for bar in self.bars), default=1)
        return {1: 27, 2: 34}.get(most, 15 * most)

    @property
    def name_width(self) -> int:
        """Pixels for the names at the left."""
        lines = [len(line) for bar in self.bars for line in (*bar.lines, bar.note)]
        return min(190, max(106, 20 + round(6.6 * max(lines, default=0))))

    @property
    def number_width(self) -> int:
        """Pixels for the numbers at the right, behind the longest bar."""
        longest = max((len(bar.text) + len(bar.marks) for bar in self.bars), default=0)
        return max(51, 14 + 7 * longest)

    @property
    def steps(self) -> int:
        return len(self.ticks) - 1

    @property
    def number_groups(self) -> list[Group]:
        """The bars as the table twin lists them; a curve's points are listed by themselves."""
        if self.kind == "curve":
            return []
        unit = self.title.rpartition(", ")[0]
        groups = [
            replace(group, title=f"{unit}, {group.title} {group.note}".rstrip())
            for group in self.groups
        ]
        return groups or [Group(self.title, "", self.bars)]


@dataclass
class Figure:
    """A numbered figure: one benchmark's rows as panels, with heading and line below it."""

    number: int
    benchmark: Benchmark
    rows: list[Row]
    panels: list[Panel]
    heading: str
    measure: str
    width: int = 6
    across: int = 1
    columns: list[Column] = field(default_factory=list)

    @property
    def id(self) -> str:
        return f"fig-{self.number}"

    @property
    def legend(self) -> list[tuple[int, str]]:
        """Colours and names, for panels that have no names beside their bars."""
        found: dict[str, tuple[int, str]] = {}
        for panel in self.panels:
            for group in panel.groups:
                found |= {bar.key: (bar.slot, bar.lines[0]) for bar in group.bars}
            found |= {line.name: (line.slot, line.name) for line in panel.lines}
        return list(found.values())

    @property
    def ranges(self) -> bool:
        """Whether any bar is a reported range."""
        return any(cell.is_range for row in self.rows for cell in row.cells.values())


def colour_slots(columns: Sequence[Column], fixed: Sequence[str] = ()) -> dict[str, int]:
    """The colour of each column, 1 to 6, by its key: that of its system.

    Systems in `fixed` (the default comparison's slugs) have the colour of their place
    there, whatever else is shown, so a removed system leaves its colour unused. The others
    take the free ones in order; beyond six, colours repeat. A system alone in several
    columns has a colour for each of them.
    """
    slugs = list(dict.fromkeys(column.system.slug for column in columns))
    if len(slugs) == 1 < len(columns):
        return {column.key: at % COLOURS + 1 for at, column in enumerate(columns)}
    places = {slug: at % COLOURS + 1 for at, slug in enumerate(fixed)}
    slots = {slug: places[slug] for slug in slugs if slug in places}
    free = [slot for slot in range(1, COLOURS + 1) if slot not in slots.values()]
    for at, slug in enumerate(slug for slug in slugs if slug not in places):
        slots[slug] = free[at] if at < len(free) else (at - len(free)) % COLOURS + 1
    return {column.key: slots[column.system.slug] for column in columns}


def figures(table: Table, slots: Mapping[str, int], formats: cellwords.Formats) -> list[Figure]:
    """A figure for each benchmark that has a row to chart, in the table's order."""
    by_benchmark: dict[str, list[Row]] = {}
    for row in table.rows:
        drawn = sum(bool(ends_of(cell)) for cell in row.cells.values())
        if drawn >= min(2, len(table.columns)):
            by_benchmark.setdefault(row.benchmark.slug, []).append(row)
    found = [
        _figure(number, rows, table, slots, formats)
        for number, rows in enumerate(by_benchmark.values(), start=1)
    ]
    _lay_out(found)
    return found


def _figure(
    number: int, rows: list[Row], table: Table, slots: Mapping[str, int], formats: cellwords.Formats
) -> Figure:
    shown = [c for c in table.columns if any(c.key in row.cells for row in rows)]
    order = _order(rows, shown)
    names = findings.part_names(rows)
    panels = [
        _panel(f"f{number}-{at}", group, names, order, _BarMaker(table, formats, slots))
        for at, group in enumerate(_grouped(rows, len(shown)), start=1)
    ]
    heading = findings.figure(table, rows)
    return Figure(
        number,
        rows[0].benchmark,
        rows,
        panels,
        heading,
        cellwords.measure_words(rows, formats),
        columns=shown,
    )


def _order(rows: Sequence[Row], columns: Sequence[Column]) -> list[Column]:
    """One order for all panels: best first in the first row, then in the next, then the rest."""
    ranked = dict.fromkeys(key for row in rows for key, _cell in row.order())
    place = {key: at for at, key in enumerate(ranked)}
    return sorted(columns, key=lambda column: (place.get(column.key, len(place)), column.position))


def _grouped(rows: Sequence[Row], columns: int) -> list[list[Row]]:
    """Rows of one metric that differ by database engine stand in one panel; others alone."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(_group_key(row, columns), []).append(row)
    found: list[list[Row]] = []
    for group in groups.values():
        found += [group] if len(group) > 2 else [[row] for row in group]
    return found


def _group_key(row: Row, columns: int) -> tuple[object, ...]:
    curve = any(len(cell.points or ()) > 1 for cell in row.cells.values())
    if GROUPED_BY not in row.variant or columns > MOST_GROUPED or curve:
        return (row.id,)
    freed = {GROUPED_BY, *row.benchmark.followers(GROUPED_BY)}
    rest = tuple(sorted((k, str(v)) for k, v in row.variant.items() if k not in freed))
    return row.metric.name, row.scope, rest, tuple(row.at.items())


def _panel(
    id_: str,
    rows: list[Row],
    names: Mapping[str, str],
    order: Sequence[Column],
    maker: _BarMaker,
) -> Panel:
    row = rows[0]
    shown = maker.formats[row.id]
    ends = [n for row in rows for cell in row.cells.values() for n in ends_of(cell)]
    axis = round_axis(max(ends, default=0.0))
    maker = replace(maker, axis=axis)
    lines = _lines(row, order, maker.slots, shown)
    groups = _groups(rows, names, order, maker) if not lines else ()
    title = names[row.id] if len(rows) == 1 else wording.row_title(row)
    return Panel(
        id=id_,
        kind="curve" if lines else "grouped" if groups else "bars",
        title=f"{title}, {shown.unit}",
        unit=shown.unit,
        axis=axis,
        ticks=ticks(axis, shown),
        rows=tuple(rows),
        bars=() if groups else tuple(maker.bar(row, c) for c in order if _has_bar(row, c)),
        groups=groups,
        lines=lines,
        x_title=_axis_title(row, maker.table.axis) if lines else "",
    )


def _groups(
    rows: Sequence[Row], names: Mapping[str, str], order: Sequence[Column], maker: _BarMaker
) -> tuple[Group, ...]:
    """Groups of bars: a row each where rows differ by engine, else a value of the factor each."""
    in_order = sorted(order, key=lambda column: column.position)
    if len(rows) > 1:
        return tuple(_engine_group(row, names[row.id], in_order, maker) for row in rows)
    shown = [column for column in in_order if _has_bar(rows[0], column)]
    systems = {column.system.pk for column in shown}
    by_pins: dict[str, list[Column]] = {}
    for column in shown:
        by_pins.setdefault(findings.pins_words(column), []).append(column)
    split = 1 < len(systems) <= MOST_GROUPED and len(systems) < len(shown)
    if not split or not 1 < len(by_pins) <= MOST_GROUPS:
        return ()
    in_turn = sorted(by_pins, key=lambda said: _pins_position(by_pins[said][0]))
    return tuple(_pins_group(rows[0], said, by_pins[said], maker) for said in in_turn)


def _has_bar(row: Row, column: Column) -> bool:
    """Whether the column has a number in the row: a value, or an end of a range."""
    return column.key in row.cells and bool(ends_of(row.cells[column.key]))


def _pins_position(column: Column) -> list[tuple[bool, list[tuple[int, float, str]]]]:
    """Values in their natural order, absent ones last."""
    return [(not value, natural(value)) for value in column.pins.values()]


def ticks(axis: Axis, figures_: wording.Figures) -> tuple[Tick, ...]:
    """The marks of an axis, all with as many decimals as their step needs."""
    return _ticks(axis, figures_.factor)


@lru_cache(maxsize=4096)
def _ticks(axis: Axis, factor: int) -> tuple[Tick, ...]:
    scaled = [value / factor for value in axis.ticks]
    decimals = max(_decimals(value) for value in scaled)
    form = f",.{decimals}f" if wording.is_written_out(scaled[-1]) else ".4g"
    return tuple(
        Tick(value, axis.share(value), format(shown, form) if shown else "0")
        for value, shown in zip(axis.ticks, scaled, strict=True)
    )


def _decimals(value: float) -> int:
    return len(f"{value:.10g}".partition(".")[2]) if "e" not in f"{value:.10g}" else 12


def _engine_group(row: Row, name: str, order: Sequence[Column], maker: _BarMaker) -> Group:
    parameter = row.benchmark.parameter(GROUPED_BY)
    engine = parameter.say(row.variant[GROUPED_BY]) if parameter else name
    versions = [row.variant.get(other) for other in row.benchmark.followers(GROUPED_BY)]
    note = " ".join(str(version) for version in versions if version is not None)
    bars = tuple(maker.bar(row, column) for column in order if _has_bar(row, column))
    return Group(engine, note, bars)


def _pins_group(row: Row, said: str, columns: Sequence[Column], maker: _BarMaker) -> Group:
    """The bars of all systems at one value of the factor; a follower's value is the note."""
    versions = [
        value
        for name, value in columns[0].pins.items()
        if value and said.endswith(f" {value}") and _follows(row.benchmark, name)
    ]
    note = versions[-1] if versions else ""
    bars = tuple(
        replace(maker.bar(row, column), key=column.system.slug, lines=(column.system.short,))
        for column in columns
    )
    return Group(said.removesuffix(note).rstrip() if note else said, note, bars)


def _follows(benchmark: Benchmark, name: str) -> bool:
    parameter = benchmark.parameter(name)
    return parameter is not None and bool(parameter.follows)


@dataclass(frozen=True)
class _BarMaker:
    """Makes the bars of one panel."""

    table: Table
    formats: cellwords.Formats
    slots: Mapping[str, int]
    axis: Axis = EMPTY_AXIS

    def bar(self, row: Row, column: Column) -> Bar:
        cell = row.cells[column.key]
        ends = ends_of(cell)
        low, high = (min(ends), max(ends)) if cell.is_range else (0.0, max(ends))
        shown = self.formats[row.id]
        text, note, spread = (
            cellwords.cell_text(cell, shown),
            cellwords.cell_note(row, cell),
            cellwords.spread_words(cell, shown),
        )
        return Bar(
            key=column.key,
            slot=self.slots[column.key],
            lines=cellwords.name_lines(column),
            note=note,
            low=low,
            high=high,
            start=self.axis.share(low),
            end=self.axis.share(high),
            text=text,
            marks=cellwords.cell_marks(cell),
            hollow=cell.is_range,
            run=cellwords.run_address(cell.run),
            hover=self._hover(column, cell, (f"{text} {shown.unit}", note, spread)),
            ratio=cellwords.ratio_text(self.table, column, cell),
            spread=spread,
            total=cellwords.total_words(row, cell),
        )

    def _hover(self, column: Column, cell: Cell, said: Iterable[str]) -> tuple[str, ...]:
        lines = [column.label, *said]
        if cell.ratio is not None and column.key != self.table.baseline:
            base = self.table.column(self.table.baseline).label
            words = {"ratio": wording.ratio_words(cell.ratio), "baseline": base}
            lines.append(_("%(ratio)s against %(baseline)s") % words)
        return tuple(line for line in lines if line)


def _lines(
    row: Row, order: Sequence[Column], slots: Mapping[str, int], shown: wording.Figures
) -> tuple[Line, ...]:
    """The row's curves, if any column has at least two points."""
    found: list[Line] = []
    seen: dict[int, int] = {}
    for column in order:
        cell = row.cells.get(column.key)
        points = [tuple(p) for p in (cell.points or ()) if p[1] is not None] if cell else []
        if cell and points:
            style = seen.get(column.system.pk, 0)
            seen[column.system.pk] = style + 1
            run = cellwords.run_address(cell.run)
            said = tuple(_point_words(point, shown) for point in points)
            found.append(Line(slots[column.key], style, column.label, tuple(points), run, said))
    return tuple(found) if any(len(line.points) > 1 for line in found) else ()


def _point_words(point: Sequence[Any], shown: wording.Figures) -> dict[str, str]:
    """A point of a curve as the table twin says it."""
    x, value, low, high, n = point
    span = shown.span(low, high) if low is not None or high is not None else ""
    x_words = x if isinstance(x, str) else f"{x:,}"
    return {"x": x_words, "value": shown.number(value), "span": span, "n": str(n)}


def _axis_title(row: Row, axis: str) -> str:
    parameter: Parameter | None = row.benchmark.parameter(axis)
    if parameter is None:
        return axis
    label = parameter.label or axis
    return f"{label}, {parameter.unit}" if parameter.unit else label


def _lay_out(found: Iterable[Figure]) -> None:
    """Small figures stand in pairs, large ones fill the width with panels side by side."""
    waiting: Figure | None = None
    for figure in found:
        if _is_small(figure) and waiting is not None:
            waiting.width = figure.width = 6
            waiting.across = figure.across = 1
            waiting = None
            continue
        figure.width, figure.across = 12, _across(len(figure.panels))
        waiting = figure if _is_small(figure) else None
        if any(panel.kind == "grouped" for panel in figure.panels):
            figure.across = min(2, len(figure.panels))


def _across(panels: int) -> int:
    """How many panels stand side by side: three, or two where three would leave one alone."""
    return 2 if panels in (1, 2, 4) else 3


def _is_small(figure: Figure) -> bool:
    if len(figure.panels) == 1:
        groups = figure.panels[0].groups
        return sum(len(group.bars) for group in groups) <= MOST_NARROW
    return len(figure.panels) <= 3 and all(panel.kind == "bars" for panel in figure.panels)
