"""The comparison page and stored comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from results import catalogue, charts, hooks, queries, wording
from results.charts import panels
from results.compare import CompareError, Row, Table, compare_systems
from results.kept import kept
from results.models import Comparison, Lab, Source, System
from results.pages import forms
from results.pages.display import display
from results.request import Defaults, State, address, read_state
from results.wording import cellwords, decks, findings

LONGEST_SEARCH = 100


@require_safe
@kept
def compare(request: HttpRequest) -> HttpResponse:
    """Systems side by side. The address is the whole state; what is wrong with it is said."""
    query = request.GET.copy()
    find = str(query.pop("find", [""])[-1])[:LONGEST_SEARCH]
    stored = queries.default_comparison()
    errors: Mapping[str, list[str]] = {}
    state, table = State((), stored=Defaults.of(stored)), None
    try:
        state = forms.fitting(read_state(query, stored))
        table = compare_systems(**state.arguments()) if state.systems else None
    except CompareError as error:
        errors = error.fields
    context = _table_context(state, table) if table else _empty_context(state, errors)
    _add_picker(context["controls"], find)
    context["cell_links"] = hooks.present(hooks.cell_links, request.user)
    return render(request, "results/compare.html", context, status=400 if errors else 200)


@require_safe
def stored(request: HttpRequest, slug: str) -> HttpResponse:
    """A stored comparison: leads to the page with its state."""
    found = get_object_or_404(Comparison, slug=slug)
    base = Defaults.of(found)
    state = State(base.systems, base.benchmarks, base.factor, base.baseline, base.per, base.axis)
    return HttpResponseRedirect(reverse("compare") + address(state, whole=True))


def _empty_context(state: State, errors: Mapping[str, list[str]]) -> dict[str, Any]:
    """The page without a table: what was wrong, or nothing chosen, and the controls to mend it."""
    known = queries.systems_by_slug([key.partition("@")[0] for key in state.systems])
    unknown = [key for key in state.systems if key.partition("@")[0] not in known]
    if errors and unknown and "system" not in errors:
        lacking = [_("system %(key)r is not known") % {"key": key} for key in unknown]
        errors = {**errors, "system": lacking[:20]}
    mended = forms.cleaned(state, errors, known)
    return {
        "state": state,
        "errors": [(name, text) for name, texts in errors.items() for text in texts],
        "mended": address(mended) if errors and mended.systems else "",
        "controls": forms.controls(mended, None, known, {}),
    }


def _table_context(state: State, table: Table) -> dict[str, Any]:
    slots = panels.colour_slots(table.columns, _slugs(state.stored.systems))
    systems = _systems(state, table)
    asked = [slug for slug in _slugs(state.systems) if slug in systems]
    placed = {column.system.slug for column in table.columns}
    sources = _sources(table.rows)
    formats = cellwords.number_formats(table)
    figures = panels.figures(table, slots, formats)
    shown = display(table, slots, formats)
    return {
        "state": state,
        "table": table,
        "title": findings.headline(table),
        "kicker": findings.kicker(table),
        "deck": decks.deck(table, _labs(table.rows)),
        "baseline": table.column(table.baseline).label,
        "controls": forms.controls(state, table, systems, slots),
        "shown": shown,
        "setbase": {h.key: address(state, baseline=h.key) for h in shown.heads},
        "left_out": _left_out_words(table),
        "lost": wording.joined([systems[s].short for s in asked if s not in placed]),
        "no_common": findings.nobody_shares(table),
        "figures": [_figure_view(figure, state, sources) for figure in figures],
        "drawings": {p.id: charts.figure(p) for f in figures for p in f.panels},
        "colours_repeat": len(placed) > panels.COLOURS,
        "sources": list(sources.values()),
        "csv": reverse("api-compare-csv") + address(state),
        "json": reverse("api-compare") + address(state),
    }


def _systems(state: State, table: Table) -> dict[str, System]:
    """The systems asked for, by slug; also those that have no column under this factor."""
    found = {column.system.slug: column.system for column in table.columns}
    lost = [slug for slug in _slugs(state.systems) if slug not in found]
    return {**found, **(queries.systems_by_slug(lost) if lost else {})}


def _slugs(keys: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(key.partition("@")[0] for key in keys))


def _add_picker(controls: forms.Controls, find: str) -> None:
    """List the systems that can be added, those with `find` in their names."""
    found = queries.systems_with_results(find)
    listed = list(found[: forms.MOST_LISTED])
    controls.find = find
    controls.found = found.count()
    taken = {key for name, key in controls.systems_hidden if name == "system"}
    controls.systems = [_system_option(one) for one in listed if one.slug not in taken]
    controls.found -= len(listed) - len(controls.systems)


def _system_option(system: System) -> forms.Option:
    cores = system.cores
    words = ngettext("%(n)s core", "%(n)s cores", cores or 0) % {"n": cores} if cores else ""
    note = " · ".join(part for part in (system.name if system.chassis else "", words) if part)
    return forms.Option(system.slug, system.short, note=note)


def _labs(rows: Sequence[Row]) -> dict[str, str]:
    slugs = {cell.lab for row in rows for cell in row.cells.values()}
    return dict(Lab.objects.filter(slug__in=slugs).values_list("slug", "name"))


@dataclass(frozen=True)
class SourceView:
    """A source as the page cites it: its number, a short name, and all that is known."""

    number: int
    short: str
    source: Source
    date: str
    languages: str


def _sources(rows: Sequence[Row]) -> dict[int, SourceView]:
    """The sources of all cells, numbered in the order of the table."""
    ids = dict.fromkeys(cell.source for row in rows for cell in row.cells.values() if cell.source)
    found = Source.objects.in_bulk(list(ids))
    views: dict[int, SourceView] = {}
    for pk in ids:
        if pk not in found:
            continue
        source = found[pk]
        day = wording.date_words(source.date)
        short = ", ".join(part for part in (source.publisher or source.title, day) if part)
        languages = wording.language_words(source.language)
        views[pk] = SourceView(len(views) + 1, short, source, day, languages)
    return views


@dataclass(frozen=True)
class FigureView:
    """A figure with what stands below it."""

    figure: panels.Figure
    sources: list[SourceView]
    notes: list[str]
    runs: str
    first_row: str
    csv: str
    only: str


def _figure_view(
    figure: panels.Figure, state: State, sources: Mapping[int, SourceView]
) -> FigureView:
    cells = [cell for row in figure.rows for cell in row.cells.values()]
    count = len({cell.run for cell in cells})
    chosen = (figure.benchmark.slug,)
    narrowed = not any(text.partition("/")[0] == chosen[0] for text in state.benchmarks)
    wanted = chosen if narrowed else state.benchmarks
    cited = dict.fromkeys(cell.source for cell in cells if cell.source in sources)
    notes = [figure.benchmark.caveat] if figure.benchmark.caveat else []
    if any(cell.inferred for cell in cells):
        notes.append(_("* The divisor is inferred, the source does not state it."))
    return FigureView(
        figure=figure,
        sources=[sources[pk] for pk in cited if pk is not None],
        notes=notes,
        runs=ngettext("%(n)s run", "%(n)s runs", count) % {"n": count},
        first_row=figure.rows[0].id,
        csv=reverse("api-compare-csv") + address(state, benchmarks=wanted),
        only=address(state, benchmarks=wanted) if state.benchmarks != wanted else "",
    )


def _left_out_words(table: Table) -> str:
    """Which benchmarks have no place under the factor, and why."""
    if not table.left_out:
        return ""
    names = [b.name for slug in table.left_out if (b := catalogue.get(slug))]
    return wording.joined(names)
