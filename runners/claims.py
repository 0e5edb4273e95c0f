"""Attempts are claimed, kept and ended by single UPDATEs that hold only for their owner.

Times are the database's, so that a worker with a wrong clock neither takes what lives nor
keeps what is dead.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import DateTimeField, ExpressionWrapper, QuerySet, Value
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from runners.engine import processes
from runners.models import Attempt, Host, Job
from runners.models.jobs import MOST_ATTEMPTS

NOW = Now()  # the database's clock
QUEUED, RUNNING = Attempt.State.QUEUED, Attempt.State.RUNNING
LOOKED_AT = 5  # of the oldest that wait: those before may have been cancelled meanwhile


@dataclass(frozen=True)
class Owner:
    """Who executes: a name that no other has, and the process, to be told from a later one."""

    name: str
    place: str
    pid: int
    started: int | None

    @classmethod
    def here(cls) -> Owner:
        """This process, under a new name."""
        pid = os.getpid()
        return cls(secrets.token_hex(16), processes.place(), pid, processes.started(pid))


def lease() -> Any:
    """The moment until which a claim made or renewed now holds."""
    span = Value(timedelta(seconds=settings.JOB_LEASE_S))
    return ExpressionWrapper(Now() + span, output_field=DateTimeField())


def claim_next(host: Host, owner: Owner) -> Attempt | None:
    """The attempt that has waited longest at `host`, now the owner's.

    None where none waits, or one is running: the database lets no two run on one host.
    """
    waiting = Attempt.objects.filter(
        host=host, state=QUEUED, job__cancel_requested_at__isnull=True
    ).order_by("id")
    for pk in waiting.values_list("pk", flat=True)[:LOOKED_AT]:
        try:
            with transaction.atomic():
                job = locked_job(attempts=pk)
                if not _claim(waiting.filter(pk=pk), owner):
                    continue
                Job.objects.filter(pk=job.pk).update(state=Job.State.RUNNING)
        except IntegrityError:
            return None
        return Attempt.objects.select_related("job__reruns", "host__system").get(pk=pk)
    return None


def locked_job(**which: Any) -> Job:
    """A job, held until the transaction ends: whoever changes a job and its attempts holds the
    job first, so that no two wait for each other."""
    return Job.objects.select_for_update().get(**which)


def _claim(waiting: QuerySet[Attempt], owner: Owner) -> int:
    return waiting.order_by().update(
        state=RUNNING,
        owner=owner.name,
        place=owner.place,
        owner_pid=owner.pid,
        owner_started=owner.started,
        lease_until=lease(),
        started_at=Now(),
    )


def held(attempt: Attempt) -> QuerySet[Attempt]:
    """The attempt as long as it is its owner's: empty once somebody else decided about it."""
    return Attempt.objects.filter(pk=attempt.pk, owner=attempt.owner, state=RUNNING)


def renew(attempt: Attempt, **changes: Any) -> bool:
    """Renew the lease and write `changes`; False if the attempt is not the owner's any more."""
    return bool(held(attempt).update(lease_until=lease(), **changes))


def request_stop(host: Host, *, pids: Collection[int] | None = None) -> int:
    """Ask what runs on this machine to end, because its worker does; how many were asked.

    `pids` are the processes whose attempts are meant; None: all of this place.
    """
    found = host.attempts.filter(state=RUNNING, place=processes.place())
    if pids is not None:
        found = found.filter(owner_pid__in=list(pids))
    return found.update(stop_requested_at=Now())


def end(attempt: Attempt, state: str, **changes: Any) -> bool:
    """Let the owner end its attempt; False if it is not the owner's any more."""
    return bool(held(attempt).update(state=state, finished_at=Now(), **changes))


@transaction.atomic
def lose(attempt: Attempt, why: str) -> bool:
    """Take a running attempt from an owner that is gone; False if it was not as it was seen.

    Another attempt is queued, three in all; where the job was to be cancelled, it is.
    """
    job = locked_job(pk=attempt.job_id)
    seen = held(attempt).filter(lease_until=attempt.lease_until)
    return _lose(seen, attempt, job, why)


@transaction.atomic
def give_up(attempt: Attempt, why: str, **changes: Any) -> bool:
    """As `lose`, by the owner itself, who may write `changes` beside it."""
    job = locked_job(pk=attempt.job_id)
    return _lose(held(attempt), attempt, job, why, **changes)


def _lose(seen: QuerySet[Attempt], attempt: Attempt, job: Job, why: str, **changes: Any) -> bool:
    cancelled = job.cancel_requested_at is not None
    state = Attempt.State.CANCELLED if cancelled else Attempt.State.LOST
    if not seen.update(state=state, finished_at=Now(), message=why, **changes):
        return False
    if cancelled:
        end_job(job, Job.State.CANCELLED)
    elif attempt.number < MOST_ATTEMPTS:
        Attempt.objects.create(job=job, host_id=attempt.host_id, number=attempt.number + 1)
        Job.objects.filter(pk=job.pk).update(state=Job.State.QUEUED)
    else:
        message = _("lost %(count)d times; the last time: %(why)s")
        words = {"count": MOST_ATTEMPTS, "why": why}
        end_job(job, Job.State.FAILED, message=message % words)
    return True


def end_job(job: Job, state: str, **changes: Any) -> None:
    """End a job whose attempt was ended in the same transaction."""
    Job.objects.filter(pk=job.pk).update(state=state, finished_at=Now(), **changes)
