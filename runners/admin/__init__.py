"""The admin of hosts and jobs: looked at, opened and closed, cancelled."""

from runners.admin import hosts, jobs

__all__ = ["hosts", "jobs"]
