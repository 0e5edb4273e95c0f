"""What every answer carries: the content security policy, and the language of the address."""

from collections.abc import Callable

from django.conf import settings
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


def language_of_address(get_response: Handler) -> Handler:
    """`?lang=ja` wins over the browser's languages: the address is the state of the page."""

    def middleware(request: HttpRequest) -> HttpResponse:
        wanted = request.GET.get("lang", "").lower()
        if wanted in dict(settings.LANGUAGES):
            translation.activate(wanted)
            request.LANGUAGE_CODE = wanted
        return get_response(request)

    return middleware
