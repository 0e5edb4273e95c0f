"""A Bundle in JSON, version 1. It is one already: its own reader checks it."""

from __future__ import annotations

import re

from results.bundle import read_bundle
from results.formats.base import Draft, File

NAME = "Bundle (JSON)"


KEYS = "bundle|lab|labs|sources|processors|systems|lists|runs|comparisons|artefacts"


def detect(file: File) -> bool:
    """An object whose first key is one of a bundle's, or that says 'bundle' near its top."""
    return re.match(rf'\s*\{{\s*"({KEYS})"\s*:', file.head) is not None or (
        re.match(r'\s*\{[^{}\[\]]{0,2000}"bundle"\s*:', file.head) is not None
    )


def parse(file: File) -> Draft:
    """The document itself."""
    return Draft(reads=lambda given: read_bundle(file.data, name=file.name, defaults=given))
