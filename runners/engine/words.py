"""What programs print, made fit to be shown and stored."""

from __future__ import annotations

import signal

REPLACED = "\N{REPLACEMENT CHARACTER}"
_LINES = 3
_LINE = 200


def printable(data: bytes) -> str:
    """Text of any bytes: what is not UTF-8 or not printable (controls, marks that turn the
    writing direction) is replaced; a progress bar's carriage returns begin new lines."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    return "".join(one if one.isprintable() or one in "\n\t" else REPLACED for one in text)


def storable(text: str) -> str:
    """The text as any database takes it: without NUL and halves of surrogate pairs."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", REPLACED)


def last_lines(errors: bytes, output: bytes) -> str:
    """The end of what a program complained, or else said: three short lines at most."""
    for data in (errors, output):
        lines = [line.strip() for line in printable(data).split("\n") if line.strip()]
        if lines:
            return " / ".join(_short(line) for line in lines[-_LINES:])
    return ""


def _short(line: str) -> str:
    return line if len(line) <= _LINE else f"{line[: _LINE - 1]}…"


def exit_words(code: int) -> str:
    """How a program ended, by its exit code; negative: the signal that ended it."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"was ended by signal {-code}"
