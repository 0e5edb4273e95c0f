"""Pages that are rendered once for all readers, until something that they show changes."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from functools import wraps
from hashlib import blake2b
from typing import Any

from django.conf import settings
from django.core.cache import caches
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.response import SimpleTemplateResponse
from django.utils.cache import patch_vary_headers
from django.utils.translation import get_language

from results import freshness

View = Callable[..., HttpResponseBase]
Page = tuple[dict[str, str], bytes]
LARGEST = 2_000_000  # bytes before compression


def kept(view: View, *, the_same_for_all: bool = False) -> View:
    """Keep a view's answers, compressed, by address; the key holds `freshness.mark()`.

    Only whole answers of status 200 that set no cookie are kept. Readers who are signed
    in get answers of their own, unless the view gives all the same.
    """

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        known = settings.SESSION_COOKIE_NAME in request.COOKIES and not the_same_for_all
        if request.method != "GET" or known:
            return view(request, *args, **kwargs)
        cache, key = caches["pages"], _key(request)
        page = cache.get(key)
        if page is None:
            response = view(request, *args, **kwargs)
            page = _page(request, response)
            if page is None:
                return response
            cache.set(key, page)
        response = _response(request, page)
        patch_vary_headers(response, ["Accept-Encoding", "Accept-Language"])
        if not the_same_for_all:
            patch_vary_headers(response, ["Cookie"])
        return response

    return answer


def _key(request: HttpRequest) -> str:
    parts = (request.build_absolute_uri(), get_language(), freshness.mark())
    return blake2b(repr(parts).encode(), digest_size=20).hexdigest()


def _page(request: HttpRequest, response: HttpResponseBase) -> Page | None:
    """The answer's headers and compressed body, or None where it is not to be kept."""
    if isinstance(response, SimpleTemplateResponse):
        response.render()
    if not isinstance(response, HttpResponse) or response.status_code != 200:
        return None
    sets_cookie = response.cookies or request.META.get("CSRF_COOKIE_NEEDS_UPDATE")
    if sets_cookie or len(response.content) > LARGEST:
        return None
    return dict(response.items()), gzip.compress(response.content, compresslevel=6, mtime=0)


def _response(request: HttpRequest, page: Page) -> HttpResponse:
    headers, body = page
    packed = "gzip" in request.headers.get("Accept-Encoding", "")
    response = HttpResponse(body if packed else gzip.decompress(body), headers=headers)
    if packed:
        response["Content-Encoding"] = "gzip"
    return response
