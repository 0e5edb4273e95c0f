"""What a step prints: two files with a limit, of which only pieces are ever in memory."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from runners.engine import words

LINE = 4096
_CHUNK = 65_536
_MB = 1_000_000
# Appending: where the file is cut while something still writes, the rest begins at the cut.
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


class Capped:
    """One output file. It is read through the descriptor that made it, never by its name:
    a program may have put something else there."""

    def __init__(self, path: Path, limit: int) -> None:
        self.path, self.limit = path, limit
        self.was_cut = False
        self.descriptor = os.open(path, _NEW, 0o600)

    def close(self) -> None:
        os.close(self.descriptor)

    def size(self) -> int:
        """Bytes."""
        return os.fstat(self.descriptor).st_size

    def cut(self) -> None:
        """Cut it to the limit, if it passed it."""
        if self.size() > self.limit:
            os.ftruncate(self.descriptor, self.limit)
            self.was_cut = True

    def is_in_place(self) -> bool:
        """Whether its name still leads to it."""
        try:
            there = self.path.stat(follow_symlinks=False)
        except OSError:
            return False
        return os.path.samestat(there, os.fstat(self.descriptor))

    def tail(self, count: int) -> bytes:
        """Its last bytes, at most `count`."""
        return os.pread(self.descriptor, count, max(self.size() - count, 0))

    def lines(self) -> Iterator[bytes]:
        """Its lines; the rest of one that is longer than LINE bytes is left out."""
        line = b""
        for chunk in self._chunks():
            *whole, rest = chunk.split(b"\n")
            for piece in whole:
                yield (line + piece)[:LINE]
                line = b""
            line = (line + rest)[:LINE]
        if line:
            yield line

    def has(self, expression: str) -> bool:
        """Whether a line matches."""
        pattern = re.compile(expression)
        return any(
            pattern.search(line.decode("utf-8", "replace").rstrip("\r")) for line in self.lines()
        )

    def record(self) -> dict[str, Any]:
        """What is kept of it: name, bytes, digest of what was kept, whether it was cut."""
        digest = hashlib.sha256()
        for chunk in self._chunks():
            digest.update(chunk)
        return {
            "file": self.path.name,
            "bytes": self.size(),
            "sha256": digest.hexdigest(),
            "cut": self.was_cut,
        }

    def _chunks(self) -> Iterator[bytes]:
        at = 0
        while chunk := os.pread(self.descriptor, _CHUNK, at):
            yield chunk
            at += len(chunk)


@dataclass(frozen=True)
class Outputs:
    """Standard output and standard error of a step."""

    out: Capped
    err: Capped

    @classmethod
    def make(cls, folder: Path, name: str, limit: int) -> Self:
        """New files in `folder`, named after the step."""
        stem = re.sub(r"[^A-Za-z0-9._-]+", "-", name)[:80]
        return cls(Capped(folder / f"{stem}.out", limit), Capped(folder / f"{stem}.err", limit))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.out.close()
        self.err.close()

    def are_over(self) -> bool:
        """Whether one of them passed its limit. It is cut at once, so that the disk does not
        fill while the program is being ended."""
        for one in (self.out, self.err):
            one.cut()
        return self.out.was_cut or self.err.was_cut

    def too_long(self) -> str:
        """In words, what was too long."""
        return f"the output passed {self.out.limit / _MB:g} MB and was cut"

    def have(self, expression: str) -> bool:
        """Whether a line of either matches."""
        return self.out.has(expression) or self.err.has(expression)

    def tail(self, count: int) -> str:
        """The end of the output, or of the errors where there is no output; to be shown."""
        return words.printable(self.out.tail(count) or self.err.tail(count))

    def last_lines(self, count: int) -> str:
        """The end of the errors or the output, in a line for a message."""
        return words.last_lines(self.err.tail(count), self.out.tail(count))
