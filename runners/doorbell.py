"""Rings at a host's queue: that there is something to look at, no more."""

from __future__ import annotations

import logging
from functools import partial

from django.db import transaction
from django.db.models.functions import Now

from runners.models import Attempt

log = logging.getLogger("runners")


def ring_on_commit(attempt: Attempt) -> None:
    """Ring once what was written is there to be read."""
    transaction.on_commit(partial(ring, attempt))


def ring(attempt: Attempt) -> bool:
    """Send the attempt's id to its host's queue; False where the broker is away.

    The row stays in any case, and a sweep rings again.
    """
    # Celery takes a process 20 MB: only who rings loads it.
    from benchhub.celery import app

    Attempt.objects.filter(pk=attempt.pk).update(rung_at=Now())
    try:
        app.send_task("runners.run_attempt", (attempt.pk,), queue=attempt.host.queue, retry=False)
    except Exception as error:  # noqa: BLE001
        log.warning("the broker does not answer: %s", error)
        return False
    return True
