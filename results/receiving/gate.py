"""Who is let in before a byte of a body is read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import BoundedSemaphore

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext as _

from results.artefacts import incoming
from results.passing import disk_is_full
from results.receiving.handler import MOST_BYTES, too_large
from results.receiving.refusals import MB, PASSING_S, ReceiveError, no_room, too_much_text

# Boundaries, headers and text fields around the files.
FORM_BYTES = MB
# A twentieth of the disk stays free, but on a large disk never more than this.
LEAST_FREE_BYTES = 1000 * MB
BUSY_S = 5


def check(request: HttpRequest) -> None:
    """Raises ReceiveError: 411, 413 or 507 for a body that will not be read."""
    meta = request.META
    length = int(meta.get("CONTENT_LENGTH") or 0)
    if meta.get("HTTP_TRANSFER_ENCODING"):
        text = _("Send the length of the whole (Content-Length); chunks without it are not taken.")
        raise ReceiveError(411, text)
    if request.content_type == "multipart/form-data":
        if length > MOST_BYTES + FORM_BYTES:
            raise ReceiveError(413, too_large())
    elif length > (settings.DATA_UPLOAD_MAX_MEMORY_SIZE or MOST_BYTES):
        raise ReceiveError(413, too_much_text())
    if length:
        check_room(length)


def check_room(size: int) -> None:
    """Raises ReceiveError 507 if the store's disk has no room for `size` bytes and a reserve."""
    try:
        disk = os.statvfs(incoming())
    except OSError as error:
        if disk_is_full(error):
            raise ReceiveError(507, no_room(), PASSING_S) from error
        raise
    free = disk.f_bavail * disk.f_frsize
    least = min(disk.f_blocks * disk.f_frsize // 20, LEAST_FREE_BYTES)
    if free < max(least, size):
        raise ReceiveError(507, no_room(), PASSING_S)


@cache
def _places() -> BoundedSemaphore:
    return BoundedSemaphore(settings.UPLOADS_AT_ONCE)


@contextmanager
def place() -> Iterator[None]:
    """Hold one of this process's places for reading a body. Raises ReceiveError 503 if none is.

    There are fewer places than threads: however slow those who send are, pages are answered.
    """
    places = _places()
    if not places.acquire(blocking=False):
        text = _("Too many uploads are coming in at once. Try again in a few seconds.")
        raise ReceiveError(503, text, BUSY_S)
    try:
        yield
    finally:
        places.release()
