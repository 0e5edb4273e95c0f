"""The front page: what there is, what to compare, who leads."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from results import hooks, queries
from results.charts.bars import BarFigure, Length, bar_figure
from results.compare import Column, CompareError, Table, compare_systems
from results.kept import kept
from results.models import Comparison, Source, System
from results.pages.display import measured_on
from results.pages.leads import Lead, leads
from results.queries import listings
from results.wording import Figures, findings, row_figures


@dataclass(frozen=True)
class Choice:
    """A system of the default comparison, to be compared or not."""

    system: System
    position: int
    figures: int


@dataclass(frozen=True)
class Leading:
    """A lead and how its value is shown."""

    lead: Lead
    shown: Figures

    @property
    def value(self) -> str:
        return self.shown.number(self.lead.cell.value)

    @property
    def words(self) -> str:
        """What the row is measured on, as the comparison says it."""
        return measured_on(self.lead.row)


@dataclass
class Front:
    """The default comparison as the front page shows it; empty without one."""

    stored: Comparison | None = None
    headline: str = ""
    columns: list[Column] = field(default_factory=list)
    rows: int = 0
    single: bool = False
    leading: list[Leading] = field(default_factory=list)
    bars: BarFigure | None = None
    sources: list[Source] = field(default_factory=list)


@require_safe
@kept
def home(request: HttpRequest) -> HttpResponse:
    front = _front()
    counts = listings.figure_counts(column.system.pk for column in front.columns)
    choices = [
        Choice(column.system, column.position, counts.get(column.system.pk, 0))
        for column in front.columns
    ]
    context = {
        "totals": listings.totals(),
        "front": front,
        "choices": choices,
        "labs": listings.labs_with_tallies(),
        "panels": hooks.present(hooks.home_panels, request.user),
    }
    return render(request, "results/home.html", context)


def _front() -> Front:
    stored = queries.default_comparison()
    if stored is None:
        return Front()
    try:
        table = compare_systems(systems=stored.columns, baseline=stored.baseline)
    except CompareError:
        # A system of the stored comparison is gone: the page stands without it.
        return Front()
    found = leads(table)
    front = Front(
        stored=stored,
        headline=findings.headline(table),
        columns=table.columns,
        rows=len(table.rows),
        single=all(cell.n == 1 for row in table.rows for cell in row.cells.values()),
        leading=[Leading(lead, row_figures(lead.row, table.rows)) for lead in found],
    )
    if found:
        front.bars = _bars(table, front.leading[0])
        cells = (cell for _, cell in found[0].row.order())
        front.sources = list(listings.sources_by_id({cell.source for cell in cells}).values())
    return front


def _bars(table: Table, leading: Leading) -> BarFigure:
    lengths = [
        Length(column.label, cell.value or 0.0, column.position, cell.run)
        for column, cell in ((table.column(key), cell) for key, cell in leading.lead.row.order())
    ]
    return bar_figure(lengths, leading.shown)
