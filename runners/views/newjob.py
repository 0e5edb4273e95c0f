"""The page that starts a job: what is repeated or measured, where, and with which parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from results.models import Run
from results.views.private import SeeOther, private
from runners import benchmarks, queries
from runners.benchmarks.base import ParameterError
from runners.jobs import JobError, request_job
from runners.models import Host, Job
from runners.pages.asking import Asking, asking, chosen_values, notices_of
from runners.pages.jobwords import benchmark_name
from runners.views.answers import for_starters

LONGEST_NAME = 80
LONGEST_NUMBER = 15


@private
@require_http_methods(["GET", "HEAD", "POST"])
@for_starters
def new(request: HttpRequest) -> HttpResponse:
    """The form; posted, the job that it asks for."""
    query = request.POST if request.method == "POST" else request.GET
    run = _run_of(request, query)
    benchmark = run.benchmark.slug if run else query.get("benchmark", "")[:LONGEST_NAME]
    if not benchmark:
        return _choose(request)
    hosts = queries.open_hosts()
    form = asking(
        benchmark,
        hosts,
        host=query.get("host", "")[:LONGEST_NAME],
        preset=query.get("preset", "")[:LONGEST_NAME],
        run=run,
    )
    if request.method != "POST":
        return _page(request, form, hosts)
    try:
        job = _start(request, form)
    except (ParameterError, JobError) as error:
        return _page(request, form.after(error, request.POST.dict()), hosts, status=400)
    return SeeOther(job.get_absolute_url())


def _run_of(request: HttpRequest, query: QueryDict) -> Run | None:
    """The run that is to be repeated; None where none is named. Raises Http404."""
    text = query.get("run", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER):
        raise Http404
    found = queries.runs_to_repeat([int(text)], request.user)
    if not found:
        raise Http404
    return found[0]


def _start(request: HttpRequest, form: Asking) -> Job:
    """Ask for the job. Raises ParameterError and JobError, also for what was chosen wrongly."""
    if form.host is None or form.preset is None or form.wrong or form.problems:
        raise JobError("")  # the page says why
    return request_job(
        host=form.host,
        benchmark=form.benchmark,
        preset=form.preset.name,
        parameters=chosen_values(request.POST.dict()),
        actor=request.user,
        reruns=form.run,
        publish=request.POST.get("publish") == "on",
    )


def _choose(request: HttpRequest) -> HttpResponse:
    """What can be measured at all."""
    known = [(slug, benchmark_name(slug)) for slug in benchmarks.runners()]
    return render(request, "runners/job_choose.html", {"known": known})


def _page(
    request: HttpRequest, form: Asking, hosts: Sequence[Host], *, status: int = 200
) -> HttpResponse:
    context: dict[str, Any] = {
        "form": form,
        "hosts": [(host, _address(form, host=host.slug)) for host in hosts],
        "presets": [(preset, _address(form, preset=preset.name)) for preset in form.presets],
        "notices": notices_of(form.host),
        "publish": request.POST.get("publish") == "on",
    }
    return render(request, "runners/job_new.html", context, status=status)


def _address(form: Asking, **changed: str) -> str:
    """The page with another host or preset."""
    what = {"run": str(form.run.pk)} if form.run else {"benchmark": form.benchmark}
    where = {
        "host": form.host.slug if form.host else "",
        "preset": form.preset.name if form.preset else "",
    }
    pairs = {name: text for name, text in {**what, **where, **changed}.items() if text}
    return f"{reverse('job-new')}?{urlencode(pairs)}"
