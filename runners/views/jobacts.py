"""What is done with jobs: each address takes a form, calls one function and leads back."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from results import actors, services
from results.views.private import SeeOther, private
from runners import hosts, queries
from runners.benchmarks.base import ParameterError
from runners.jobs import JobError, NotAllowed, cancel_job, may_run, request_job
from runners.models import Job
from runners.pages import jobpage, measuring
from runners.pages.jobwords import jobs_words
from runners.views.answers import for_starters

Act = Callable[[HttpRequest, Job], Job]


def act(change: Act) -> Callable[..., HttpResponseBase]:
    """An address for a change that gives the job whose page comes next.

    Strangers sign in first; who may not do it is refused; what cannot be done is told.
    """

    @private
    @require_POST
    @wraps(change)
    def view(request: HttpRequest, pk: int) -> HttpResponse:
        job = queries.job_page(pk)
        if job is None:
            raise Http404
        if not request.user.is_authenticated:
            return redirect_to_login(job.get_absolute_url())
        try:
            following = change(request, job)
        except (NotAllowed, services.NotAllowed) as error:
            raise PermissionDenied from error
        except (JobError, ParameterError, services.ServiceError) as error:
            messages.error(request, str(error))
            following = job
        return SeeOther(following.get_absolute_url())

    return view


@act
def cancel(request: HttpRequest, job: Job) -> Job:
    """End it: at once while it waits, in a moment while it runs."""
    after = cancel_job(job, actor=request.user)
    words = _("Cancelled.") if after.is_over else _("It is being ended.")
    messages.success(request, words)
    return after


@act
def publish(request: HttpRequest, job: Job) -> Job:
    """Publish what came of it."""
    runs = queries.results_of(job, request.user)
    if not any(actors.may_publish(request.user, run.lab) for run in runs):
        raise NotAllowed
    count = services.publish(runs=jobpage.can_be_published(runs), actor=request.user)
    if not count:
        raise JobError(_("Nothing of it waits to be published."))
    words = ngettext("%(count)d run was published.", "%(count)d runs were published.", count)
    messages.success(request, words % {"count": count})
    return job


@act
def again(request: HttpRequest, job: Job) -> Job:
    """The same once more, on the same host."""
    if not may_run(request.user):
        raise NotAllowed
    return request_job(
        host=job.host,
        benchmark=job.benchmark,
        preset=job.preset,
        parameters=job.parameters,
        actor=request.user,
        reruns=queries.repeated_run(job, request.user),
        publish=job.publish,
    )


@private
@require_POST
@for_starters
def measure(request: HttpRequest) -> HttpResponse:
    """Measure the machine that this hub runs on with our own kernels."""
    host = hosts.this_host()
    address = f"{reverse('jobs')}?host={host.slug}"
    if queries.is_being_measured(host, measuring.BENCHMARKS):
        messages.info(request, _("This machine is being measured already."))
        return SeeOther(address)
    jobs, refused = measuring.measure(host, actor=request.user)
    for why in refused:
        messages.error(request, why)
    if jobs:
        words: dict[str, Any] = {"jobs": jobs_words(len(jobs)), "host": host}
        messages.success(request, _("%(jobs)s started on %(host)s.") % words)
    return SeeOther(address)
