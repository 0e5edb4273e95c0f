"""How lists are cut into pages."""

from __future__ import annotations

import re
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import Cursor, CursorPagination, PageNumberPagination
from rest_framework.request import Request
from rest_framework.views import APIView

WHOLE = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
ID = re.compile(r"[0-9]{1,18}", re.ASCII)


def _require_whole(request: Request, name: str) -> None:
    """Refuse a number that is not one, instead of taking the default in silence."""
    text = request.query_params.get(name)
    if text is not None and not WHOLE.fullmatch(text):
        raise ValidationError({name: [_("expected a whole number from 1")]})


class Page(PageNumberPagination):
    """`?page=` and `?page_size=`, 200 rows at most; a larger size is cut to that.

    400 for what is no number, 404 for a page behind the last.
    """

    page_size_query_param = "page_size"
    max_page_size = 200
    last_page_strings = ()
    invalid_page_message = gettext_lazy("There is no page {page_number}.")  # type: ignore[assignment]

    def paginate_queryset(
        self, queryset: Any, request: Request, view: APIView | None = None
    ) -> list[Any] | None:
        _require_whole(request, self.page_query_param)
        _require_whole(request, self.page_size_query_param)
        return super().paginate_queryset(queryset, request, view)


class Newest(CursorPagination):
    """`?cursor=`, newest first, for what may count millions: no page is dearer than the first.

    The addresses of the neighbouring pages are in `next` and `previous`.
    """

    ordering = "-id"
    page_size_query_param = "page_size"
    max_page_size = 200

    def paginate_queryset(
        self, queryset: Any, request: Request, view: APIView | None = None
    ) -> list[Any] | None:
        _require_whole(request, "page_size")
        return super().paginate_queryset(queryset, request, view)

    def decode_cursor(self, request: Request) -> Cursor | None:
        try:
            cursor = super().decode_cursor(request)
        except NotFound:
            raise self._not_ours() from None
        if cursor and not ID.fullmatch(str(cursor.position or "")):
            raise self._not_ours()
        return cursor

    def _not_ours(self) -> ValidationError:
        return ValidationError({"cursor": [_("found a text that is no cursor of this list")]})
