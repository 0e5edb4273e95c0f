"""A run's page, its files and its bundle."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from results import hooks
from results.models import Artefact, Run
from results.pages import runpage
from results.pages.evidence import Log, read_log
from results.queries import listings, visible_runs
from results.queries.uploads import upload_of
from results.views.downloads import download

MOST_FILES = 8  # files of a run whose lines are shown; the others can be fetched


@require_safe
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    run = listings.run_page(pk, request.user)
    if run is None:
        raise Http404
    entitled = listings.is_entitled(run, request.user)
    rows = runpage.measured(run)
    open_to_reader = run.is_published or entitled
    context = {
        "run": run,
        "described": runpage.described(run),
        "title": runpage.title(run, rows),
        "deck": runpage.deck(run, rows),
        "rows": rows,
        "settings": runpage.settings(run),
        "setup": runpage.setup_fields(run),
        "in_group": run.system.members.exists(),
        "only_ranges": runpage.has_only_ranges(rows),
        "only_in_chart": runpage.is_only_in_chart(rows),
        "entitled": entitled,
        "logs": _logs(run) if open_to_reader else [],
        "hidden_files": bool(run.artefacts.all()) and not open_to_reader,
        "audit": listings.audit_of(run) if entitled else [],
        "upload": upload_of(run) if entitled else None,
        "added": hooks.all_links(hooks.run_links, run, request.user),
        **_correction(run, request.user),
    }
    return render(request, "results/run.html", context)


def _logs(run: Run) -> list[Log]:
    return [read_log(one, run.measurements.all()) for one in run.artefacts.all()[:MOST_FILES]]


def _correction(run: Run, user: Any) -> dict[str, Run | None]:
    """The run that corrects this one and the one it corrects, as far as `user` may see them."""
    newer: Run | None = getattr(run, "superseded_by", None)
    ids = [one.pk for one in (newer, run.supersedes) if one]
    seen = set(listings.readable_runs(user).filter(pk__in=ids).values_list("pk", flat=True))
    return {
        "successor": newer if newer and newer.pk in seen else None,
        "corrected": run.supersedes if run.supersedes_id in seen else None,
    }


@require_safe
def artefact(request: HttpRequest, pk: int, sha256: str) -> HttpResponseBase:
    """A file of a run the reader may see, as a download that no browser will execute."""
    runs = visible_runs(request.user).filter(pk=pk)
    found = Artefact.objects.filter(runs__in=runs, sha256=sha256, stored=True).first()
    if found is None:
        raise Http404
    return download(found)


@require_safe
def bundle(request: HttpRequest, pk: int) -> HttpResponse:
    """The run as a Bundle that can be imported again."""
    if not visible_runs(request.user).filter(pk=pk).exists():
        raise Http404
    # Imported where it works: the bundle's typed model takes a worker 7 MB.
    from results import export

    text = export.to_json(export.export_runs([pk]))
    response = HttpResponse(text, content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="benchhub-run-{pk}.json"'
    return response
