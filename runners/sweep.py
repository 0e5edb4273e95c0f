"""What is put right from time to time: attempts whose worker is gone, bells that nobody heard."""

from __future__ import annotations

import logging
import os
import signal
import time
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import (
    DateTimeField,
    Exists,
    ExpressionWrapper,
    OuterRef,
    Q,
    QuerySet,
    Value,
)
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from runners.claims import RUNNING, Owner, lose
from runners.doorbell import ring
from runners.engine import leftovers, processes, scratch
from runners.models import Attempt, Host
from runners.models.hosts import ALIVE

BATCH = 200
RING_AGAIN = timedelta(seconds=10)
# An owner that lives but does not renew its lease for so long hangs, s; where its job is to be
# cancelled, it should have seen that long before. Counted here, whatever clocks say.
HUNG_S, DEAF_S = 60.0, 3.0
OPEN = (Attempt.State.QUEUED, RUNNING)
log = logging.getLogger("runners")


def sweep_everywhere() -> None:
    """For all hosts: expired leases are lost; those whose worker is there are rung."""
    for attempt in _expired()[:BATCH]:
        _lose_if_dead(attempt)
    for attempt in _unheard().filter(host__seen_at__gt=_before(ALIVE))[:BATCH]:
        ring(attempt)


def sweep_host(host: Host) -> None:
    """On the host itself: also what only it can see, which owner is dead and what was left."""
    for attempt in _running().filter(host=host):
        _lose_if_dead(attempt, own=True)
    end_leftovers(host)
    for attempt in _unheard().filter(host=host)[:1]:
        ring(attempt)


def lose_own(host: Host, owner: Owner) -> None:
    """What a process still holds when it takes the next has come to no end: it is lost."""
    for attempt in _running().filter(host=host, place=owner.place, owner_pid=owner.pid):
        _say(attempt, _("its worker failed"))


def end_leftovers(host: Host) -> int:
    """End what attempts that are over have left running on this host; processes found.

    Nothing is measured there before. After a boot, or in another container, nothing is left.
    """
    count = 0
    over = host.attempts.filter(ended_at__isnull=True).exclude(state__in=OPEN)
    for attempt in over.order_by("id")[:BATCH]:
        if attempt.owner and attempt.place == processes.place():
            count += leftovers.end(attempt.owner, _session(attempt))
        Attempt.objects.filter(pk=attempt.pk).update(ended_at=Now())
    scratch.remove_others(scratch_root(), _owners)
    return count


def _owners() -> set[str]:
    return set(Attempt.objects.filter(state=RUNNING).values_list("owner", flat=True))


def scratch_root() -> Path:
    """Where each attempt on this machine has a folder while it runs."""
    return Path(settings.VAR) / "scratch"


def _session(attempt: Attempt) -> tuple[int, int] | None:
    if attempt.session_id is None or attempt.session_started is None:
        return None
    return attempt.session_id, attempt.session_started


def _running() -> QuerySet[Attempt]:
    return Attempt.objects.filter(state=RUNNING).select_related("job", "host")


def _expired() -> QuerySet[Attempt]:
    """Running attempts whose lease is over, the longest first; by an index of their own."""
    return _running().filter(lease_until__lt=Now()).order_by("lease_until")


def _lose_if_dead(attempt: Attempt, *, own: bool = False) -> None:
    """Lose an attempt whose owner is gone, or silent; one that lives here is waited for."""
    lives = _owner_lives(attempt)
    if lives is None:
        # Not seen from here: the lease decides.
        if _is_expired(attempt):
            _say(attempt, _("its worker fell silent"))
    elif not lives:
        _say(attempt, _("its worker died"))
    elif own and attempt.owner_pid and _hangs(attempt):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(attempt.owner_pid, signal.SIGKILL)
        _seen.pop(attempt.pk, None)
        _say(attempt, _("its worker hung"))


def _owner_lives(attempt: Attempt) -> bool | None:
    """Whether the owner's process is there; None where it cannot be seen from here."""
    pid, started = attempt.owner_pid, attempt.owner_started
    if pid is None or started is None or attempt.place != processes.place():
        return None
    return processes.is_alive(pid, started)


# What this process has seen: the lease of an attempt, and since when it is the same, s.
_seen: dict[int, tuple[datetime | None, float]] = {}


def _hangs(attempt: Attempt) -> bool:
    """Whether an owner that lives has been silent for too long, over several looks."""
    if not _is_expired(attempt):
        _seen.pop(attempt.pk, None)
        return False
    now_s = time.monotonic()
    lease, since_s = _seen.get(attempt.pk, (None, now_s))
    if lease != attempt.lease_until:
        since_s = now_s
    _seen[attempt.pk] = attempt.lease_until, since_s
    limit_s = HUNG_S if attempt.job.cancel_requested_at is None else DEAF_S
    return now_s - since_s > limit_s


def _is_expired(attempt: Attempt) -> bool:
    """Whether the lease has ended, by the database's clock."""
    return _running().filter(pk=attempt.pk, lease_until__lt=Now()).exists()


def _before(span: timedelta) -> Any:
    return ExpressionWrapper(Now() - Value(span), output_field=DateTimeField())


def _say(attempt: Attempt, why: str) -> None:
    if lose(attempt, why):
        log.warning("%s is lost: %s", attempt, why)


def _unheard() -> QuerySet[Attempt]:
    """The first that waits at each host where nothing runs, if no bell was rung lately."""
    waits = Attempt.objects.filter(state=Attempt.State.QUEUED)
    earlier = waits.filter(host=OuterRef("host"), id__lt=OuterRef("id"))
    runs = Attempt.objects.filter(state=RUNNING, host=OuterRef("host"))
    quiet = Q(rung_at__isnull=True) | Q(rung_at__lt=_before(RING_AGAIN))
    found = waits.filter(quiet).filter(~Exists(earlier), ~Exists(runs))
    return found.select_related("host").order_by("id")


def next_at(host: Host) -> Attempt | None:
    """What waits longest at a host."""
    waits = host.attempts.filter(state=Attempt.State.QUEUED)
    return waits.select_related("host").order_by("id").first()
