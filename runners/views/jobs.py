"""The pages of jobs: the list, and one of them."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from results import actors
from results.pages.uploads import moment_words
from runners import queries
from runners.jobs import may_cancel, may_read, may_run
from runners.models import Job
from runners.pages import joblist, jobpage, record
from runners.pages.jobwords import (
    benchmark_name,
    duration_words,
    last_attempt,
    parameters_of,
    percent_of,
    preset_label,
    seconds_of,
    state_words,
)
from runners.views.answers import fresh, wants_part

PAGE_SIZE = 25


@fresh
@require_safe
def jobs(request: HttpRequest) -> HttpResponse:
    """The queue and what came before it, newest first."""
    hosts = dict(queries.hosts_named())
    wanted = joblist.wanted(request.GET.dict(), hosts)
    found = queries.jobs_listed(state=wanted.state, host=wanted.host, benchmark=wanted.benchmark)
    page = Paginator(found, PAGE_SIZE).get_page(request.GET.get("page"))
    listed = list(page)
    context = {
        "page": page,
        "rows": joblist.rows_of(listed, with_names=actors.is_staff(request.user)),
        "moving": any(not job.is_over for job in listed),
        "wanted": wanted,
        "address": _address(request),
        "here": request.get_full_path(),
    }
    if wants_part(request):
        return render(request, "runners/_job_rows.html", context)
    context |= {**joblist.choices(hosts), "may_run": may_run(request.user)}
    return render(request, "runners/jobs.html", context, status=400 if wanted.wrong else 200)


def _address(request: HttpRequest) -> str:
    """The query string without the page, to put another page's number behind it."""
    query = request.GET.copy()
    query.pop("page", None)
    return f"?{query.urlencode()}&" if query else "?"


@fresh
@require_safe
def job(request: HttpRequest, pk: int) -> HttpResponse:
    """A job. Asked by htmx how far it is: that part; all of it once it stands otherwise."""
    found = queries.job_page(pk)
    if found is None:
        raise Http404
    seen = jobpage.seen_of(found)
    if wants_part(request) and request.GET.get("seen") == seen:
        return render(request, "runners/_job_live.html", _live(request, found))
    context = _live(request, found) | _whole(request, found)
    if not wants_part(request):
        return render(request, "runners/job.html", context)
    response = render(request, "runners/_job_changed.html", context)
    # More than the part has changed: all of the page takes its place.
    response["HX-Retarget"] = "#job"
    response["HX-Reswap"] = "outerHTML"
    return response


def _live(request: HttpRequest, job: Job) -> dict[str, Any]:
    """What changes from second to second. One query for who is no staff."""
    attempt = last_attempt(job)
    reads = may_read(request.user, job)
    return {
        "job": job,
        "seen": jobpage.seen_of(job),
        "state": state_words(job),
        "step": attempt.step if attempt else "",
        "percent": percent_of(attempt),
        "took": duration_words(seconds_of(attempt)) if attempt else "",
        "reads": reads,
        "tail": jobpage.tail_of(attempt, is_over=job.is_over) if reads else [],
    }


def _whole(request: HttpRequest, job: Job) -> dict[str, Any]:
    """All that the page says beside that. Its queries are the same for every job."""
    user, attempt = request.user, last_attempt(job)
    staff, reads = actors.is_staff(user), may_read(user, job)
    waits = job.state == Job.State.QUEUED and attempt is not None
    before = queries.waiting_before(attempt) if waits and attempt else 0
    runs = queries.results_of(job, user) if job.state == Job.State.FINISHED else []
    repeated = queries.repeated_run(job, user)
    columns = queries.default_columns() if runs else []
    waiting = jobpage.can_be_published(runs)
    return {
        "title": jobpage.title_of(job),
        "deck": jobpage.deck_of(job, before, with_names=staff),
        "name": benchmark_name(job.benchmark),
        "preset": preset_label(job),
        "attempts": jobpage.attempts_of(job),
        "flags": jobpage.flags_of(attempt) if reads or runs else [],
        "record": record.record_of(attempt.record) if reads and attempt else None,
        "parameters": parameters_of(job),
        "asked_at": moment_words(job.created_at),
        "asker": job.actor_name if staff else "",
        "repeated": repeated,
        "results": jobpage.results_of(runs, repeated, columns),
        "cancels": not job.is_over and may_cancel(user, job),
        "publishes": bool(waiting) and actors.may_publish(user, runs[0].lab),
        "starts": may_run(user),
    }
