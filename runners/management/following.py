"""Waiting for a job: its host's worker executes it, else this process does."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

from django.core.management.base import CommandError
from django.db import connections
from django.utils.translation import gettext as _

from runners.execute import execute_next
from runners.jobs import AlreadyOver, cancel_job
from runners.models import Attempt, Host, Job
from runners.sweep import sweep_host

LOOK_S = 0.25
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
log = logging.getLogger("runners")


class Signals:
    """Notes a signal that would end the process, so that its job is ended first.

    `number` is the first that came, 0 before. Out of the main thread none comes.
    """

    def __init__(self) -> None:
        self.number = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {one: signal.signal(one, self._note) for one in SIGNALS}
        return self

    def __exit__(self, *_error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self.number = self.number or number


class Executor(threading.Thread):
    """Executes what waits at a host, which is this machine, until one job is over.

    A thread of its own: signals reach the one that waits, which then cancels the job by its
    row, as anybody else would. `failure` is what ended it otherwise.
    """

    def __init__(self, host: Host, job: Job) -> None:
        super().__init__(name="executor", daemon=True)
        self.host, self.job = host, job
        self.failure: Exception | None = None

    def run(self) -> None:
        """Execute, in the queue's order; others' jobs that were there before come first."""
        try:
            while not _is_over(self.job):
                if execute_next(self.host) is None:
                    sweep_host(self.host)
                    time.sleep(LOOK_S)
        except Exception as error:
            log.exception("the job cannot be executed here")
            self.failure = error
        finally:
            connections.close_all()


def follow(job: Job, signals: Signals, *, is_here: bool, show: Callable[[Attempt], None]) -> int:
    """Wait until the job is over, showing its newest attempt; the signal that ended it, or 0.

    Where the host is this machine and no worker is alive, it is executed in this process.
    Whatever goes wrong here, the job is over when this returns. Raises CommandError where this
    process could not execute.
    """
    executor = Executor(job.host, job)
    is_cancelled = False
    try:
        while not _is_over(job) and executor.failure is None:
            if signals.number and not is_cancelled:
                _cancel(job)
                is_cancelled = True
            elif is_here and executor.ident is None and not _has_worker(job.host_id):
                executor.start()
            show(_newest(job))
            time.sleep(LOOK_S)
    finally:
        _cancel(job)
        if executor.ident is not None:
            executor.join()
    if executor.failure is not None:
        words = {"error": repr(executor.failure)}
        raise CommandError(_("It could not be executed here: %(error)s") % words)
    return signals.number if is_cancelled else 0


def _is_over(job: Job) -> bool:
    return Job.objects.get(pk=job.pk).is_over


def _has_worker(host: int) -> bool:
    return Host.objects.get(pk=host).is_alive


def _newest(job: Job) -> Attempt:
    return Attempt.objects.filter(job=job).order_by("-number")[0]


def _cancel(job: Job) -> None:
    try:
        cancel_job(job, actor=None)
    except AlreadyOver:
        # It ended at the same moment: then its result stands.
        return
