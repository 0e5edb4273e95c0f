"""Text from outside: one spelling for what looks the same, nothing that cannot be seen."""

from __future__ import annotations

import unicodedata

from pydantic_core import PydanticCustomError

# Control, format (bidi, zero width), surrogates, line and paragraph separators.
UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Letters by category, but blank on every screen.
BLANK = frozenset("\u115f\u1160\u3164\uffa0")
# Longer text meets its field's limit anyway; nothing is spent on it before.
WORTH_READING = 100_000


def clean_line(value: object) -> object:
    """`value` in NFC without outer blanks, if it is a text.

    Raises PydanticCustomError for control, bidi and zero-width characters.
    """
    return _clean(value, "") if isinstance(value, str) else value


def clean_lines(value: object) -> object:
    """As `clean_line`, for text of several lines: line ends and tabs may stay."""
    return _clean(value.replace("\r\n", "\n"), "\n\t") if isinstance(value, str) else value


def _clean(text: str, allowed: str) -> str:
    if len(text) > WORTH_READING or (text.isascii() and text.isprintable()):
        return text.strip()
    bad = next((c for c in text if is_unseen(c) and c not in allowed), None)
    if bad is not None:
        raise PydanticCustomError(
            "unseen_character",
            "a character that cannot be seen",
            {"expected": f"a text without the character U+{ord(bad):04X}"},
        )
    return unicodedata.normalize("NFC", text).strip()


def is_unseen(character: str) -> bool:
    """Whether two names may differ by this character and look the same."""
    return character in BLANK or unicodedata.category(character) in UNSEEN
