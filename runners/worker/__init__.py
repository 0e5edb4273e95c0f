"""The worker of a host: a keeper, and the Celery consumer that it keeps alive."""

from runners.worker.keeper import run

__all__ = ["run"]
