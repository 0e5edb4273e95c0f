"""The names of the formats that are taken, without loading what reads them.

A format is loaded with the bundle's typed model, which costs a web worker memory: so the
names are read from the modules' text, once.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "formats"
_NAME = re.compile(r'^NAME = "([^"]+)"$', re.MULTILINE)
_READS = re.compile(r"^def detect\(", re.MULTILINE)


@cache
def format_names() -> tuple[str, ...]:
    """What tools' outputs are understood, in words, by the alphabet."""
    texts = (path.read_text(encoding="utf-8") for path in FOLDER.glob("*.py"))
    found = {match[1] for text in texts if _READS.search(text) and (match := _NAME.search(text))}
    return tuple(sorted(found, key=str.casefold))
