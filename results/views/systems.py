"""Pages of systems: the list to choose from, and what is known of one."""

from __future__ import annotations

from dataclasses import dataclass

from django import forms
from django.core.paginator import Page, Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from results import queries
from results.actors import Actor
from results.catalogue.base import CATEGORIES
from results.compare import Cell, Row, compare_systems
from results.kept import kept
from results.models import System
from results.pages.display import measured_on
from results.pages.facts import system_facts_table
from results.queries import listings
from results.wording import Figures, row_figures

PAGE_SIZE = 50
RUNS_SHOWN = 25
MOST_CHOSEN = 50


class SystemFilter(forms.Form):
    """What a reader looks for in the list of systems; unknown values find nothing."""

    q = forms.CharField(required=False, max_length=100, strip=True)
    lab = forms.CharField(required=False, max_length=60)
    vendor = forms.CharField(required=False, max_length=60)
    isa = forms.CharField(required=False, max_length=40)


@dataclass(frozen=True)
class Listed:
    """A system in the list and how many figures are published of it."""

    system: System
    figures: int
    chosen: bool


@dataclass(frozen=True)
class Shown:
    """A row of a system's own figures and how its value is written."""

    row: Row
    cell: Cell
    figures: Figures

    @property
    def value(self) -> str:
        if self.cell.is_range:
            return self.figures.span(self.cell.low, self.cell.high)
        return self.figures.number(self.cell.value)

    @property
    def words(self) -> str:
        """What the row is measured on, as the comparison says it."""
        return measured_on(self.row)

    @property
    def spread(self) -> str:
        """Low and high of several runs, else ""."""
        if self.cell.is_range or not self.cell.spread:
            return ""
        return self.figures.span(self.cell.low, self.cell.high)


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """The list, its filters and ticks in one form: another filter keeps what is ticked."""
    chosen = request.GET.getlist("system")[:MOST_CHOSEN]
    keeping = f"?{urlencode({'system': chosen}, doseq=True)}" if chosen else ""
    if "compare" in request.GET:
        return HttpResponseRedirect(reverse("compare") + keeping)
    form = SystemFilter(request.GET)
    problem = "" if form.is_valid() else _("This filter is too long to be a name.")
    wanted = form.cleaned_data
    found = listings.find_systems(
        request.user,
        text=wanted.get("q", ""),
        lab=wanted.get("lab", ""),
        vendor=wanted.get("vendor", ""),
        isa=wanted.get("isa", ""),
    )
    page = Paginator(found, PAGE_SIZE).get_page(request.GET.get("page"))
    listed = _listed(page, chosen)
    context = {
        "wanted": wanted,
        "problem": problem,
        "filtered": any(wanted.values()),
        "choices": listings.system_choices(request.user),
        "page": page,
        "listed": listed,
        "carried": _carried(chosen, listed, request.user),
        "keeping": keeping,
        "address": _address(request),
    }
    return render(request, "results/systems.html", context)


def _listed(page: Page[System], chosen: list[str]) -> list[Listed]:
    systems = list(page.object_list)
    counts = listings.figure_counts(system.pk for system in systems)
    return [Listed(one, counts.get(one.pk, 0), one.slug in chosen) for one in systems]


def _carried(chosen: list[str], listed: list[Listed], user: Actor) -> list[System]:
    """The chosen systems that the filter hides; unknown ones are dropped."""
    hidden = set(chosen) - {one.system.slug for one in listed}
    return list(queries.visible_systems(user).filter(slug__in=hidden)) if hidden else []


def _address(request: HttpRequest) -> str:
    """The query string without the page, to put another page's number behind it."""
    query = request.GET.copy()
    query.pop("page", None)
    return f"?{query.urlencode()}&" if query else "?"


@require_safe
@kept
def detail(request: HttpRequest, slug: str) -> HttpResponse:
    system = listings.system_page(slug, request.user)
    if system is None:
        raise Http404(f"there is no system {slug!r}")
    runs = list(listings.runs_of(system, request.user)[: RUNS_SHOWN + 1])
    shown = _own_figures(system)
    sources = listings.sources_by_id(
        {one.cell.source for one in shown} | {system.source_id} if shown else {system.source_id}
    )
    context = {
        "system": system,
        "facts": system_facts_table(system),
        "groups": list(system.groups.all()),
        "categories": _by_category(shown),
        "singles": all(one.cell.n == 1 for one in shown),
        "sources": list(sources.values()),
        "runs": runs[:RUNS_SHOWN],
        "more_runs": len(runs) > RUNS_SHOWN,
        "similar": listings.similar_systems(system),
    }
    return render(request, "results/system.html", context)


def _own_figures(system: System) -> list[Shown]:
    """A comparison of one: the system's rows and their cells; none before it is public."""
    if not system.is_public:
        return []
    table = compare_systems(systems=[system.slug])
    key = table.columns[0].key
    return [Shown(row, row.cells[key], row_figures(row, table.rows)) for row in table.rows]


def _by_category(shown: list[Shown]) -> list[tuple[str, list[Shown]]]:
    groups: dict[str, list[Shown]] = {}
    for one in shown:
        groups.setdefault(one.row.benchmark.category, []).append(one)
    return [(CATEGORIES[name], groups[name]) for name in CATEGORIES if name in groups]
