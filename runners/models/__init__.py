"""Who measures and what is to be measured, split by noun."""

from runners.models.hosts import Host
from runners.models.jobs import Attempt, Job

__all__ = ["Attempt", "Host", "Job"]
