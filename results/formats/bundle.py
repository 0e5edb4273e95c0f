"""A Bundle in JSON, version 1. It is one already: its own reader checks it."""

from __future__ import annotations

import re

from results.bundle import read_bundle
from results.formats.base import Draft, File

NAME = "Bundle (JSON)"


FIRST = r'\{\s*"(bundle|lab|labs|sources|processors|systems|lists|runs|comparisons|artefacts)"\s*:'
NEAR_TOP = r'\{[^{}\[\]]{0,2000}"bundle"\s*:'


def detect(file: File) -> bool:
    """An object whose first key is one of a bundle's, or that says 'bundle' near its top."""
    head = file.head.lstrip()
    return re.match(FIRST, head) is not None or re.match(NEAR_TOP, head) is not None


def parse(file: File) -> Draft:
    """The document itself."""
    return Draft(reads=lambda given: read_bundle(file.data, name=file.name, defaults=given))
