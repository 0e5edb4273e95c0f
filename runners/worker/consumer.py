"""The process that hears the bells: Celery, with one child that measures."""

from __future__ import annotations

import os
import signal
import sys

from benchhub.supervisor import Service
from runners.models import Host

# Workers know each other by the database, and show there that they live.
QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat")


def consumer(host: Host) -> Service:
    """Celery for the host's queue. It dies at once with whoever keeps it, however that ends:
    a measurement whose keeper is gone would be kept from nobody's sight."""
    return Service("the consumer of jobs", argv(host), at_parents_end=signal.SIGKILL)


def argv(host: Host) -> list[str]:
    """One child, which takes one message at a time."""
    return [
        *(sys.executable, "-m", "celery", "--quiet", "--app", "benchhub", "worker"),
        *("--queues", host.queue, "--hostname", f"{host.queue}-{os.getpid()}@%h"),
        *("--pool", "prefork", "--concurrency", "1", "--prefetch-multiplier", "1"),
        *("--loglevel", "WARNING"),
        *QUIET,
    ]
