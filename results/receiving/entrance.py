"""The decorator around a view that takes files, and what the view asks."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from results.receiving import gate
from results.receiving.handler import Doorkeeper, Received
from results.receiving.refusals import answer, refusal

View = Callable[..., HttpResponseBase]
KEY = "results.receiving"


def receives(view: View) -> View:
    """Let a view take files; the outermost decorator.

    Handlers must be set before anything reads the form, and Django's CSRF check reads it: so
    the check is taken off the outside and done inside, unless the view is exempt itself, as a
    REST framework's is.
    """
    inner = view if getattr(view, "csrf_exempt", False) else csrf_protect(view)

    @csrf_exempt
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method in {"GET", "HEAD", "OPTIONS"}:
            return inner(request, *args, **kwargs)
        try:
            gate.check(request)
            with gate.place():
                doorkeeper = Doorkeeper(request)
                request.META[KEY] = doorkeeper
                request.upload_handlers = [doorkeeper]
                return inner(request, *args, **kwargs)
        except Exception as error:
            found = refusal(error)
            if found is None:
                raise
            return answer(request, found)

    return guarded


def received(request: Any) -> list[Received]:
    """The files of a request, Django's or the REST framework's, in the order sent.

    Reads the body, unless that was done. Raises ReceiveError. The view must be wrapped by
    `receives`.
    """
    plain: HttpRequest = getattr(request, "_request", request)
    doorkeeper = plain.META.get(KEY)
    if not isinstance(doorkeeper, Doorkeeper):
        raise TypeError("a view that calls received() must be decorated with @receives")
    # Asked for its effect: whoever reads the form first has it parsed.
    request.POST  # noqa: B018
    if doorkeeper.failure:
        raise doorkeeper.failure
    return list(doorkeeper.files)
