"""A Bundle in JSON, version 1. It is one already: its own reader checks it."""

from __future__ import annotations

import re

from results.bundle import read_bundle
from results.formats.base import Draft, File

NAME = "Bundle (JSON)"


def detect(file: File) -> bool:
    """An object with 'bundle' among its keys; or one with 'runs', which misses it."""
    head = file.head.lstrip()
    return head.startswith("{") and re.search(r'"(bundle|runs)"\s*:', file.head) is not None


def parse(file: File) -> Draft:
    """The document itself."""
    return Draft(reads=lambda given: read_bundle(file.data, name=file.name, defaults=given))
