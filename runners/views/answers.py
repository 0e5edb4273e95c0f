"""How the pages of jobs are answered: never kept, whole or in part."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.cache import patch_vary_headers

from runners.jobs import may_run

View = Callable[..., HttpResponseBase]


def fresh(view: View) -> View:
    """What a job is doing now: asked for each time; a part is no answer for the whole page."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = view(request, *args, **kwargs)
        response["Cache-Control"] = "private, no-store"
        patch_vary_headers(response, ["HX-Request", "HX-History-Restore-Request"])
        return response

    return answer


def wants_part(request: HttpRequest) -> bool:
    """Whether htmx asks for a part of the page, and not for a page out of its history."""
    headers = request.headers
    return headers.get("HX-Request") == "true" and (
        headers.get("HX-History-Restore-Request") != "true"
    )


def for_starters(view: View) -> View:
    """Only for who may start jobs: strangers sign in first, others are refused."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if may_run(request.user):
            return view(request, *args, **kwargs)
        if request.user.is_authenticated:
            raise PermissionDenied
        safe = request.method in ("GET", "HEAD")
        return redirect_to_login(request.get_full_path() if safe else reverse("jobs"))

    return answer
