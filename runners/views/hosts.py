"""The page of hosts."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from runners import queries
from runners.jobs import may_run
from runners.pages import hosts as page
from runners.views.answers import fresh, wants_part


@fresh
@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """All hosts. Asked by htmx: the parts that change. Three queries for who is not signed in."""
    hosts = queries.hosts_shown(request.user)
    newest = queries.newest_jobs(hosts)
    shown = page.shown_of(hosts, newest, starts=may_run(request.user))
    part = wants_part(request)
    context = {"hosts": shown, "summary": page.summary_of(shown), "part": part}
    return render(request, "runners/_hosts_live.html" if part else "runners/hosts.html", context)
