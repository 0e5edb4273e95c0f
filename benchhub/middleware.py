"""What holds for every request: the security policy, the address's language, few at once."""

import threading
from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.utils import translation

Handler = Callable[[HttpRequest], HttpResponse]

# Plotly sets style attributes, hence 'unsafe-inline' for styles; scripts come from us alone.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; object-src 'none'; frame-ancestors "
)
NOBODY = POLICY + "'none'"
ANYBODY = POLICY + "*"
NO_FEATURES = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"


def security_headers(get_response: Handler) -> Handler:
    """Set the policy on every answer that has none; pages under /embed/ may be framed."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        embedded = request.path_info.startswith("/embed/")
        if embedded:
            # Read by Django's XFrameOptionsMiddleware, which stands outside this one.
            response.xframe_options_exempt = True
        response.headers.setdefault("Content-Security-Policy", ANYBODY if embedded else NOBODY)
        response.headers.setdefault("Permissions-Policy", NO_FEATURES)
        return response

    return middleware


def few_at_once(get_response: Handler) -> Handler:
    """Make few pages at a time in a process, however many threads it has for slow uploads.

    Python runs one thread at a time: more at once would be no faster, and each needs memory
    that its process then keeps. Whoever sends something waits for nobody here.
    """
    places = threading.BoundedSemaphore(settings.PAGES_AT_ONCE)

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.method not in {"GET", "HEAD"}:
            return get_response(request)
        with places:
            return get_response(request)

    return middleware


def no_nul_in_the_admin(get_response: Handler) -> Handler:
    """Refuse a NUL in an address of the admin, which would hand it on to the database.

    Nothing that is stored has one, and PostgreSQL takes none. Other pages check their own.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.path_info.startswith("/admin/") and "%00" in request.META["QUERY_STRING"]:
            raise SuspiciousOperation("a NUL in an address of the admin")
        return get_response(request)

    return middleware


def language_of_address(get_response: Handler) -> Handler:
    """`?lang=ja` wins over the browser's languages: the address is the state of the page."""

    def middleware(request: HttpRequest) -> HttpResponse:
        wanted = request.GET.get("lang", "").lower()
        if wanted in dict(settings.LANGUAGES):
            translation.activate(wanted)
            request.LANGUAGE_CODE = wanted
        return get_response(request)

    return middleware
