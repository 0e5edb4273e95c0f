"""Where the API begins, and what it says where it has nothing."""

from __future__ import annotations

from typing import Any, NoReturn

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.routers import BaseRouter

from results.api.views.base import Reads


class RootView(Reads):
    """The addresses of the API."""

    authentication_classes = []
    errors = ()
    router: BaseRouter | None = None

    @extend_schema(
        operation_id="root",
        tags=["root"],
        responses={200: {"type": "object", "additionalProperties": {"type": "string"}}},
    )
    def get(self, request: Request) -> Response:
        """Every list by its name, the comparison, and the schema of it all."""
        registry = self.router.registry if self.router else []
        names = {prefix: f"{basename}-list" for prefix, _view, basename in registry}
        names |= {"compare": "api-compare", "compare.csv": "api-compare-csv", "schema": "schema"}
        return Response({word: reverse(name, request=request) for word, name in names.items()})


@extend_schema(exclude=True)
class NothingView(Reads):
    """404 in the API's form, for whatever no other view answers."""

    authentication_classes = []

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> NoReturn:
        raise Http404

    def get(self, request: Request, *args: Any, **kwargs: Any) -> NoReturn:
        raise Http404
