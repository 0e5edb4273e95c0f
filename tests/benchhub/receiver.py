"""A real gunicorn that takes files, clients that behave badly, and disks that fill up."""

from __future__ import annotations

import os
import re
import resource
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import psutil

from benchhub.serve import web_command
from tests.bench.remote import ROOT, environment
from tests.benchhub.processes import DEADLINE_S, free_port, wait_for

API = "/api/v1/receive/"
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')
SETTINGS = "tests.benchhub.receiving_settings"
DISK_MB = 8
# Long enough not to turn up in random bytes.
BOUNDARY = "end-of-a-part-of-this-form"
FORM = f"multipart/form-data; boundary={BOUNDARY}"
ENTER = """
set -e
mount -t tmpfs -o size="$1",mode=700 tmpfs "$2"
cp "$3"/benchhub.sqlite3 "$3"/secret-key "$3"/initial-admin-password "$2"
ln -s "$3"/static "$2"/static
shift 3
exec "$@"
"""


@dataclass(frozen=True)
class Answer:
    """What came back: status 0 if nothing did."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass(frozen=True)
class Server:
    """gunicorn as `make serve` starts it; `var` as seen from here."""

    process: subprocess.Popen[bytes]
    port: int
    var: Path

    @property
    def workers(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children()

    def pids(self) -> list[int]:
        return sorted(worker.pid for worker in self.workers)

    def rss_mb(self) -> float:
        return max(worker.memory_info().rss for worker in self.workers) / 1e6

    def incoming(self) -> list[str]:
        folder = self.var / "artefacts" / "incoming"
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """What the database says: a copy of it, with its log, where nobody else writes.

        A copy, because SQLite follows symbolic links by their text: through /proc/PID/root it
        would open a file of our own mounts, not of the server's.
        """
        name = "benchhub.sqlite3"
        with tempfile.TemporaryDirectory() as folder:
            for path in self.var.glob(f"{name}*"):
                if not path.name.endswith("-shm"):
                    shutil.copy(path, folder)
            with closing(sqlite3.connect(Path(folder) / name)) as database:
                return database.execute(query, values).fetchall()

    def stored(self, sha256: str) -> bytes:
        return (self.var / "artefacts" / sha256[:2] / sha256).read_bytes()

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE_S)

    def get(self, path: str = "/") -> Answer:
        return self.send(head(path, method="GET"))

    def send(self, *pieces: bytes) -> Answer:
        """Send all of it, as far as the server lets us, before looking for an answer."""
        with self.connect() as connection:
            with suppress(OSError):
                for piece in pieces:
                    connection.sendall(piece)
            return answer(connection)

    def upload(self, files: Iterable[tuple[str, bytes]], path: str = API) -> Answer:
        body = form(files)
        return self.send(head(path, len(body)), body)


def answer(connection: socket.socket) -> Answer:
    """Read an answer."""
    response = HTTPResponse(connection)
    try:
        response.begin()
        body = response.read()
    except (OSError, HTTPException):
        return Answer(0)
    return Answer(response.status, body, {k.lower(): v for k, v in response.getheaders()})


def head(
    path: str, length: int | None = None, *more: str, method: str = "POST", kind: str = FORM
) -> bytes:
    """The head of a request with a body of `length` bytes: a form, unless `kind` says else."""
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *more]
    if length is not None:
        lines += [
            f"Content-Length: {length}",
            f"Content-Type: {kind}",
        ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def form(files: Iterable[tuple[str, bytes]]) -> bytes:
    """A form of files."""
    lead = b'--%s\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n\r\n%s\r\n'
    mark = BOUNDARY.encode()
    parts = [lead % (mark, name.encode(), data) for name, data in files]
    return b"".join(parts) + b"--" + mark + b"--\r\n"


@contextmanager
def serving(var: Path, *, enter: Iterable[str] = (), **more: str) -> Iterator[Server]:
    """Serve `var`; `enter` is what the command is wrapped in."""
    port = free_port()
    env = environment(var, PORT=str(port), BIND="127.0.0.1", **more)
    env = {**env, "DJANGO_SETTINGS_MODULE": SETTINGS}
    process = subprocess.Popen([*enter, *web_command()], cwd=ROOT, env=env)
    seen = Path(f"/proc/{process.pid}/root{var}") if enter else var
    server = Server(process, port, seen)
    try:
        wait_for(lambda: process.poll() is not None or _listens(server))
        assert process.poll() is None, "gunicorn did not start"
        wait_for(lambda: len(server.workers) == int(more.get("WEB_WORKERS", "2")))
        yield server
    finally:
        process.terminate()
        process.wait(timeout=DEADLINE_S)


def _listens(server: Server) -> bool:
    with suppress(OSError):
        return server.get("/healthz").status in {200, 503}
    return False


class Tmpfs:
    """A disk of 8 MB of the server's own: a mount that only it sees."""

    def __init__(self, unshare: tuple[str, ...]) -> None:
        self.unshare = unshare

    @contextmanager
    def serving(self, template: Path, var: Path) -> Iterator[Server]:
        var.mkdir()
        size = f"{DISK_MB}m"
        enter = [*self.unshare, "sh", "-c", ENTER, "sh", size, str(var), str(template)]
        with serving(var, enter=enter) as server:
            yield server

    def fill(self, server: Server, left_kb: int = 0) -> None:
        """Leave `left_kb` KiB free."""
        ballast = server.var / "ballast"
        self.free(server)
        with suppress(OSError), ballast.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        os.truncate(ballast, max(0, ballast.stat().st_size // 4096 * 4096 - left_kb * 1024))

    def free(self, server: Server) -> None:
        (server.var / "ballast").unlink(missing_ok=True)


class Limit:
    """A limit on how large files may grow, set on the running server: works everywhere."""

    @contextmanager
    def serving(self, template: Path, var: Path) -> Iterator[Server]:
        shutil.copytree(template, var, symlinks=True, ignore=shutil.ignore_patterns("static"))
        (var / "static").symlink_to(template / "static")
        with serving(var) as server:
            yield server

    def fill(self, server: Server, left_kb: int = 0) -> None:
        """No file may be longer than `left_kb` KiB."""
        self._limit(server, left_kb * 1024)

    def free(self, server: Server) -> None:
        self._limit(server, resource.RLIM_INFINITY)

    def _limit(self, server: Server, size: int) -> None:
        for pid in server.pids():
            hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)[1]
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, hard))


def disks() -> dict[str, Tmpfs | Limit]:
    """The ways to fill a disk that this machine allows; one always is."""
    found: dict[str, Tmpfs | Limit] = {"limit": Limit()}
    for unshare in (("unshare", "-m"), ("unshare", "-rm")):
        probe = [*unshare, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
        if not shutil.which("unshare"):
            break
        if subprocess.run(probe, capture_output=True, check=False).returncode == 0:
            found["tmpfs"] = Tmpfs(unshare)
            break
    return found


class Browser:
    """A client with cookies, that signs in."""

    def __init__(self, server: Server) -> None:
        self.address = f"http://127.0.0.1:{server.port}"
        self.password = (server.var / "initial-admin-password").read_text().strip()
        cookies = urllib.request.HTTPCookieProcessor(CookieJar())
        self._opener = urllib.request.build_opener(cookies)

    def get(self, path: str) -> Answer:
        return self._open(urllib.request.Request(self.address + path))

    def sign_in(self) -> Answer:
        """Status 200 is that of the front page, after the redirect."""
        page = self.get("/accounts/login/")
        token = TOKEN.search(page.text)
        assert token, page
        fields = {"username": "admin", "password": self.password, "csrfmiddlewaretoken": token[1]}
        data = urllib.parse.urlencode(fields).encode()
        return self._open(urllib.request.Request(f"{self.address}/accounts/login/", data))

    def _open(self, request: urllib.request.Request) -> Answer:
        try:
            with self._opener.open(request, timeout=DEADLINE_S) as got:
                return Answer(got.status, got.read(), _lower(got.headers))
        except urllib.error.HTTPError as got:
            with got:
                return Answer(got.code, got.read(), _lower(got.headers))


def _lower(headers: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


class Slow:
    """An upload that is sent piece by piece."""

    def __init__(self, server: Server, name: str, data: bytes) -> None:
        self.data = data
        body = form([(name, data)])
        self._left = head(API, len(body)) + body
        self.connection = server.connect()

    def push(self, size: int) -> None:
        """Send the next `size` bytes."""
        piece, self._left = self._left[:size], self._left[size:]
        self.connection.sendall(piece)

    @property
    def left(self) -> int:
        return len(self._left)

    def end(self) -> Answer:
        """Send the rest, wait for the answer."""
        self.push(self.left)
        with self.connection:
            return answer(self.connection)


def pace(clients: list[Slow], size: int, seconds: int, over: threading.Event) -> None:
    """Send `size` bytes of each, every second; `over` is set in the end."""
    for _ in range(seconds):
        for client in clients:
            client.push(size)
        time.sleep(1)
    over.set()
