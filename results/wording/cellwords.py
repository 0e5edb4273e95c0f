"""The numbers of a table in words: what a cell, its bar and its note say."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from functools import lru_cache

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from results import wording
from results.catalogue.base import Benchmark
from results.compare import Cell, Column, Row, Table
from results.models import Qualifier
from results.wording import findings

NAME_WIDTH = 24  # characters of a line of a system's name beside its bar

Formats = Mapping[str, wording.Figures]


def number_formats(table: Table) -> Formats:
    """How each row's numbers are shown, by row id; rows of one metric share their unit."""
    by_metric: dict[tuple[str, str], list[Row]] = {}
    for row in table.rows:
        by_metric.setdefault((row.benchmark.slug, row.metric.name), []).append(row)
    return {row.id: wording.row_figures(row, rows) for rows in by_metric.values() for row in rows}


@lru_cache(maxsize=4096)
def run_address(run: int) -> str:
    """The page of a run."""
    return reverse("run", args=[run])


@lru_cache(maxsize=256)
def benchmark_address(slug: str) -> str:
    """The page of a benchmark."""
    return reverse("benchmark", args=[slug])


def ratio_text(table: Table, column: Column, cell: Cell) -> str:
    """'1.03×', '1' for the baseline itself, empty where there is no ratio."""
    if cell.ratio is None:
        return ""
    return "1" if column.key == table.baseline else wording.ratio_words(cell.ratio)


def total_words(row: Row, cell: Cell) -> str:
    """The total behind a normalised value: '2,073 GB/s'; empty for totals."""
    if row.unit == row.metric.unit or cell.raw is None:
        return ""
    return wording.alone(cell.raw, row.metric.unit)


def name_lines(column: Column) -> tuple[str, ...]:
    """A column's name beside its bar: the system, below it what it is pinned to."""
    return _name_lines(column.label)


@lru_cache(maxsize=4096)
def _name_lines(label: str) -> tuple[str, ...]:
    lines = [
        line
        for part in label.split(" · ")
        for line in textwrap.wrap(part, NAME_WIDTH, max_lines=2, placeholder=" …") or [part]
    ]
    return tuple(lines[:4])


def cell_text(cell: Cell, figures_: wording.Figures) -> str:
    """The number that a cell shows: '2,073', '≈0.5', '1.21–2.45', or a dash."""
    if cell.is_range:
        return wording.qualified(figures_.span(cell.low, cell.high), cell.qualifier)
    return wording.qualified(figures_.number(cell.value), cell.qualifier)


def cell_marks(cell: Cell) -> str:
    """'c' for a chart caption's figure, '*' for an inferred denominator, 'a' for assumed."""
    marks = "c" if cell.qualifier == Qualifier.CHART_ONLY else ""
    marks += "a" if cell.assumed else ""
    return marks + ("*" if cell.inferred else "")


def cell_note(row: Row, cell: Cell) -> str:
    """What a value was divided by, else where on a curve it was read."""
    if row.unit != row.metric.unit and cell.denominator:
        return denominator_words(row.per, cell)
    if not cell.at:
        return ""
    known = {*row.at, *row.shared_at}
    return " · ".join(at_words(row.benchmark, {n: v for n, v in cell.at.items() if n not in known}))


def at_words(benchmark: Benchmark, at: Mapping[str, object]) -> list[str]:
    """Where on a curve a value lies: ['144 virtual users']."""
    found = ((benchmark.parameter(name), value) for name, value in at.items())
    return [p.say(value) for p, value in found if p and isinstance(value, str | int | float)]


def denominator_words(per: str, cell: Cell) -> str:
    """'176 cores', '2 sockets', 'of 2,400 GB/s', '900 W TDP'."""
    amount = wording.figures("", [cell.denominator]).number(cell.denominator)
    number = int(cell.denominator or 0)
    if per == "core":
        return ngettext("%(n)s core", "%(n)s cores", number) % {"n": amount}
    if per == "thread":
        return ngettext("%(n)s thread", "%(n)s threads", number) % {"n": amount}
    if per == "socket":
        return ngettext("%(n)s socket", "%(n)s sockets", number) % {"n": amount}
    measured = per == "watt" and cell.basis == "measured"
    words = {"watt": _("%(n)s W TDP"), "peak": _("of %(n)s GB/s"), "price": _("%(n)s USD")}
    return (_("%(n)s W measured") if measured else words[per]) % {"n": amount}


def spread_words(cell: Cell, figures_: wording.Figures) -> str:
    """'n = 1', 'n = 5, 2,041–2,081', 'reported range'."""
    if cell.is_range:
        return _("reported range")
    words = wording.count_words(cell.n)
    return f"{words}, {figures_.span(cell.low, cell.high)}" if cell.n > 1 else words


def measure_words(rows: Sequence[Row], formats: Formats) -> str:
    """The line below a heading: what, unit, direction, on what, with how many runs."""
    titles = list(dict.fromkeys(wording.row_title(row) for row in rows))
    what = titles[0] if len(titles) == 1 else rows[0].benchmark.name
    units = dict.fromkeys(
        f"{formats[row.id].unit}, {wording.direction(row.metric)}" for row in rows
    )
    shared = " · ".join([*findings.shared_parts(rows), *_shared_places(rows)])
    counts = sorted({cell.n for row in rows for cell in row.cells.values()})
    n = f"{wording.count_words(counts[0])}" if len(counts) == 1 else f"n = {counts[0]}–{counts[-1]}"
    each = _("%(n)s each") % {"n": n} if len(counts) == 1 else n
    sentences = [f"{what}: {'; '.join(units)}", shared[:1].upper() + shared[1:], each]
    return ". ".join(sentence for sentence in sentences if sentence) + "."


def _shared_places(rows: Sequence[Row]) -> list[str]:
    """Where on their curves all rows were read: ['16 GiB array']."""
    first, *rest = [at_words(row.benchmark, row.shared_at) for row in rows]
    return [words for words in first if all(words in other for other in rest)]
