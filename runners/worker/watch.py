"""A consumer that lives but hears nothing: noticed by what waits in the database."""

from __future__ import annotations

from runners.models import Attempt, Host

DEAF_S = 60.0
LONGEST_S = 900.0


class Watch:
    """How long what waits at a host has been rung for in vain.

    Celery's consumers are known to stay deaf after a broker was away: celery issues 8030, 8091,
    10205.
    """

    def __init__(self) -> None:
        self.since_s: float | None = None
        self.patience_s = DEAF_S

    def is_deaf(self, host: Host, now_s: float) -> bool:
        """Whether to start the consumer anew; then there is more patience the next time."""
        if not waits_unheard(host):
            self.since_s, self.patience_s = None, DEAF_S
            return False
        if self.since_s is None:
            self.since_s = now_s
        if now_s - self.since_s < self.patience_s:
            return False
        self.since_s = now_s
        self.patience_s = min(2 * self.patience_s, LONGEST_S)
        return True


def waits_unheard(host: Host) -> bool:
    """Whether something that was rung for waits, though nothing is being measured."""
    waits = host.attempts.filter(
        state=Attempt.State.QUEUED,
        rung_at__isnull=False,
        job__cancel_requested_at__isnull=True,
    )
    return waits.exists() and not host.attempts.filter(state=Attempt.State.RUNNING).exists()
