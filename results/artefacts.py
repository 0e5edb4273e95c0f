"""Files kept unchanged under their SHA-256, below `settings.ARTEFACT_ROOT`.

A file comes in under a temporary name, is synced, and only then gets its place: what lies under
a digest is whole. Files that nobody names any more are removed by `remove_older`, which spares
what was kept a short time ago: its row may be about to be written.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from django.conf import settings

DIGEST = re.compile(r"[0-9a-f]{64}")
INCOMING = "incoming"
LOCK = ".lock"


def digest(data: bytes) -> str:
    """The SHA-256 of a file, 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def path_of(sha256: str) -> Path:
    """Where the file of that digest lies, if it is stored. ValueError for no digest."""
    if not DIGEST.fullmatch(sha256):
        raise ValueError(f"{sha256[:80]!r} is no SHA-256")
    return Path(settings.ARTEFACT_ROOT) / sha256[:2] / sha256


def incoming() -> Path:
    """The folder of what is not whole yet; made if it is missing. OSError if it cannot be."""
    folder = Path(settings.ARTEFACT_ROOT) / INCOMING
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def save(data: bytes) -> str:
    """Keep a file, whole or not at all; its digest. OSError if the disk does not take it."""
    sha256 = digest(data)
    if path_of(sha256).exists():
        with _locked(fcntl.LOCK_SH):
            if _refresh(path_of(sha256)):
                return sha256
    with Writer() as writer:
        writer.write(data)
        return writer.keep()


class Writer:
    """A file on its way in, hashed and counted piece by piece under a temporary name.

    Leaving the `with` removes what was not kept. Every method but `discard` raises OSError
    if the disk does not take it. `made_ns`: see `take_back`; None if the file was there.
    """

    def __init__(self) -> None:
        self.size = 0
        self.made_ns: int | None = None
        self._written_ns = 0
        self._seen = hashlib.sha256()
        self._path = incoming() / f"{os.getpid()}.{secrets.token_hex(8)}"
        self._file = self._path.open("xb")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.discard()

    def write(self, data: bytes) -> None:
        """Add a piece."""
        self._file.write(data)
        self._seen.update(data)
        self.size += len(data)

    def finish(self) -> str:
        """Sync what was written; its digest. Nothing can be added any more."""
        if not self._file.closed:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._written_ns = os.fstat(self._file.fileno()).st_mtime_ns
            self._file.close()
        return self._seen.hexdigest()

    def keep(self) -> str:
        """Give the file its place; its digest. One that is there already counts as new again."""
        sha256 = self.finish()
        path = path_of(sha256)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(fcntl.LOCK_SH):
            if not _refresh(path):
                self._path.replace(path)
                self.made_ns = self._written_ns
                _sync_folder(path.parent)
        self._path.unlink(missing_ok=True)
        return sha256

    def discard(self) -> None:
        """Remove what was not kept; harmless afterwards."""
        # On a full disk closing fails once more on what is still in the buffer.
        with suppress(OSError):
            self._file.close()
        self._path.unlink(missing_ok=True)


def stored() -> Iterator[str]:
    """The digests of all files that are kept, in no order."""
    for path in Path(settings.ARTEFACT_ROOT).glob("[0-9a-f][0-9a-f]/*"):
        if DIGEST.fullmatch(path.name):
            yield path.name


def remove_older(sha256: str, age_s: float) -> bool:
    """Remove a file that was last kept more than `age_s` seconds ago; whether it was.

    For a sweep that found no row naming the file. Whoever keeps the same file meanwhile
    either makes it young before this looks, or writes it anew.
    """
    path = path_of(sha256)
    with _locked(fcntl.LOCK_EX):
        if not _is_older(path, age_s):
            return False
        path.unlink()
    return True


def take_back(sha256: str, made_ns: int) -> bool:
    """Remove a file that a Writer made and nobody has kept since; whether it was.

    `made_ns` is the Writer's: whoever keeps the same file gives it another time.
    """
    path = path_of(sha256)
    with _locked(fcntl.LOCK_EX):
        try:
            if path.stat().st_mtime_ns != made_ns:
                return False
        except FileNotFoundError:
            return False
        path.unlink()
    return True


def clear_incoming(age_s: float) -> int:
    """Remove what killed processes left half written more than `age_s` seconds ago; how many."""
    left = [path for path in incoming().iterdir() if _is_older(path, age_s)]
    for path in left:
        path.unlink(missing_ok=True)
    return len(left)


def _is_older(path: Path, age_s: float) -> bool:
    try:
        return path.stat().st_mtime < time.time() - age_s
    except FileNotFoundError:
        return False


def _refresh(path: Path) -> bool:
    """Make a kept file young again; False if there is none."""
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


@contextmanager
def _locked(how: int) -> Iterator[None]:
    """Hold the store: shared by those who keep files, alone for the one who removes."""
    folder = Path(settings.ARTEFACT_ROOT)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / LOCK).open("ab") as file:
        fcntl.flock(file, how)
        yield


def _sync_folder(folder: Path) -> None:
    """Have the new name survive a power cut too."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
