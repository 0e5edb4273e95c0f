"""The names files come with: flat, printable, one of each."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from pathlib import PurePosixPath

LONGEST = 200
LONGEST_SUFFIX = 20
UNNAMED = "unnamed"


def flat(name: str) -> str:
    """The last part of a path of any system, in NFC, without what cannot be seen.

    Control, format and bidirectional characters and lone surrogates go; spaces of all kinds
    become plain ones. At most 200 characters; the suffix stays.
    """
    text = unicodedata.normalize("NFC", name)
    text = text.replace("\\", "/").rpartition("/")[2]
    text = "".join(" " if c.isspace() else c for c in text if c.isprintable() or c.isspace())
    text = " ".join(text.split())
    return UNNAMED if text in {"", ".", ".."} else _cut(text, LONGEST)


def unique(name: str, taken: Collection[str]) -> str:
    """The name, or 'a (2).log', 'a (3).log' … if 'a.log' is taken."""
    number, found = 1, name
    while found in taken:
        number += 1
        mark = f" ({number})"
        stem, suffix = _split(_cut(name, LONGEST - len(mark)))
        found = f"{stem}{mark}{suffix}"
    return found


def _cut(name: str, longest: int) -> str:
    stem, suffix = _split(name)
    return stem[: longest - len(suffix)].rstrip() + suffix


def _split(name: str) -> tuple[str, str]:
    """Stem and suffix; a suffix of more than 20 characters is none."""
    suffix = PurePosixPath(name).suffix
    if not 0 < len(suffix) <= LONGEST_SUFFIX:
        return name, ""
    return name[: -len(suffix)], suffix
