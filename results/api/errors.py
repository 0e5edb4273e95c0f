"""How errors look: `{"message", "fields"}`, whatever went wrong."""

from __future__ import annotations

import logging
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

Fields = dict[str, list[str]]
logger = logging.getLogger("django.request")
GENERAL = "non_field_errors"


def exception_handler(error: Exception, context: dict[str, Any]) -> Response:
    """Every error of a view in the house's form; what nobody foresaw is logged, status 500."""
    if isinstance(error, CompareError):
        return Response(body(error.fields), status=400)
    if isinstance(error, SuspiciousOperation):
        return Response(body({}, _refused(error)), status=400)
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
    return Response(body({}, _("The server failed to answer; the failure is logged.")), status=500)


def _refused(error: Exception) -> str:
    """Why a request was not read, as far as it is not Django's own business."""
    if isinstance(error, TooManyFieldsSent):
        most = {"most": settings.DATA_UPLOAD_MAX_NUMBER_FIELDS}
        return _("The address has more than %(most)d names and values.") % most
    return _("The request is not acceptable.")


def handler400(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's answer to a request it refused unread; under /api/ in the API's form."""
    if request.path_info.startswith("/api/"):
        return JsonResponse(body({}, _refused(exception)), status=400)
    return defaults.bad_request(request, exception)
