"""What the pages of uploads have in common: nobody keeps them, and nobody learns of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase

from results import actors
from results.models import Upload
from results.queries.uploads import upload_page

View = Callable[..., HttpResponseBase]


class SeeOther(HttpResponseRedirect):
    """After a form was posted: the page is fetched, not posted again."""

    status_code = 303


def private(view: View) -> View:
    """No cache keeps the answers, no address of them is told to other sites."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = view(request, *args, **kwargs)
        response["Cache-Control"] = "private, no-store"
        response["Referrer-Policy"] = "no-referrer" if request.GET.get("key") else "same-origin"
        response["X-Robots-Tag"] = "noindex"
        return response

    return answer


def for_uploaders(view: View) -> View:
    """Turn away who may upload for no lab, before a byte of what they send is read.

    Stands outside `receives`, and reads nothing of the form: only who asks.
    """

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method == "POST" and not actors.may_upload(request.user, None):
            return redirect_to_login(request.get_full_path())
        return view(request, *args, **kwargs)

    return answer


def seen_upload(request: HttpRequest, pk: int) -> Upload:
    """The upload, for who may see it; to others there is none. Raises Http404."""
    upload = upload_page(pk, request.user)
    if upload is None:
        raise Http404
    return upload
