"""Links with which somebody without an account may look at an upload, until they expire."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Any

from django.core import signing
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _

from results.intake.uploads import UploadError, may_change, note
from results.models import Upload

SALT = "results.intake.previews"
DAYS = (1, 7, 30)


def make_link(*, upload: Upload, actor: Any, days: int) -> str:
    """The address of the upload's page, with a key that opens it for `days`.

    The key is signed, not stored: the database alone gives nobody access.
    """
    _require(upload, actor)
    if days not in DAYS:
        raise UploadError(_("A link lasts 1, 7 or 30 days."))
    if not upload.preview_key:
        upload.preview_key = secrets.token_hex(8)
        Upload.objects.filter(pk=upload.pk).update(preview_key=upload.preview_key)
    until = timezone.now() + timedelta(days=days)
    key = signing.dumps([upload.pk, upload.preview_key, int(until.timestamp())], salt=SALT)
    note(upload, actor, "make preview link", after={"until": until.isoformat()})
    return f"{upload.get_absolute_url()}?key={key}"


def close_links(*, upload: Upload, actor: Any) -> None:
    """Let all links that were made stop working."""
    _require(upload, actor)
    Upload.objects.filter(pk=upload.pk).update(preview_key="")
    note(upload, actor, "close preview links")


def opens_until(upload: Upload, key: str) -> datetime | None:
    """Until when a key opens the upload; None if it does not (any more)."""
    if not upload.preview_key or len(key) > 400:
        return None
    try:
        pk, secret, until = signing.loads(key, salt=SALT)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    fits = pk == upload.pk and constant_time_compare(str(secret), upload.preview_key)
    moment = datetime.fromtimestamp(until, tz=timezone.get_default_timezone())
    return moment if fits and moment > timezone.now() else None


def _require(upload: Upload, actor: Any) -> None:
    if not may_change(actor, upload):
        raise UploadError(_("You may not do this for this lab."))
