"""Rings at a host's queue: that there is something to look at, no more."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

from django.db import DatabaseError, transaction
from django.db.models.functions import Now

from runners.models import Attempt

TASK = "runners.run_attempt"
# A page waits for this: one try, and a second for each step of it.
AT_ONCE: dict[str, Any] = {
    "max_retries": 0,
    **dict.fromkeys(
        ("socket_connect_timeout", "socket_timeout", "read_timeout", "write_timeout"), 1
    ),
}
log = logging.getLogger("runners")
# Said once while it lasts.
_is_away = False


def ring_on_commit(attempt: Attempt) -> None:
    """Ring once what was written is there to be read."""
    transaction.on_commit(partial(ring, attempt))


def ring(attempt: Attempt) -> bool:
    """Send the attempt's id to its host's queue; False where the broker is away.

    Takes a second or so at most, and never raises: the row stays, and a sweep rings again.
    """
    try:
        Attempt.objects.filter(pk=attempt.pk).update(rung_at=Now())
        queue = attempt.host.queue
    except DatabaseError as error:
        log.warning("%s was not rung for: %s", attempt, error)
        return False
    return _send(attempt.pk, queue)


def _send(number: int, queue: str) -> bool:
    global _is_away  # noqa: PLW0603
    # Celery takes a process 10 MB: only who rings loads it.
    from benchhub.celery import app

    try:
        # A connection of its own: one kept from before may be dead, and would be found so only
        # by a message that is lost.
        with app.connection_for_write(connect_timeout=1, transport_options=AT_ONCE) as line:
            app.send_task(TASK, (number,), queue=queue, connection=line, retry=False)
    except Exception as error:
        if not _is_away:
            log.warning("the broker does not answer; jobs wait until it does: %s", error)
        _is_away = True
        return False
    if _is_away:
        log.warning("the broker answers again")
    _is_away = False
    return True
