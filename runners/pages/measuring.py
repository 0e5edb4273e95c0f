"""The machine that this hub runs on, measured with our own kernels and set beside the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from results import actors
from results.actors import Actor
from runners import queries
from runners.benchmarks.base import ParameterError
from runners.jobs import JobError, request_job
from runners.models import Host, Job
from runners.pages.jobpage import compare_address

USUAL = "standard"
KERNELS: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("stream", {}),
    ("tinymembench", {"page": "2m"}),
    ("tinymembench", {"page": "4k"}),
)
BENCHMARKS = tuple(dict.fromkeys(benchmark for benchmark, _chosen in KERNELS))


def measure(host: Host, *, actor: Actor) -> tuple[list[Job], list[str]]:
    """Ask for each kernel on a host: the jobs, and why others could not be asked for."""
    jobs, refused = [], []
    for benchmark, chosen in KERNELS:
        try:
            job = request_job(
                host=host, benchmark=benchmark, preset=USUAL, parameters=chosen, actor=actor
            )
        except (ParameterError, JobError) as error:
            refused.append(str(error))
        else:
            jobs.append(job)
    return jobs, list(dict.fromkeys(refused))


def panel_of(reader: Any) -> dict[str, Any]:
    """What the front page says of it, the same for all who have no account.

    Three queries, four for the staff.
    """
    host = queries.host_here()
    measured = host is not None and queries.has_published(host.system, BENCHMARKS)
    staff = actors.is_staff(reader)
    return {
        "staff": staff,
        "compare": _compare(host) if measured else "",
        "host": host if staff or measured else None,
        "moving": bool(staff and host and queries.is_being_measured(host, BENCHMARKS)),
    }


def _compare(host: Host | None) -> str:
    """The comparison of the host's system with those that are compared by default."""
    if host is None or host.system is None:
        return ""
    return compare_address([*queries.default_columns(), host.system.slug], BENCHMARKS)
