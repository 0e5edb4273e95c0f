"""Pages of uploads: the form, one upload, the lists."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from results import actors
from results.intake import previews
from results.intake.client import have_read
from results.intake.given import GivenError
from results.intake.uploads import Correction, Kept, submit
from results.models import Lab, Run, Upload
from results.pages import uploads as words
from results.pages.evidence import lines_at
from results.pages.formatnames import format_names
from results.pages.preview import preview_of
from results.pages.uploadforms import PASTED, UploadForm
from results.queries import default_comparison
from results.queries import uploads as queries
from results.receiving import MOST_BYTES, keep, received, receives
from results.receiving.names import flat, unique
from results.services import ServiceError
from results.views.downloads import download
from results.views.private import SeeOther, for_uploaders, private, seen_upload

PAGE_SIZE = 25
NEWEST = 5
MOST_COMPARED = 6
PATIENCE_S = 3.0
MOST_LINES = 20  # problems whose lines are looked up


# The form


@private
@for_uploaders
@receives
@require_http_methods(["GET", "HEAD", "POST"])
def upload_form(request: HttpRequest) -> HttpResponse:
    """The form; posted, the files become an upload, which is read and shown."""
    if not request.user.is_authenticated:
        if request.GET.get("corrects"):
            return redirect_to_login(request.get_full_path())
        return _form_page(request, None, [], None)
    corrects = _corrected(request)
    labs = list(actors.labs_for_upload(request.user).order_by("name"))
    fixed = corrects.lab if corrects else labs[0] if len(labs) == 1 else None
    form = UploadForm(
        request.POST if request.method == "POST" else None,
        user=request.user,
        labs=labs,
        fixed=fixed,
        corrects=corrects is not None,
        initial=_as_before(corrects) if corrects else {},
    )
    if request.method == "POST":
        done = _submitted(request, form, corrects)
        if done is not None:
            return done
    choices = labs if fixed is None else []
    return _form_page(request, form if labs else None, choices, corrects)


def _corrected(request: HttpRequest) -> Upload | None:
    """The published upload that is to be corrected. Raises Http404 where there is none."""
    text = request.GET.get("corrects", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise Http404
    upload = seen_upload(request, int(text))
    if upload.state != Upload.State.PUBLISHED or not actors.may_upload(request.user, upload.lab):
        raise Http404
    return upload


def _as_before(corrects: Upload) -> dict[str, str]:
    """The system and node of the corrected runs, where all have the same."""
    named = {(run.system.slug, run.node) for run in queries.runs_of_upload(corrects)}
    return dict(zip(("system", "node"), *named, strict=True)) if len(named) == 1 else {}


def _submitted(
    request: HttpRequest, form: UploadForm, corrects: Upload | None
) -> HttpResponse | None:
    """Where the new upload is; None where the form has to be mended."""
    files: list[Kept] = sent_files(request)
    if not form.is_valid():
        return None
    if form.pasted:
        files.append(_pasted(form, files))
    if not files:
        form.add_error(None, _("Choose at least one file, or paste a text."))
        return None
    correction = Correction(corrects, form.cleaned_data["reason"]) if corrects else None
    try:
        upload, is_new = submit(
            actor=request.user,
            lab=form.cleaned_data["lab"],
            files=files,
            given=form.cleaned_data["given"],
            correction=correction,
        )
    except ServiceError as error:
        form.add_error(None, str(error))
        return None
    if not is_new:
        messages.info(request, _("The same files came before: this is their upload."))
    have_read(upload.pk, patience_s=PATIENCE_S)
    return SeeOther(upload.get_absolute_url())


def sent_files(request: HttpRequest) -> list[Kept]:
    """The files of a form that `receives` let in."""
    return [Kept(file.name, file.sha256, file.size) for file in received(request)]


def _pasted(form: UploadForm, files: Sequence[Kept]) -> Kept:
    wanted = flat(form.cleaned_data["text_name"] or PASTED)
    file = keep(unique(wanted, [one.name for one in files]), form.pasted)
    return Kept(file.name, file.sha256, file.size)


def _form_page(
    request: HttpRequest, form: UploadForm | None, labs: Sequence[Lab], corrects: Upload | None
) -> HttpResponse:
    own = queries.visible_uploads(request.user)
    if actors.is_staff(request.user):
        own = own.filter(created_by=request.user.pk)
    context = {
        "form": form,
        "labs": labs,
        "systems": queries.systems_to_name(request.user) if form else [],
        "corrects": corrects,
        "formats": format_names(),
        "api": request.build_absolute_uri("/api/v1/uploads/"),
        "newest": _rows(request, queries.listed(own)[:NEWEST]) if form else [],
        "most_bytes": MOST_BYTES,
    }
    wrong = form is not None and form.is_bound and form.errors
    return render(request, "results/upload_form.html", context, status=400 if wrong else 200)


# One upload


@private
@require_safe
def upload(request: HttpRequest, pk: int) -> HttpResponse:
    """The page of an upload; with a key that opens it, what a guest may see of it."""
    found = queries.upload_page(pk, request.user)
    if found is None:
        return _guest(request, pk, request.GET.get("key", ""))
    return upload_page(request, found)


def upload_page(
    request: HttpRequest,
    found: Upload,
    *,
    error: GivenError | None = None,
) -> HttpResponse:
    """The page; after answers that could not be meant, with them and what is wrong."""
    report, user = found.report, request.user
    runs = queries.runs_of_upload(found)
    desk = _desk(found, words.rights_of(found, user), has_runs=bool(runs))
    posted = _posted(request) if error else {}
    wrong = (error.field, str(error)) if error else ("", "")
    asked = words.asked_of(found, posted, wrong) if desk.answers else []
    held, inner = words.files_of(found)
    successors = queries.corrections_of(found)
    context = {
        **_said(request, found, desk),
        "title": words.title_of(desk, report, _successor(successors)),
        "successors": successors,
        "compare": _compare_address(runs) if desk.phase == "published" else "",
        "sender": words.sender_of(found),
        "runs": runs,
        "asked": asked,
        "machine": words.machine_words(found.report),
        "asks_system": any(one.field == "system" for one in asked),
        "settings": words.settings_of(found, asked),
        "posted": posted,
        "error": error if error and error.field not in {one.field for one in asked} else None,
        "held": held,
        "inner": inner,
        "troubles": words.troubles_of(report, _lines(found)),
        "disputed": words.disputed_of(report),
        "suggested": queries.systems_to_name(user) if desk.answers else [],
        "days": previews.DAYS,
        "wished": (found.given.get("wished_date") or "")[:16],
        "audit": queries.history_of(found),
    }
    return render(request, "results/upload.html", context, status=400 if error else 200)


def _compare_address(runs: Sequence[Run]) -> str:
    """The comparison of what was published with the systems that are compared by default."""
    stored = default_comparison()
    own = dict.fromkeys(run.system.slug for run in runs)
    systems = dict.fromkeys([*own, *(stored.columns if stored else ())])
    benchmarks = dict.fromkeys(run.benchmark.slug for run in runs)
    pairs = [("system", slug) for slug in list(systems)[:MOST_COMPARED]]
    return f"{reverse('compare')}?{urlencode([*pairs, *(('benchmark', b) for b in benchmarks)])}"


def _posted(request: HttpRequest) -> dict[str, str]:
    """The answers as they were typed, a system that was named beside those offered first."""
    posted = {name: str(value) for name, value in request.POST.items()}
    return {**posted, "system": posted.get("system_other") or posted.get("system", "")}


def _desk(found: Upload, rights: words.Rights, *, has_runs: bool) -> words.Desk:
    questions = bool(found.report.get("questions"))
    return words.Desk(found, words.phase_of(found, questions=questions, has_runs=has_runs), rights)


def _said(request: HttpRequest, found: Upload, desk: words.Desk) -> dict[str, Any]:
    """What members and guests see alike."""
    names = queries.names_of_systems(found.report.get("systems", ()), request.user)
    return {
        "upload": found,
        "desk": desk,
        "deck": words.deck_of(desk),
        "systems": [(slug, names.get(slug)) for slug in found.report.get("systems", ())],
        "remarks": found.report.get("remarks", ()),
        "preview": preview_of(found, request.user) if found.report.get("runs") else None,
    }


def _successor(corrections: Sequence[Upload]) -> Upload | None:
    """The correction that has taken the upload's place, or is about to."""
    gone = (Upload.State.WITHDRAWN, Upload.State.REJECTED, Upload.State.FAILED)
    return next((one for one in corrections if one.state not in gone), None)


def _lines(found: Upload) -> dict[tuple[str, int], str]:
    """The lines that problems name, of files that came as they are."""
    wanted: dict[str, set[int]] = defaultdict(set)
    for problem in found.report.get("problems", ())[:MOST_LINES]:
        if problem.get("line"):
            wanted[problem.get("file") or ""].add(problem["line"])
    files = {file.name: file.artefact for file in found.files.all() if file.name in wanted}
    return {
        (name, number): text
        for name, artefact in files.items()
        for number, text in lines_at(artefact, wanted[name]).items()
    }


def _guest(request: HttpRequest, pk: int, key: str) -> HttpResponse:
    """What somebody with a link sees: no file, no question, no name. Raises Http404."""
    found = queries.prepared(Upload.objects.filter(pk=pk)).first() if key else None
    until = previews.opens_until(found, key) if found else None
    if found is None or until is None:
        raise Http404
    desk = _desk(found, words.Rights(), has_runs=found.runs.exists())
    context = {
        **_said(request, found, desk),
        "title": words.title_of(desk, found.report, None),
        "until": words.moment_words(until),
    }
    return render(request, "results/upload_guest.html", context)


@private
@require_safe
def upload_file(request: HttpRequest, pk: int, sha256: str) -> HttpResponseBase:
    """A file as it came, as a download that no browser will execute."""
    found = queries.file_of(pk, sha256, request.user)
    if found is None:
        raise Http404
    return download(found.artefact, found.name)


# Lists


@private
@require_safe
def uploads(request: HttpRequest) -> HttpResponse:
    """The uploads of one's labs, newest first; all for the staff."""
    if not request.user.is_authenticated:
        return redirect_to_login(request.get_full_path())
    state, lab = request.GET.get("state", ""), request.GET.get("lab", "")[:60].replace("\0", "")
    found = queries.listed(queries.visible_uploads(request.user)).order_by("-pk")
    if state in queries.STANDINGS:
        found = found.filter(queries.STANDINGS[state])
    if lab:
        found = found.filter(lab__slug=lab)
    page = Paginator(found, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "rows": _rows(request, page),
        "states": [(name, words.WORDS[name]) for name in queries.STANDINGS],
        "labs": actors.labs_for_upload(request.user).order_by("name"),
        "wanted": {"state": state, "lab": lab},
        "filtered": bool(state or lab),
        "address": _address(request),
    }
    return render(request, "results/uploads.html", context)


@private
@require_safe
def review(request: HttpRequest) -> HttpResponse:
    """What waits for the staff, the longest waiting first. Raises Http404 for others."""
    if not actors.may_review(request.user):
        raise Http404
    page = Paginator(queries.review_queue(), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "rows": _rows(request, page),
        "address": _address(request),
    }
    return render(request, "results/review.html", context)


def _rows(request: HttpRequest, found: Iterable[Upload]) -> list[words.Row]:
    """Rows of listed uploads, their systems named. One query beside theirs."""
    listed = list(found)
    slugs = {slug for one in listed for slug in words.said_systems(one)}
    return words.rows_of(listed, queries.names_of_systems(slugs, request.user))


def _address(request: HttpRequest) -> str:
    """The query string without the page, to put another page's number behind it."""
    query = request.GET.copy()
    query.pop("page", None)
    return f"?{query.urlencode()}&" if query else "?"
