"""A broker in files, `benchhub://`: kombu's virtual transport over a folder for each queue.

A message is written under a hidden name, synced and renamed, so that it is there whole or not
at all. It is taken by removing its file: of several consumers the one that does so has it.
Names begin with the wall clock, so that their order outlives a boot. Whatever else lies in a
queue's folder is set aside and stops nobody. A message that a killed consumer had taken is
gone: the jobs' rows are the truth, and a sweep rings again.

Routes are kept in memory, and there is no fan-out: a message goes to the queue it names.
"""

from __future__ import annotations

import itertools
import logging
import os
import re
import secrets
import shutil
import stat
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.exceptions import ChannelError, OperationalError
from kombu.transport import TRANSPORT_ALIASES, virtual
from kombu.utils.json import dumps, loads

SCHEME = "benchhub"
ASIDE = "set-aside"
MOST_ASIDE = 100
# A message is an id and its envelope, 2 KB; what is larger is none.
LARGEST = 1_000_000
# What a killed producer left half-written, s.
STRAY_S = 3600.0
QUEUE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._@-]{0,199}")
log = logging.getLogger("benchhub.transport")
_serial = itertools.count()


def register() -> None:
    """Make `benchhub://` known to kombu."""
    TRANSPORT_ALIASES[SCHEME] = f"{__name__}:Transport"


class QueueFolder:
    """The messages of one queue, a file each, the oldest first by name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: deque[str] = deque()
        self._said = ""

    def make(self) -> None:
        """Make the folder, for this account alone, where it is missing. Raises OSError."""
        for folder in (self.path.parent, self.path):
            with suppress(FileExistsError):
                folder.mkdir(mode=0o700, parents=True)

    def put(self, data: bytes) -> None:
        """Add a message; on the disk when this returns. Raises OSError, and leaves nothing."""
        try:
            self._put(data)
        except FileNotFoundError:
            # The folder was wiped away.
            self.make()
            self._put(data)

    def _put(self, data: bytes) -> None:
        name = f"{time.time_ns():020d}-{next(_serial):08d}-{secrets.token_hex(8)}.msg"
        draft, target = self.path / f".{name}", self.path / name
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            with os.fdopen(os.open(draft, flags, 0o600), "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            draft.rename(target)
            _sync(self.path)
        except OSError:
            for path in (draft, target):
                with suppress(OSError):
                    path.unlink()
            raise

    def take(self, read: Callable[[bytes], Any]) -> Any:
        """The oldest message, as `read` gives it, now this process's own; None if there is none.

        What `read` raises ValueError for is set aside. Never raises OSError: what is wrong with
        the folder is said once, and it is looked at again at the next call.
        """
        try:
            if not self._seen:
                self._seen.extend(self._list())
            while self._seen:
                found = self._take(self.path / self._seen.popleft(), read)
                if found is not None:
                    return found
            self._said = ""
        except OSError as error:
            self._say(str(error))
        return None

    def _take(self, path: Path, read: Callable[[bytes], Any]) -> Any:
        try:
            found = read(_contents(path))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            self._set_aside(path, str(error))
            return None
        try:
            path.unlink()
        except FileNotFoundError:
            # Another consumer was quicker.
            return None
        return found

    def _list(self) -> list[str]:
        """Names that may be messages, the oldest first. Raises OSError."""
        try:
            names = os.listdir(self.path)  # noqa: PTH208 (ten times a second)
        except FileNotFoundError:
            self.make()
            return []
        for name in names:
            if name.startswith("."):
                self._remove_stray(self.path / name)
        return sorted(name for name in names if not name.startswith(".") and name != ASIDE)

    def _remove_stray(self, path: Path) -> None:
        with suppress(OSError):
            if time.time() - path.lstat().st_mtime > STRAY_S:
                path.unlink()

    def _set_aside(self, path: Path, why: str) -> None:
        """Move away what is no message; the oldest of it goes when there is too much."""
        aside = self.path / ASIDE
        with suppress(FileExistsError):
            aside.mkdir(mode=0o700)
        with suppress(FileNotFoundError):
            path.rename(aside / f"{time.time_ns():020d}-{secrets.token_hex(4)}-{path.name[-100:]}")
            log.warning("%s is no message and was set aside: %s", path, why)
        kept = sorted(os.listdir(aside))  # noqa: PTH208
        for name in kept[:-MOST_ASIDE]:
            _remove(aside / name)

    def _say(self, text: str) -> None:
        if text != self._said:
            log.warning("the queue cannot be read: %s", text)
        self._said = text

    def size(self) -> int:
        """How many files wait. Raises OSError."""
        return len(self._list())

    def purge(self) -> int:
        """Remove all that waits; how many that were. Raises OSError."""
        self._seen.clear()
        removed = 0
        for name in self._list():
            with suppress(FileNotFoundError, IsADirectoryError):
                (self.path / name).unlink()
                removed += 1
        return removed


def _contents(path: Path) -> bytes:
    """All of a file; a link, a pipe or something huge is ValueError or OSError, and not read."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise ValueError("not a file")
        if about.st_size > LARGEST:
            raise ValueError(f"{about.st_size} bytes, expected at most {LARGEST}")
        return os.read(handle, LARGEST)
    finally:
        os.close(handle)


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class Channel(virtual.Channel):
    """A channel over the folders in `transport_options["folder"]`."""

    def __init__(self, connection: Any, **options: Any) -> None:
        super().__init__(connection, **options)
        self._root = Path(connection.client.transport_options["folder"])
        self._folders: dict[str, QueueFolder] = {}

    def _folder(self, queue: str) -> QueueFolder:
        """The queue's folder. Raises ChannelError for a name that is no folder's."""
        if queue not in self._folders:
            if not QUEUE.fullmatch(queue):
                raise ChannelError(f"{queue[:200]!r} is no name of a queue")
            self._folders[queue] = QueueFolder(self._root / queue)
        return self._folders[queue]

    def _new_queue(self, queue: str, **_: Any) -> None:
        with _said_by_kombu():
            self._folder(queue).make()

    def _put(self, queue: str, message: Any, **_: Any) -> None:
        with _said_by_kombu():
            self._folder(queue).put(dumps(message).encode())

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        message = self._folder(queue).take(self._read)
        if message is None:
            raise Empty
        return message

    def _read(self, data: bytes) -> Any:
        """The message as it was put. ValueError for anything else."""
        try:
            message = loads(data.decode())
            parts = (message["body"], str), (message["content-type"], str)
            way = message["properties"]["delivery_info"]
            whole = all(isinstance(*part) for part in (*parts, (way, dict)))
            self.Message(message, channel=self)
        except Exception as error:
            raise ValueError(f"{type(error).__name__}: {error}"[:200]) from None
        if not whole:
            raise ValueError("parts of a message are missing")
        return message

    def _size(self, queue: str) -> int:
        with _said_by_kombu():
            return self._folder(queue).size()

    def _purge(self, queue: str) -> int:
        with _said_by_kombu():
            return self._folder(queue).purge()


@contextmanager
def _said_by_kombu() -> Iterator[None]:
    """An OSError becomes the error that users of kombu expect of a broker."""
    try:
        yield
    except OSError as error:
        raise OperationalError(str(error)) from error


class Transport(virtual.Transport):
    """Messages in files of this machine."""

    Channel = Channel
    driver_type = "files"
    driver_name = SCHEME
    polling_interval = 0.1

    @property
    def default_connection_params(self) -> dict[str, Any]:
        """There is no host to connect to."""
        return {}

    def driver_version(self) -> str:
        return "1"
