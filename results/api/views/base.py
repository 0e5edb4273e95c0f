"""What all views of the API share: they only read, and say so in one form."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.negotiation import BaseContentNegotiation, DefaultContentNegotiation
from rest_framework.parsers import BaseParser, FormParser, JSONParser, MultiPartParser
from rest_framework.permissions import AllowAny
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import ReadOnlyModelViewSet

from results.api.filters import Strict
from results.api.schema import HouseSchema


class Unasked(BaseContentNegotiation):
    """A view answers in its one form, whatever the client says it accepts."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser:
        return next(iter(parsers))

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        first = next(iter(renderers))
        return first, first.media_type or ""


class ShallowJSONParser(JSONParser):
    """Refuses brackets without end, which Python's reader gives up on by RecursionError, and
    halves of characters (`\\ud800`), which no answer could repeat and no database keeps."""

    def parse(self, *args: Any, **kwargs: Any) -> Any:
        """What the body says. Raises ParseError."""
        try:
            found = super().parse(*args, **kwargs)
            json.dumps(found, ensure_ascii=False).encode()
        except RecursionError:
            raise ParseError(_("The JSON is nested too deeply.")) from None
        except UnicodeEncodeError:
            raise ParseError(_("The JSON has half a character.")) from None
        return found


class Posted(Unasked):
    """Takes forms and JSON, told apart by what the client says it sends."""

    parsers = (ShallowJSONParser, MultiPartParser, FormParser)

    def select_parser(  # type: ignore[override]
        self, request: Request, parsers: Iterable[BaseParser]
    ) -> BaseParser | None:
        return DefaultContentNegotiation().select_parser(request, parsers)


class Reads(APIView):
    """GET, HEAD and OPTIONS; anything else is 405 before it is asked who is asking."""

    http_method_names = ["get", "head", "options"]
    permission_classes = [AllowAny]
    content_negotiation_class = Unasked
    schema = HouseSchema()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if (request.method or "").lower() not in self.http_method_names:
            self.http_method_not_allowed(request)
        super().initial(request, *args, **kwargs)

    def finalize_response(
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> Response:
        """Caches are told that another asker may get another answer."""
        answer = super().finalize_response(request, response, *args, **kwargs)
        if self.get_authenticators():
            patch_vary_headers(answer, ["Authorization", "Cookie"])
        return answer


class ReadOnly(Reads, ReadOnlyModelViewSet[Any]):
    """A list and its details. `detail_serializer_class`, where details say more."""

    filter_backends = [Strict]
    detail_serializer_class: type[Any] | None = None

    def get_serializer_class(self) -> type[Any]:
        if self.action == "retrieve" and self.detail_serializer_class:
            return self.detail_serializer_class
        return super().get_serializer_class()


class BySlug(ReadOnly):
    """Details by slug."""

    lookup_field = "slug"
    lookup_value_regex = "[-a-zA-Z0-9_]{1,80}"


class ById(ReadOnly):
    """Details by id."""

    lookup_value_regex = "[0-9]{1,18}"
