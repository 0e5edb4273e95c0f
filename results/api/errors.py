"""How errors look: `{"message", "fields"}`, whatever went wrong."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import SuspiciousOperation, TooManyFieldsSent
from django.core.signals import got_request_exception
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _
from django.views import defaults
from rest_framework.exceptions import APIException
from rest_framework.response import Response
from rest_framework.views import exception_handler as standard

from results.compare import CompareError
from results.receiving import refusal
from results.receiving.refusals import is_api, passing, unavailable
from results.services import NotAllowed, ServiceError

Fields = dict[str, list[str]]
logger = logging.getLogger("django.request")
GENERAL = "non_field_errors"


def exception_handler(error: Exception, context: dict[str, Any]) -> Response:
    """Every error of a view in the house's form; what nobody foresaw is logged, status 500."""
    if isinstance(error, CompareError):
        return Response(body(error.fields), status=400)
    if isinstance(error, SuspiciousOperation):
        return Response(body({}, _refused(error)), status=400)
    if isinstance(error, ServiceError):
        status = 403 if isinstance(error, NotAllowed) else 409
        return Response(body({}, str(error)), status=status)
    if refused := refusal(error):
        return Response(refused.body, status=refused.status, headers=refused.headers)
    answer = standard(error, context)
    if answer is None:
        return _unforeseen(error, context)
    if isinstance(error, APIException):
        answer.data = _of(error.detail)
    else:
        answer.data = body({}, _("There is nothing at this address."))
    return answer


def body(fields: Mapping[str, list[str]], message: str = "") -> dict[str, Any]:
    """The body of an error: all texts by field, and one message that says them."""
    texts = [f"{name}: {text}" for name, found in fields.items() for text in found]
    return {"message": message or "; ".join(texts), "fields": dict(fields)}


def _of(detail: Any) -> dict[str, Any]:
    if isinstance(detail, Mapping):
        fields: Fields = {}
        for name, found in detail.items():
            fields[str(name)] = [str(text) for text in _listed(found)]
        return body(fields, "; ".join(fields.pop(GENERAL, [])))
    return body({}, "; ".join(str(text) for text in _listed(detail)))


def _listed(found: Any) -> list[Any]:
    return found if isinstance(found, list) else [found]


def _unforeseen(error: Exception, context: dict[str, Any]) -> Response:
    request = context.get("request")
    path = getattr(request, "path", "")
    logger.error("Internal Server Error: %s", path, exc_info=error)
    got_request_exception.send(sender=None, request=request)
    return Response(body({}, _failed()), status=500)


def _refused(error: Exception) -> str:
    """Why a request was not read, as far as it is not Django's own business."""
    if isinstance(error, TooManyFieldsSent):
        most = {"most": settings.DATA_UPLOAD_MAX_NUMBER_FIELDS}
        return _("The address has more than %(most)d names and values.") % most
    return _("The request is not acceptable.")


def handler400(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's answer to a request it refused unread; under /api/ in the API's form."""
    # A session that could not be written looks like one that was lost.
    if refused := passing(exception):
        return unavailable(request, refused)
    if is_api(request):
        return JsonResponse(body({}, _refused(exception)), status=400)
    return defaults.bad_request(request, exception)


def handler500(request: HttpRequest) -> HttpResponse:
    """Django's answer to a failure, wherever it happened: 503 where the disk is full."""
    if refused := passing(sys.exc_info()[1]):
        return unavailable(request, refused)
    if is_api(request):
        return JsonResponse(body({}, _failed()), status=500)
    return defaults.server_error(request)


def _failed() -> str:
    return _("The server failed to answer; the failure is logged.")
