"""Why something is not taken in, in words, and how that is answered."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.exceptions import (
    RequestDataTooBig,
    SuspiciousMultipartForm,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.http import HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from results.passing import database_is_away, database_passes, disk_is_full

MB = 10**6
# What may be tried again, and when: somebody has to make room first.
PASSING_S = 30
# A database that is started again is there within seconds.
AWAY_S = 5


class ReceiveError(Exception):
    """Something sent is not taken: the HTTP status, and why, in words.

    `retry_after`: seconds, where the same request may be taken later.
    """

    def __init__(self, status: int, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.retry_after = retry_after

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the answer."""
        return {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}

    @property
    def body(self) -> dict[str, Any]:
        """The API's answer."""
        return {"message": self.message, "fields": {}}


def refusal(error: BaseException) -> ReceiveError | None:
    """What to answer to an error of reading or storing; None if it is none."""
    if isinstance(error, ReceiveError):
        return error
    return _of_a_form(error) or passing(error)


def _of_a_form(error: BaseException) -> ReceiveError | None:
    """What Django says of a form that it cannot or will not read."""
    if isinstance(error, TooManyFilesSent):
        most = settings.DATA_UPLOAD_MAX_NUMBER_FILES
        return ReceiveError(400, _("More than %(most)d files were sent at once.") % {"most": most})
    if isinstance(error, TooManyFieldsSent):
        most = settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
        return ReceiveError(400, _("The form has more than %(most)d fields.") % {"most": most})
    if isinstance(error, RequestDataTooBig):
        return ReceiveError(413, too_much_text())
    if isinstance(error, UnreadablePostError):
        return ReceiveError(400, _("The connection broke before everything had arrived."))
    if isinstance(error, MultiPartParserError | SuspiciousMultipartForm):
        return ReceiveError(400, _("The form is not multipart/form-data as RFC 7578 has it."))
    return None


def too_much_text() -> str:
    """The limit of what is sent outside files, in words."""
    most_mb = (settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0) / MB
    return _("The text fields hold more than %(most).1f MB; send long text as a file.") % {
        "most": most_mb
    }


def passing(error: BaseException | None) -> ReceiveError | None:
    """What to answer if the disk is full or the database away or too busy; else None.

    Looks at what led to the error too: Django's sessions wrap what the database said.
    """
    for one in _chain(error):
        if disk_is_full(one):
            return ReceiveError(507, no_room(), PASSING_S)
        if database_is_away(one):
            return ReceiveError(503, _("The database does not answer at the moment."), AWAY_S)
        if database_passes(one):
            text = _("Nothing can be stored at the moment: the disk is full or too busy.")
            return ReceiveError(503, text, PASSING_S)
    return None


def no_room() -> str:
    """The disk is full, in words."""
    return _("There is no room to store this at the moment. Nothing of it was kept.")


def _chain(error: BaseException | None) -> list[BaseException]:
    """The error and what it was raised from or while handling, nearest first."""
    found: list[BaseException] = []
    while error is not None and error not in found and len(found) < 10:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def is_api(request: HttpRequest) -> bool:
    """Whether a program asks, which reads JSON."""
    return request.path_info.startswith("/api/")


def answer(request: HttpRequest, error: ReceiveError) -> HttpResponse:
    """The refusal as a page, or as JSON under /api/."""
    if is_api(request):
        return JsonResponse(error.body, status=error.status, headers=error.headers)
    page = render(request, "results/refused.html", {"refusal": error}, status=error.status)
    for name, value in error.headers.items():
        page[name] = value
    return page


def unavailable(request: HttpRequest, error: ReceiveError) -> HttpResponse:
    """The same without a look at the database, which may be what fails."""
    if is_api(request):
        return JsonResponse(error.body, status=error.status, headers=error.headers)
    page = render_to_string("503.html", {"refusal": error})
    return HttpResponse(page, status=error.status, headers=error.headers)
