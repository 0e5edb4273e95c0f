"""A PostgreSQL server of the tests' own; every version that Debian has will do."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from tests.servers.private import Private, account, as_account, environment, own_folder, program

PACKAGE = "postgresql"
INSTALLED = Path(os.environ.get("POSTGRESQL", "/usr/lib/postgresql"))
USER = "benchhub"
# Sorted as by most servers, unlike SQLite: hyphens and case count last.
ENGLISH = ("--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en-US")
# What is lost when the machine itself goes down is of no use to anybody.
FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


def binary(name: str) -> str:
    """A program of PostgreSQL: Debian keeps them out of PATH, by version."""
    versions = sorted(INSTALLED.glob("*/bin"), key=lambda path: _number(path.parent.name))
    return program(name, PACKAGE, *map(str, versions))


def _number(version: str) -> float:
    return float(version) if version.replace(".", "", 1).isdigit() else 0.0


class Postgres(Private):
    """PostgreSQL on loopback with a password of its own; `url(name)` is a database's address."""

    name = "postgres"
    last = signal.SIGQUIT  # it and its children end at once
    gentle = signal.SIGINT  # does not wait for who is connected

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.password = secrets.token_hex(16)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def make(self) -> None:
        """Make the data folder, which no server may have used before."""
        words = self.folder / "password"
        words.write_text(self.password)
        words.chmod(0o600)
        if owner := account():
            shutil.chown(words, owner)
        argv = [binary("initdb"), "--no-sync", "-D", str(self.data), "-U", USER]
        argv += ["--auth=scram-sha-256", f"--pwfile={words}", "--encoding=UTF8", *ENGLISH]
        done = subprocess.run(
            argv,
            cwd=self.folder,
            env=environment(self.folder),
            capture_output=True,
            text=True,
            check=False,
            **as_account(),
        )
        assert done.returncode == 0, done.stdout + done.stderr
        words.unlink()

    def argv(self) -> list[str]:
        settings = [
            f"port={self.port}",
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            "max_connections=80",
            *FAST,
        ]
        return [
            binary("postgres"),
            "-D",
            str(self.data),
            *(word for setting in settings for word in ("-c", setting)),
        ]

    def answers(self) -> bool:
        try:
            self.run("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def url(self, database: str = "postgres") -> str:
        """The address of a database, as DATABASE_URL takes it."""
        return f"postgres://{USER}:{self.password}@127.0.0.1:{self.port}/{database}"

    def run(
        self, statement: str, *values: Any, database: str = "postgres"
    ) -> list[tuple[Any, ...]]:
        """What a statement gives, outside of a transaction."""
        with psycopg.connect(self.url(database), autocommit=True, connect_timeout=10) as line:
            found = line.execute(statement.encode(), values or None)
            return found.fetchall() if found.description else []

    def new_database(self) -> str:
        """The name of an empty database."""
        name = f"hub_{secrets.token_hex(4)}"
        self.run(f"CREATE DATABASE {name}")
        return name


@contextmanager
def running() -> Iterator[Postgres]:
    """A server in a folder of its own; both are gone in the end."""
    with own_folder("postgres") as folder:
        server = Postgres(folder)
        server.make()
        try:
            server.start()
            yield server
        finally:
            server.stop()
