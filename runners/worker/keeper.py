"""Keeps a host at work: says that it is there, puts right what went wrong, keeps Celery alive.

One thread, so that it may start processes at any time. What passes, a database that is away or
locked, is said once and waited for.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from django.conf import settings
from django.db import close_old_connections

from benchhub.supervisor import Service, ended, hold_signals, say
from results.passing import passes
from runners import claims, kernels
from runners.engine import processes
from runners.hosts import beat, this_host
from runners.models import Host
from runners.sweep import sweep_host
from runners.worker.consumer import consumer
from runners.worker.watch import Watch

LONGEST_ROUND_S = 5.0  # a host that is silent for longer looks dead
PAUSE_S = 1.0
# The supervisor gives ten seconds.
GRACE_S, ASK_AGAIN_S = 8.0, 0.2
log = logging.getLogger("runners")


def run() -> None:
    """Work until a signal asks to end; whatever was started here has ended then."""
    Keeper().run()


class Keeper:
    """A host's row and its consumer."""

    def __init__(self) -> None:
        self.host: Host | None = None
        self.consumer: Service | None = None
        self.watch = Watch()
        self.next_s = 0.0
        self.swept = False
        self.said = ""

    def run(self) -> None:
        """As the module's `run`. What is started before signals are held dies of them."""
        while not self._tried(self._look_around):
            time.sleep(PAUSE_S)
        for problem in kernels.build_all(Path(settings.VAR) / "kernels"):
            say(problem)
        hold_signals()
        try:
            while not ended(self._pause_s()):
                self._round()
        finally:
            self._stop()

    def _look_around(self) -> None:
        """Find out which machine this is, and show that it is there."""
        self.host = this_host(refresh=True)
        beat(self.host)

    def _pause_s(self) -> float:
        """Seconds until something is due; a dead child ends the wait anyway."""
        due_s = self.next_s
        if self.consumer is not None and self.consumer.process is None:
            due_s = min(due_s, self.consumer.due_s)
        return max(due_s - time.monotonic(), 0.01)

    def _round(self) -> None:
        now_s = time.monotonic()
        self._keep(now_s)
        if now_s >= self.next_s:
            self.next_s = now_s + min(settings.JOB_SWEEP_S, LONGEST_ROUND_S)
            self._tried(self._put_right)

    def _keep(self, now_s: float) -> None:
        """Start the consumer, and again when it died."""
        if self.host is None:
            return
        if self.consumer is None:
            self.consumer = consumer(self.host)
        if self.consumer.process is None:
            if now_s >= self.consumer.due_s:
                self.consumer.start()
        elif (code := self.consumer.exit_code()) is not None:
            self.consumer.plan_restart(now_s, code)

    def _put_right(self) -> None:
        """One look at the database: say that we live, lose what died, ring, look for deafness."""
        host = this_host()
        if self.host is not None and self.host.queue != host.queue:
            self._end_consumer("the host has another name")
        self.host = host
        beat(host)
        # An idle host costs three short queries a round: it may be measured by others.
        if self.swept and not host.attempts.filter(ended_at__isnull=True).exists():
            return
        sweep_host(host)
        self.swept = True
        if self.watch.is_deaf(host, time.monotonic()):
            self._end_consumer("it hears nothing of what waits")

    def _end_consumer(self, why: str) -> None:
        """Kill it, with what it runs; the next round starts another."""
        if self.consumer is None or self.consumer.process is None:
            return
        say(f"the consumer of jobs is started anew: {why}.")
        self.consumer.signal_group(signal.SIGKILL)
        self.consumer.process.wait()
        self.consumer = None

    def _tried(self, work: Callable[[], None]) -> bool:
        """Do some work; whether it was done. Why it was not is said once while it lasts."""
        try:
            close_old_connections()
            work()
        except Exception as error:
            close_old_connections()
            text = " ".join(str(error).split()) or type(error).__name__
            if text != self.said:
                self._complain(error, text)
            self.said = text
            return False
        if self.said:
            say("the worker goes on.")
        self.said = ""
        return True

    def _complain(self, error: Exception, text: str) -> None:
        if passes(error):
            say(f"the worker waits: {text}")
        else:
            log.error("the worker's round failed: %s", text, exc_info=error)

    def _stop(self) -> None:
        """Take no new job, have what runs ended, and leave nothing; within GRACE_S or so.

        Celery is halted, not asked to end: until it stops hearing it would begin what waits,
        and ending takes it seconds. Its child goes on, and ends what it runs by the row. The
        message of that is not acknowledged, which changes nothing.
        """
        service = self.consumer
        if service is None or service.process is None:
            return
        with suppress(ProcessLookupError):
            os.kill(service.process.pid, signal.SIGSTOP)
        end_s = time.monotonic() + GRACE_S
        idle = 0
        # Twice, since a child may have been about to begin.
        while idle < 2 and time.monotonic() < end_s:
            idle = 0 if self._is_busy() else idle + 1
            time.sleep(ASK_AGAIN_S)
        service.signal_group(signal.SIGKILL)
        service.process.wait()

    def _is_busy(self) -> bool:
        """Whether our own consumer runs an attempt, which is asked to end. Where the database
        does not say, it may."""
        if not self.host or not self.consumer or not self.consumer.process:
            return False
        try:
            pids = processes.children(self.consumer.process.pid)
            return bool(claims.request_stop(self.host, pids=pids))
        except Exception as error:
            log.warning("what runs could not be asked to end: %s", error)
            return True
