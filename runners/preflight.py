"""What stands against measuring on a host now, in words."""

from __future__ import annotations

from dataclasses import dataclass

from runners.models import Host


@dataclass(frozen=True)
class Notice:
    """A level (fine, mind, stops) and a sentence."""

    level: str
    text: str


def preflight(host: Host) -> list[Notice]:
    """The notices of a host, the gravest first."""
    return []
