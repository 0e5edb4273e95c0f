"""Stored files handed out so that no browser executes them."""

from __future__ import annotations

import re

from django.http import FileResponse, Http404

from results.artefacts import path_of
from results.models import Artefact


def download(artefact: Artefact, name: str = "") -> FileResponse:
    """A kept file as an attachment, under `name` or its own. Raises Http404 if it is not kept."""
    path = path_of(artefact.sha256)
    if not artefact.stored or not path.is_file():
        raise Http404
    response = FileResponse(
        path.open("rb"),
        as_attachment=True,
        filename=flat(name or artefact.name),
        content_type="application/octet-stream",
    )
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return response


def flat(name: str) -> str:
    """A file name without folders or signs that a header or a shell would read otherwise."""
    kept = re.sub(r"[^\w.+-]", "_", re.split(r"[/\\]", name)[-1]).lstrip(".")
    return kept[:100] or "artefact"
