"""What a message makes a worker do: look at its host's rows, and run one attempt."""

from __future__ import annotations

import logging
from typing import Any

from benchhub.celery import app
from runners.doorbell import TASK
from runners.execute import execute_next
from runners.hosts import this_host
from runners.models import Attempt

LARGEST_ID = 2**63 - 1
log = logging.getLogger("runners")


# No time limit of Celery's: the engine has its own, and ends what it started.
@app.task(name=TASK, acks_late=True, reject_on_worker_lost=True, ignore_result=True)
def run_attempt(attempt_id: Any = None, *_: Any, **__: Any) -> None:
    """Run what has waited longest at this host, if the message is about one of its attempts.

    A message is only a bell: whatever else it says is ignored, and it may come late or twice.
    """
    if type(attempt_id) is not int or not 0 < attempt_id <= LARGEST_ID:
        log.warning("a message that names no attempt was ignored: %.80r", attempt_id)
        return
    host = this_host()
    meant = Attempt.objects.filter(pk=attempt_id).values_list("host_id", flat=True).first()
    if meant == host.pk:
        execute_next(host)
    elif meant is not None:
        log.warning("attempt %d is for another host and was ignored at %s", attempt_id, host)
