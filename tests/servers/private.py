"""Server processes that are the tests' own: unprivileged, on loopback, gone with the tests."""

from __future__ import annotations

import contextlib
import ctypes
import os
import pwd
import random
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import psutil

from tests.benchhub.processes import DEADLINE_S, gone, wait_for

# Below those that the kernel gives to outgoing connections: nobody takes the port of a server
# while it is restarted.
PORTS = range(20_000, 32_000)
PR_SET_PDEATHSIG = 1


class MissingServerError(RuntimeError):
    """A program is not on this machine; the text says which package has it."""


def program(name: str, package: str, *folders: str) -> str:
    """The path of a server program, from PATH or else `folders` (the last of them first)."""
    for folder in (None, *reversed(folders)):
        if found := shutil.which(name, path=folder):
            return found
    raise MissingServerError(f"{name} is not here: install the package {package} (make test does).")


def private_port() -> int:
    """A port of loopback where nobody listens."""
    for port in random.sample(PORTS, 100):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


def listens(port: int) -> bool:
    """Whether somebody takes connections on that port of loopback."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5):
        return True
    return False


def account() -> str | None:
    """Who runs the servers: None, ourselves; for root, who may not, somebody without rights."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in known)


@contextmanager
def own_folder(name: str) -> Iterator[Path]:
    """A folder of the account's own that no other account may enter, gone in the end."""
    folder = Path(tempfile.mkdtemp(prefix=f"benchhub-{name}-", dir=_open_to_all()))
    try:
        if owner := account():
            shutil.chown(folder, owner)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _open_to_all() -> Path:
    """A folder for temporary files that an account without rights can reach."""
    for folder in (Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp")):  # noqa: S108
        if all(_may_pass(place) for place in (folder, *folder.parents)):
            return folder
    raise AssertionError("no folder for temporary files is open to all")


def _may_pass(folder: Path) -> bool:
    return folder.is_dir() and bool(folder.stat().st_mode & stat.S_IXOTH)


def _end_with_us(number: signal.Signals) -> Callable[[], None]:
    """Between fork and exec, after the change of account: end when the tests' process ends."""

    def prepare() -> None:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)

    return prepare


def environment(folder: Path) -> dict[str, str]:
    """What a server needs, in English, and nothing of ours."""
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8"}


def started(
    argv: Sequence[str], folder: Path, log: IO[bytes], last: signal.Signals
) -> subprocess.Popen[bytes]:
    """A server process in a group of its own; `last` is the signal when the tests are gone."""
    return subprocess.Popen(
        argv,
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        process_group=0,
        preexec_fn=_end_with_us(last),  # noqa: PLW1509  no thread starts a server
        **as_account(),
    )


def as_account() -> dict[str, Any]:
    """The keywords of subprocess that run something under the servers' account."""
    name = account()
    if name is None:
        return {}
    entry = pwd.getpwnam(name)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


class Private(ABC):
    """A server that can be stopped, killed and started again on its port.

    To be started from the thread that lives as long as the tests: the kernel ends the server
    with the thread that made it.
    """

    name = ""
    last = signal.SIGKILL  # when the tests' process is gone
    gentle = signal.SIGTERM

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = private_port()
        self.process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def argv(self) -> list[str]:
        """The server's command line."""

    def answers(self) -> bool:
        """Whether it does its work."""
        return listens(self.port)

    @property
    def log(self) -> Path:
        return self.folder / f"{self.name}.log"

    def start(self) -> None:
        """Start it and wait until it answers."""
        with self.log.open("ab") as log:
            self.process = started(self.argv(), self.folder, log, self.last)
        process = self.process
        wait_for(lambda: process.poll() is not None or self.answers())
        assert process.poll() is None, self.log.read_text()

    def stop(self) -> None:
        """End it in order and wait for it."""
        self._end(self.gentle)

    def kill(self) -> None:
        """End it as a power cut would, and wait for it."""
        self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> None:
        if self.process is None:
            return
        # PostgreSQL's children have groups of their own: they are known by their parent.
        everything = [psutil.Process(self.process.pid)]
        everything += everything[0].children(recursive=True)
        try:
            self.process.send_signal(number)
            self.process.wait(timeout=DEADLINE_S)
        finally:
            for process in everything:
                with contextlib.suppress(psutil.Error):
                    process.kill()
            self.process.wait()
            self.process = None
            wait_for(lambda: gone(process.pid for process in everything))
