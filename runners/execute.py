"""One attempt from its claim to its end: planned, run by the engine, its result stored."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction
from django.utils.translation import gettext as _

from runners import benchmarks, claims, engine, taking
from runners.benchmarks.base import ParameterError, Plan
from runners.claims import Owner
from runners.doorbell import ring
from runners.engine import scratch
from runners.engine.base import Limits, Order, Outcome, Progress
from runners.machine import Facts
from runners.models import Attempt, Host, Job
from runners.parameters import complete
from runners.sweep import end_leftovers, lose_own, next_at, scratch_root

State = Attempt.State
RENEW_S = 5.0
SHOW_S = 1.0
# What ignores TERM is ended soon enough for a cancelled job to be over within 3 s.
LIMITS = Limits(grace_s=2.0)
PATIENCE_S, PAUSE_S = 120.0, 1.0
LONGEST_MESSAGE = 2_000
log = logging.getLogger("runners")


def execute_next(host: Host) -> Attempt | None:
    """Run what has waited longest at this host, which is this machine, to its end.

    None where nothing waits, or another is running. What the last one left is ended before.
    """
    owner = Owner.here()
    lose_own(host, owner)
    end_leftovers(host)
    attempt = claims.claim_next(host, owner)
    if attempt is None:
        return None
    try:
        _execute(attempt)
    except Exception as error:
        log.exception("%s failed", attempt)
        message = _("BenchHub failed: %(error)s") % {"error": repr(error)}
        patiently(lambda: _end_failed(attempt, message, ended_at=None))
    attempt.refresh_from_db()
    following = next_at(host)
    if following is not None:
        ring(following)
    return attempt


def _execute(attempt: Attempt) -> None:
    facts = Facts.of(attempt.host.facts)
    runner = benchmarks.get(attempt.job.benchmark)
    if runner is None:
        _end_failed(attempt, _("no runner measures it any more"))
        return
    job = attempt.job
    try:
        # The runner and the host may have changed since the job was asked for.
        values = complete(runner, job.preset, job.parameters, facts)
    except ParameterError as error:
        _end_failed(attempt, _("it cannot be run any more: %(why)s") % {"why": error})
        return
    plan = runner.plan(values, facts, str(Path(settings.VAR) / "kernels"))
    folder = scratch.make(scratch_root(), attempt.owner)
    try:
        outcome = engine.run(
            plan.steps,
            folder,
            watch=RowWatch(attempt),
            marker=attempt.owner,
            shortest_s=plan.shortest_s,
            limits=LIMITS,
        )
        patiently(lambda: _conclude(attempt, plan, outcome, facts))
    finally:
        with suppress(FileNotFoundError):  # a sweep may be at it too
            scratch.remove(folder)


def patiently(write: Callable[[], None]) -> None:
    """Do what ends an attempt, waiting while the database is away or the disk is full: what was
    measured for an hour is not lost for a minute. Raises what does not pass."""
    end_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            write()
            return
        except (OperationalError, InterfaceError, OSError):
            if time.monotonic() > end_s:
                raise
            connection.close_if_unusable_or_obsolete()
            time.sleep(PAUSE_S)


class RowWatch:
    """Writes how far an attempt is into its row, and reads there whether it is to end.

    A database that is away for a while does not end a measurement: only a lease that nobody
    could renew does.
    """

    def __init__(self, attempt: Attempt) -> None:
        self.attempt = attempt
        self.renewed_s = self.shown_s = time.monotonic()
        self.shown: Progress | None = None

    def began(self, session_id: int, started: int) -> None:
        """Note the session, so that a sweep finds it whatever becomes of this process."""
        with suppress(DatabaseError):
            claims.renew(self.attempt, session_id=session_id, session_started=started)

    def tick(self, progress: Progress) -> Order:
        """What is to happen, by the row."""
        now_s = time.monotonic()
        try:
            order = self._order()
            if order == "go on" and not self._write(progress, now_s):
                order = "gone"
        except DatabaseError:
            connection.close_if_unusable_or_obsolete()
            late = now_s - self.renewed_s > settings.JOB_LEASE_S
            return "gone" if late else "go on"
        return order

    def _order(self) -> Order:
        row = (
            claims.held(self.attempt)
            .values_list("stop_requested_at", "job__cancel_requested_at")
            .first()
        )
        if row is None:
            return "gone"
        stop, cancel = row
        return "cancel" if cancel else "stop" if stop else "go on"

    def _write(self, progress: Progress, now_s: float) -> bool:
        """Renew the lease when it is time; show the progress about once a second."""
        changed = progress != self.shown and now_s - self.shown_s >= SHOW_S
        due = now_s - self.renewed_s >= min(RENEW_S, settings.JOB_LEASE_S / 3)
        if not (changed or due):
            return True
        tail = progress.tail.replace("\0", "")
        held = claims.renew(self.attempt, step=progress.step, progress=progress.share, tail=tail)
        self.renewed_s = self.shown_s = now_s
        self.shown = progress
        return held


def _conclude(attempt: Attempt, plan: Plan, outcome: Outcome, facts: Facts) -> None:
    """Store what came of it; nothing where somebody else has decided about the attempt."""
    noted: dict[str, Any] = {
        "record": dict(outcome.record),
        "flags": [{"word": flag.word, "text": flag.text} for flag in outcome.flags],
        "tail": _tail(outcome),
    }
    if outcome.end == "gone":
        # It may be its own still: the database was away for longer than the lease.
        claims.give_up(attempt, _("its worker could not reach the database"), **noted)
    elif outcome.end == "stopped":
        claims.give_up(attempt, _("its worker was stopped"), **noted)
    elif outcome.end == "cancelled":
        _end(attempt, State.CANCELLED, Job.State.CANCELLED, **noted)
    elif outcome.end == "failed":
        _end_failed(attempt, outcome.message, **noted)
    else:
        _take(attempt, plan, outcome, facts, noted)


def _tail(outcome: Outcome) -> str:
    """The end of what was printed; where it failed, its last words too."""
    last = outcome.said.replace(" / ", "\n")
    shown = outcome.tail if last in outcome.tail else f"{outcome.tail}\n{last}"
    return shown.replace("\0", "")


def _take(
    attempt: Attempt, plan: Plan, outcome: Outcome, facts: Facts, noted: dict[str, Any]
) -> None:
    """Store the result in the transaction that ends the attempt, or neither."""
    try:
        ready = taking.make_ready(attempt, plan, outcome, facts)
        claims.renew(attempt)
        with transaction.atomic():
            job = claims.locked_job(pk=attempt.job_id)
            if job.cancel_requested_at is not None:
                _end(attempt, State.CANCELLED, Job.State.CANCELLED, **noted)
            elif claims.end(attempt, State.FINISHED, progress=1.0, ended_at=claims.NOW, **noted):
                job.runs.add(*taking.store(ready, publish=job.publish))
                claims.end_job(job, Job.State.FINISHED, message="")
    except (taking.Refused, taking.BundleError) as error:
        words = {"why": str(error)}
        _end_failed(attempt, _("the output was refused: %(why)s") % words, **noted)


def _end_failed(attempt: Attempt, message: str, **noted: Any) -> None:
    text = message.replace("\0", "")[:LONGEST_MESSAGE]
    _end(attempt, State.FAILED, Job.State.FAILED, message=text, **noted)


@transaction.atomic
def _end(attempt: Attempt, state: str, job_state: str, message: str = "", **noted: Any) -> None:
    """End an attempt without a result, and its job, if it is still the owner's."""
    job = claims.locked_job(pk=attempt.job_id)
    said = {"message": message} if message else {}
    if claims.end(attempt, state, **{"ended_at": claims.NOW, **said, **noted}):
        claims.end_job(job, job_state, **said)
