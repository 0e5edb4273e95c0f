"""What is wrong with a file, said so that it can be mended."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from dataclasses import dataclass

from results.bundle.text import BLANK

# Where in a document: keys and positions from the top, ("runs", 3, "measurements", 0, "value").
Path = tuple[str | int, ...]

SHOWN = 80


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in a file: `line` counts from 1; None where no line can be named."""

    message: str
    file: str = ""
    line: int | None = None
    field: str = ""
    found: str = ""
    expected: str = ""

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line) if part)
        return f"{place}: {self.message}" if place else self.message

    def as_dict(self) -> dict[str, str | int | None]:
        """The problem as `POST uploads/` reports it."""
        return {
            "file": self.file,
            "line": self.line,
            "field": self.field,
            "found": self.found,
            "expected": self.expected,
            "message": self.message,
        }


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem before its line is looked up. `message` is made from the rest if empty."""

    path: Path
    found: str = ""
    expected: str = ""
    message: str = ""


class BundleError(ValueError):
    """A file that is refused as a whole; `problems` holds everything wrong in it."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


def say(field: str, found: str, expected: str) -> str:
    """One sentence from the parts of a problem."""
    head = f"{field}: " if field else ""
    if not found:
        return f"{head}expected {expected}"
    return f"{head}found {found}, expected {expected}"


def show(value: object) -> str:
    """`value` as a message may print it: short, and nothing in it that does not print."""
    if isinstance(value, str):
        cut = f"{value[:SHOWN]}…' ({len(value)} characters)" if len(value) > SHOWN else f"{value}'"
        return f"'{printable(cut)}"
    if isinstance(value, (bool, type(None))):
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, (int, float)):
        return _show_number(value)
    if isinstance(value, dict):
        return "an object" if value else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return f"a {type(value).__name__}"


def printable(text: str) -> str:
    """`text` with a code in place of each character that does not print."""
    return "".join(c if c.isprintable() and c not in BLANK else f"\\u{ord(c):04x}" for c in text)


def _show_number(value: float) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "infinity, or a number beyond 1.8e308"
    return str(value) if abs(value) < 10**21 else f"{value:g}"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """What is expected in place of `word`: the nearest of `known`, else some of them."""
    words = sorted(known)
    near = difflib.get_close_matches(word[:200], words, n=3, cutoff=0.6)
    near = near or [name for name in words if word and name.startswith(word)][:3]
    if near:
        return " or ".join(f"'{name}'" for name in near)
    if not words:
        return "one that is known; there is none yet"
    return "one of " + ", ".join(words[:20]) + (", …" if len(words) > 20 else "")
