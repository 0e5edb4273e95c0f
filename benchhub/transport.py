"""A queue in files: written whole or not at all; what cannot be read is set aside."""

from __future__ import annotations


def register() -> None:
    """Make `benchhub://` known to kombu."""
