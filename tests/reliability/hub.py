"""A whole BenchHub as `make serve` runs it: supervisor, web server, reader, SQLite file."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psutil
import psycopg

from tests.bench.remote import ROOT, environment
from tests.benchhub.processes import DEADLINE_S, free_port, wait_for
from tests.benchhub.receiver import BOUNDARY, Answer, Server, head

UPLOADS = "/api/v1/uploads/"
# One lab for each figure, so that each counts what is its own.
LABS = (
    *("killed", "same", "hostile", "bombs", "tokens", "disk", "slow", "jobs", "restarts"),
    "published",
)
SCOPES = {"jobs": ["run"], "published": ["publish"]}
# Jobs run what a test asks for; a dead worker is noticed soon.
JOBS = {"EXTRA_RUNNERS": "tests.runners.given", "JOB_LEASE_S": "4", "JOB_SWEEP_S": "1"}
MAKE_LABS = """
import json
from results import tokens
from results.models import Lab
labs = [Lab.objects.create(slug=slug, name=slug) for slug in {labs!r}]
scopes = {scopes!r}
made = [
    tokens.make(lab=lab, scopes=scopes.get(lab.slug, ["upload"]), name="", actor=None)
    for lab in labs
]
print(json.dumps({{lab.slug: secret for lab, (_token, secret) in zip(labs, made)}}))
"""
File = tuple[str, bytes]
# Passing on its own: the process was killed, is being started, or has too much to do.
AGAIN = frozenset({0, 502, 503})
# What the command lines of single processes end with.
ENDINGS = {"reader": " intake", "keeper": " manage.py worker"}


@dataclass(frozen=True)
class Hub(Server):
    """`process` is the supervisor; `tokens` the secret of each lab's token.

    `settings` are the variables that it was started with, beside VAR and PORT.
    """

    tokens: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        url = self.settings.get("DATABASE_URL")
        if url is None:
            return super().rows(query, *values)
        with psycopg.connect(url, autocommit=True) as line:
            found = line.execute(query.replace("?", "%s").encode(), values or None).fetchall()
        # As SQLite has it: JSON is a text.
        return [tuple(json.dumps(v) if isinstance(v, dict) else v for v in row) for row in found]

    @property
    def log(self) -> Path:
        """All that the processes printed."""
        return self.var.parent / "output.log"

    def find(self, which: str) -> list[psutil.Process]:
        """The living 'master', 'worker's or 'reader', as far as they are there."""
        children = _children(self.process.pid)
        masters = [p for p in children if "gunicorn" in _command(p)]
        if which == "master":
            return masters
        if which in ENDINGS:
            return [p for p in children if _command(p).endswith(ENDINGS[which])]
        return [worker for master in masters for worker in _children(master.pid)]

    @property
    def workers(self) -> list[psutil.Process]:
        return self.find("worker")

    def pids(self) -> list[int]:
        """All processes that must not die: two workers, their master, and the reader."""
        found = [p for which in ("master", "worker", "reader") for p in self.find(which)]
        return sorted(process.pid for process in found)

    def manage(self, *words: str) -> str:
        """What a command of manage.py prints on standard output."""
        argv = [sys.executable, "manage.py", *words]
        env = environment(self.var, **{**JOBS, **self.settings})
        done = subprocess.run(argv, cwd=ROOT, env=env, check=True, stdout=subprocess.PIPE)
        return done.stdout.decode()

    @property
    def database(self) -> Path:
        return self.var / "benchhub.sqlite3"

    def copy_to(self, folder: Path) -> None:
        """A VAR like this one's, without the artefacts, to start another hub on."""
        folder.mkdir()
        with (
            closing(sqlite3.connect(self.database)) as source,
            closing(sqlite3.connect(folder / self.database.name)) as target,
        ):
            source.backup(target)
        for name in ("secret-key", "initial-admin-password"):
            shutil.copy(self.var / name, folder)
        (folder / "static").symlink_to(self.var / "static")

    def order(
        self, lab: str, files: Iterable[File], fields: Iterable[tuple[str, str]] = ()
    ) -> Answer:
        """Upload for a lab, once; status 0 if no answer came."""
        body = form(files, fields)
        with suppress(OSError):
            return self.send(order_head(self.tokens[lab], len(body)), body)
        return Answer(0)

    def ask(self, lab: str, path: str) -> Answer:
        """GET as a lab; status 0 if no answer came."""
        key = f"Authorization: Token {self.tokens[lab]}"
        with suppress(OSError):
            return self.send(head(path, None, key, method="GET"))
        return Answer(0)

    def outcome(self, lab: str, number: int) -> dict[str, Any]:
        """The document of an upload once it was read."""

        def look() -> dict[str, Any]:
            got = self.ask(lab, f"{UPLOADS}{number}/")
            found: dict[str, Any] = json.loads(got.body) if got.status == 200 else {}
            return found if found.get("state") not in (None, "received") else {}

        return wait_for(look)


def patient(hub: Hub, lab: str, files: list[File], fields: list[tuple[str, str]]) -> list[Answer]:
    """Upload again and again until there is an answer; all answers, the last one first."""
    answers: list[Answer] = []
    end_s = time.monotonic() + DEADLINE_S
    while not answers or (answers[0].status in AGAIN and time.monotonic() < end_s):
        if answers:
            time.sleep(0.1)
        answers.insert(0, hub.order(lab, files, fields))
    return answers


def form(files: Iterable[File], fields: Iterable[tuple[str, str]] = ()) -> bytes:
    """A form of fields and files; lone surrogates of names and values go out as they are."""
    mark = f"--{BOUNDARY}\r\nContent-Disposition: form-data; name=".encode()
    parts = [
        b'%s"%s"\r\n\r\n%s\r\n' % (mark, _bytes(name), _bytes(value)) for name, value in fields
    ]
    parts += [
        b'%s"file"; filename="%s"\r\n\r\n%s\r\n' % (mark, _bytes(name), data)
        for name, data in files
    ]
    return b"".join(parts) + f"--{BOUNDARY}--\r\n".encode()


def order_head(secret: str, length: int) -> bytes:
    """The head of an upload with a token."""
    return head(UPLOADS, length, f"Authorization: Token {secret}")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _children(pid: int) -> list[psutil.Process]:
    with suppress(psutil.Error):
        found = psutil.Process(pid).children()
        return [child for child in found if child.status() != psutil.STATUS_ZOMBIE]
    return []


def _command(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""


@contextmanager
def running(folder: Path, **settings: str) -> Iterator[Hub]:
    """A hub with reference data and the labs, in `folder`; nothing of it stays running.

    `settings` are further variables: DATABASE_URL, BROKER_URL.
    """
    var, temporary = folder / "var", folder / "tmp"
    var.mkdir()
    temporary.mkdir()
    port = free_port()
    own = {**JOBS, **settings, "PORT": str(port), "BIND": "127.0.0.1", "TMPDIR": str(temporary)}
    env = environment(var, **own)
    with (folder / "output.log").open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "benchhub.serve"],
            cwd=ROOT,
            env=env,
            stdout=output,
            stderr=subprocess.STDOUT,
            process_group=0,
        )
    hub = Hub(process, port, var, settings=settings)
    try:
        wait_for(lambda: process.poll() is not None or "serving at" in hub.log.read_text())
        assert process.poll() is None, hub.log.read_text()
        printed = hub.manage("shell", "-c", MAKE_LABS.format(labs=LABS, scopes=SCOPES))
        secrets = json.loads(printed.splitlines()[-1])
        yield replace(hub, tokens=secrets)
    finally:
        end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """End a supervisor, and with it all that it runs."""
    with suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGTERM)
    process.wait(timeout=DEADLINE_S)
