"""How far a job is, on a terminal in one line that is redrawn, else in a line now and then."""

from __future__ import annotations

import shutil
import time
from typing import TextIO

from django.utils.translation import gettext as _

from runners.models import Attempt
from runners.queries import waiting_before

WIDTH = 24
EVERY_S = 10.0
CLEAR = "\r\x1b[K"


class Bar:
    """Shows attempts on a stream. `quiet`: only where it is a terminal."""

    def __init__(self, stream: TextIO, *, quiet: bool = False) -> None:
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._quiet = quiet and not self._is_terminal
        self._said = ""
        self._step: tuple[int, str, str] = (0, "", "")
        self._said_s = 0.0

    def show(self, attempt: Attempt) -> None:
        """Say how far it is, if there is something new to say."""
        if self._quiet:
            return
        line = line_of(attempt)
        if self._is_terminal:
            self._redraw(line)
        elif line != self._said and self._is_due(attempt):
            self._stream.write(f"{line}\n")
            self._stream.flush()
            self._said, self._said_s = line, time.monotonic()

    def done(self) -> None:
        """Take the line away."""
        if self._is_terminal and self._said:
            self._stream.write(CLEAR)
            self._stream.flush()
            self._said = ""

    def _redraw(self, line: str) -> None:
        if line == self._said:
            return
        columns = shutil.get_terminal_size().columns
        self._stream.write(CLEAR + line[: max(columns - 1, 10)])
        self._stream.flush()
        self._said = line

    def _is_due(self, attempt: Attempt) -> bool:
        step = (attempt.number, attempt.state, attempt.step)
        is_new, self._step = step != self._step, step
        return is_new or time.monotonic() - self._said_s >= EVERY_S


def line_of(attempt: Attempt) -> str:
    """'[######..................]  25 %  measure'."""
    if attempt.state == Attempt.State.QUEUED:
        before = waiting_before(attempt)
        words = _("waits for its turn") if before else _("waits to be taken")
        return f"{words} ({_('%(count)d before it') % {'count': before}})" if before else words
    filled = round(attempt.progress * WIDTH)
    bar = "#" * filled + "." * (WIDTH - filled)
    again = _("attempt %(number)d") % {"number": attempt.number} if attempt.number > 1 else ""
    words = " · ".join(part for part in (again, attempt.step) if part)
    return f"[{bar}] {attempt.progress * 100:3.0f} %  {words}".rstrip()
