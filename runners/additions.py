"""What hosts and jobs add to the pages, the admin and the API of `results`."""

from __future__ import annotations


def add() -> None:
    """Called once, when the apps are ready."""
