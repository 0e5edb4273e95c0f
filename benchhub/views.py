"""Addresses that belong to the server, not to the domain: `/healthz` and `/favicon.ico`."""

import shutil

from django.conf import settings
from django.db import Error, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.templatetags.static import static
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

LEAST_FREE_MB = 64


@require_safe
def favicon(request: HttpRequest) -> HttpResponse:
    """Browsers ask here where a page names no icon (the admin does not)."""
    return redirect(static("img/favicon.svg"))


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """Can this process reach its database, and is there room to write? 200, else 503."""
    database, free_mb = _database_answers(), _free_mb()
    healthy = database and free_mb >= LEAST_FREE_MB
    body = {
        "status": "ok" if healthy else "failing",
        "database": "ok" if database else "unreachable",
        "disk": "ok" if free_mb >= LEAST_FREE_MB else "full",
    }
    return JsonResponse(body, status=200 if healthy else 503)


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            return bool(cursor.fetchone())
    except Error:
        return False


def _free_mb() -> int:
    """Free space in MB (10**6 bytes) where the database and the artefacts lie."""
    try:
        return shutil.disk_usage(settings.VAR).free // 10**6
    except OSError:
        return 0
