"""The admin's action that repeats runs on a host, with a page in between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from results.admin.readonly import ModelAdmin
from results.models import Run
from runners import queries
from runners.benchmarks.base import ParameterError
from runners.jobs import JobError, may_run, request_job
from runners.models import Host, Job
from runners.pages.asking import Asking, asking, chosen_values, notices_of
from runners.pages.jobwords import jobs_words

MOST_RUNS = 20


@dataclass(frozen=True)
class Repeat:
    """A selected run, and the form of the job that repeats it. `mark` stands before its fields."""

    run: Run
    form: Asking

    @property
    def mark(self) -> str:
        return mark_of(self.run)

    @property
    def preset_name(self) -> str:
        return f"{self.mark}preset"


def mark_of(run: Run) -> str:
    """What stands before the names of a run's fields."""
    return f"r{run.pk}."


@admin.action(description=gettext_lazy("Re-run on a host…"))
def rerun(modeladmin: ModelAdmin, request: HttpRequest, queryset: QuerySet[Run]) -> Any:
    """Ask where and with which parameters; with an answer, make the jobs."""
    if not may_run(request.user):
        modeladmin.message_user(request, _("Only the staff starts jobs."), messages.ERROR)
        return None
    ids = list(queryset.order_by("pk").values_list("pk", flat=True)[: MOST_RUNS + 1])
    if len(ids) > MOST_RUNS:
        words = _("At most %(most)d runs are repeated at once.") % {"most": MOST_RUNS}
        modeladmin.message_user(request, words, messages.ERROR)
        return None
    hosts = queries.open_hosts()
    repeats = _repeats(request, queries.runs_to_repeat(ids, request.user), hosts)
    if "apply" not in request.POST:
        return _page(modeladmin, request, repeats, hosts)
    if _was_changed(request.POST, repeats):
        # The values stand for another choice than the one that was seen.
        words = _("The host or preset was changed: look at the values, then start.")
        messages.warning(request, words)
        return _page(modeladmin, request, repeats, hosts)
    jobs, repeats = _start(request, repeats)
    if not jobs:
        return _page(modeladmin, request, repeats, hosts)
    words = _("%(jobs)s asked for.") % {"jobs": jobs_words(len(jobs))}
    modeladmin.message_user(request, words, messages.SUCCESS)
    return HttpResponseRedirect(_address(jobs))


def _repeats(request: HttpRequest, runs: Sequence[Run], hosts: Sequence[Host]) -> list[Repeat]:
    return [Repeat(run, _form(request.POST, run, hosts)) for run in runs]


def _form(posted: Mapping[str, str], run: Run, hosts: Sequence[Host]) -> Asking:
    host, preset = posted.get("host", ""), posted.get(f"{mark_of(run)}preset", "")
    return asking(run.benchmark.slug, hosts, host=host, preset=preset, run=run)


def _was_changed(posted: Mapping[str, str], repeats: Sequence[Repeat]) -> bool:
    """Whether another host or preset was chosen than the values on the page were made for."""
    pairs = [("host", "host.shown")]
    pairs += [(one.preset_name, f"{one.preset_name}.shown") for one in repeats]
    return any(posted.get(chosen) != posted.get(shown) for chosen, shown in pairs)


def _start(request: HttpRequest, repeats: Sequence[Repeat]) -> tuple[list[Job], list[Repeat]]:
    """All the jobs; none, and the forms with what is wrong, where one cannot be made."""
    jobs: list[Job] = []
    after: list[Repeat] = []
    with transaction.atomic():
        for one in repeats:
            posted = _own(request.POST.dict(), one)
            try:
                jobs += _asked(request, one.form, posted)
                after.append(replace(one, form=one.form.typed(posted)))
            except (ParameterError, JobError) as error:
                after.append(replace(one, form=one.form.after(error, posted)))
        if failed := any(one.form.is_refused for one in after):
            transaction.set_rollback(True)
    return ([] if failed else jobs), after


def _own(posted: Mapping[str, str], one: Repeat) -> dict[str, str]:
    """The fields of a run's part of the form, without its mark."""
    return {
        name.removeprefix(one.mark): text
        for name, text in posted.items()
        if name.startswith(one.mark)
    }


def _asked(request: HttpRequest, form: Asking, posted: Mapping[str, str]) -> list[Job]:
    """The job of a run; none where no host can run it, which the page has said."""
    if not form.can_start or form.host is None or form.preset is None:
        return []
    job = request_job(
        host=form.host,
        benchmark=form.benchmark,
        preset=form.preset.name,
        parameters=chosen_values(posted),
        actor=request.user,
        reruns=form.run,
        publish=request.POST.get("publish") == "on",
    )
    return [job]


def _address(jobs: Sequence[Job]) -> str:
    """The page of the job; of several, the list of their host's."""
    if len(jobs) == 1:
        return jobs[0].get_absolute_url()
    return f"{reverse('jobs')}?host={jobs[0].host.slug}"


def _page(
    modeladmin: ModelAdmin,
    request: HttpRequest,
    repeats: Sequence[Repeat],
    hosts: Sequence[Host],
) -> HttpResponse:
    ready = [one for one in repeats if one.form.can_start]
    shown = next((one.form.host for one in repeats if one.form.host), None)
    context = {
        **modeladmin.admin_site.each_context(request),
        "title": _("Re-run on a host"),
        "opts": modeladmin.opts,
        "media": modeladmin.media,
        "repeats": repeats,
        "hosts": hosts,
        "shown": shown,
        "notices": notices_of(shown),
        "can_start": bool(ready),
        "publish": request.POST.get("publish") == "on",
        "checkbox": ACTION_CHECKBOX_NAME,
        "chosen": [one.run.pk for one in repeats],
    }
    return TemplateResponse(request, "admin/runners/rerun.html", context)
