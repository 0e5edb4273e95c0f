"""Pages of benchmarks: the catalogue, and one benchmark with its league tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from results import catalogue, units
from results.catalogue import base
from results.charts.bars import percent_of
from results.kept import kept
from results.models import Benchmark, List, Metric
from results.pages.league import Entry, League, Placed, leagues, place_in_leagues, place_in_lists
from results.queries import listings
from results.queries.listings import Tally
from results.wording import Figures, figures

LONGEST_NUMBER = 40


@dataclass(frozen=True)
class Described:
    """A benchmark of the catalogue and how much is published of it."""

    benchmark: base.Benchmark
    tally: Tally | None


@require_safe
@kept
def index(request: HttpRequest) -> HttpResponse:
    tallies = listings.benchmark_tallies()
    by_category: dict[str, list[Described]] = {name: [] for name in base.CATEGORIES}
    for slug, benchmark in catalogue.benchmarks().items():
        by_category[benchmark.category].append(Described(benchmark, tallies.get(slug)))
    categories = [(base.CATEGORIES[name], found) for name, found in by_category.items() if found]
    return render(request, "results/benchmarks.html", {"categories": categories})


class PlaceForm(forms.Form):
    """A reader's own value, to be placed; the unit is one that converts to the metric's."""

    value = forms.CharField(required=False, max_length=LONGEST_NUMBER)
    unit = forms.CharField(required=False, max_length=30)

    def __init__(self, data: object, *, canonical: str) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        self.canonical = canonical

    def clean_value(self) -> float | None:
        text = self.cleaned_data["value"].strip().replace(",", "")
        if not text:
            return None
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number) or number <= 0:
            raise forms.ValidationError(
                _("Found %(found)s, expected a number above 0, like 812.5."),
                params={"found": self.cleaned_data["value"]},
            )
        return number

    def in_metric_unit(self) -> float | None:
        """The value in the metric's unit, or None where none was given or it does not convert."""
        if not self.is_valid() or self.cleaned_data["value"] is None:
            return None
        value: float = self.cleaned_data["value"]
        try:
            found = units.factor(self.cleaned_data["unit"] or self.canonical, self.canonical)
        except units.UnitError as error:
            self.add_error("unit", str(error))
            return None
        converted = found(value)
        return converted if math.isfinite(converted) and converted > 0 else None


@dataclass(frozen=True)
class Line:
    """A line of a league table as it is shown; `entry` None is the reader's own value."""

    entry: Entry | None
    value: str
    width: str
    start: str = "0"
    rank: int | None = None


@dataclass(frozen=True)
class Board:
    """A league as the page shows it."""

    league: League
    lines: list[Line]


@dataclass
class MetricPage:
    """One metric of a benchmark: its leagues, Lists, and the reader's value in them."""

    metric: Metric
    described: base.Metric
    title: str
    boards: list[Board] = field(default_factory=list)
    shown: Figures = field(default_factory=lambda: Figures(""))
    lists: Sequence[List] = ()
    own: float | None = None
    placed: list[Placed] = field(default_factory=list)
    placed_in_lists: list[Placed] = field(default_factory=list)

    @property
    def leader(self) -> Line | None:
        """The first of the only league, if it has a rank."""
        if len(self.boards) != 1:
            return None
        lines = [line for line in self.boards[0].lines if line.entry and line.entry.rank == 1]
        return lines[0] if len(lines) == 1 else None

    @property
    def singles(self) -> bool:
        """Whether every entry stands on one value."""
        entries = [e for board in self.boards for e in board.league.entries]
        return bool(entries) and all(entry.cell.n <= 1 for entry in entries)

    @property
    def own_words(self) -> str:
        return self.shown.with_unit(self.own)


@require_safe
@kept
def detail(request: HttpRequest, slug: str) -> HttpResponse:
    benchmark = get_object_or_404(Benchmark, slug=slug)
    described = catalogue.get(slug)
    metrics = benchmark.metrics.order_by("order")
    tallies = listings.metric_tallies(benchmark)
    metric = _chosen(metrics, request.GET.get("metric", ""), tallies)
    form = PlaceForm(request.GET, canonical=metric.unit if metric else "")
    context = {
        "benchmark": benchmark,
        "described": described,
        "category": base.CATEGORIES.get(benchmark.category, benchmark.category),
        "metrics": [(m, tallies.get(m.pk)) for m in metrics if m.pk in tallies or m == metric],
        "unmeasured": [m for m in metrics if m.pk not in tallies and m != metric],
        "chosen": metric,
        "form": form,
        "page": _metric_page(described, metric, form) if described and metric else None,
        "units": units.accepted(metric.unit) if metric else (),
    }
    return render(request, "results/benchmark.html", context)


def _chosen(metrics: QuerySet[Metric], wanted: str, tallies: dict[int, Tally]) -> Metric | None:
    """The metric asked for, else the first with results, else the first."""
    for metric in metrics:
        if wanted in (metric.full_name, metric.workload):
            return metric
    return next((one for one in metrics if one.pk in tallies), metrics.first())


def _metric_page(described: base.Benchmark, metric: Metric, form: PlaceForm) -> MetricPage | None:
    entry = described.metric(metric.full_name)
    if entry is None:
        return None
    cells = listings.metric_cells(metric)
    systems = listings.systems_by_id({cell.system_id for cell in cells})
    found = leagues(described, entry, cells, systems)
    lists = listings.lists_of(metric)
    own = form.in_metric_unit()
    page = MetricPage(metric, entry, described.row_title(entry), lists=lists, own=own)
    values = [value for league in found for value in _numbers(league)]
    page.shown = figures(metric.unit, [*values, *([own] if own else [])])
    page.boards = [_board(league, page.shown, entry, own) for league in found]
    if own is not None:
        page.placed = place_in_leagues(own, entry, found)
        page.placed_in_lists = place_in_lists(own, entry, lists)
    return page


def _numbers(league: League) -> list[float]:
    found: list[float] = []
    for entry in league.entries:
        parts = (entry.cell.low, entry.cell.high) if entry.is_range else (entry.value,)
        found += [number for number in parts if number is not None]
    return found


def _board(league: League, shown: Figures, metric: base.Metric, own: float | None) -> Board:
    most = max([*_numbers(league), own or 0.0], default=0.0)
    lines = [_line(entry, shown, most) for entry in league.shown]
    if own is not None:
        placed = place_in_leagues(own, metric, [league])[0]
        mine = Line(None, shown.number(own), percent_of(own, most), rank=placed.rank)
        before = sum(_ahead(line, placed.rank) for line in lines)
        lines.insert(before, mine)
    return Board(league, lines)


def _ahead(line: Line, rank: int) -> bool:
    """Whether a line stands before the reader's own value of that rank; ties do not."""
    return line.rank is not None and line.rank < rank


def _line(entry: Entry, shown: Figures, most: float) -> Line:
    if not entry.is_range:
        return Line(
            entry, shown.number(entry.value), percent_of(entry.value, most), rank=entry.rank
        )
    low, high = entry.cell.low, entry.cell.high
    end = high if high is not None else low
    start = percent_of(low, most) if high is not None else "0"
    width = f"{max(0.0, float(percent_of(end, most)) - float(start)):.2f}"
    return Line(entry, shown.span(low, high), width, start)
