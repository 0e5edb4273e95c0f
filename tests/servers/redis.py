"""A Redis server of the tests' own."""

from __future__ import annotations

import secrets
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

from tests.servers.private import MissingServerError, Private, account, own_folder, program

PACKAGE = "redis-server"


def binary() -> str:
    """redis-server, or Valkey, which is the same to its clients."""
    try:
        return program("redis-server", PACKAGE)
    except MissingServerError:
        return program("valkey-server", PACKAGE)


class Redis(Private):
    """Redis on loopback with a password of its own, keeping what it is told in a file."""

    name = "redis"
    last = signal.SIGKILL

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.password = secrets.token_hex(16)
        self.config = folder / "redis.conf"

    def make(self) -> None:
        """Write its settings; in a file, since a command line can be read by all."""
        lines = {
            "bind": "127.0.0.1",
            "port": self.port,
            "dir": self.folder,
            "requirepass": self.password,
            "appendonly": "yes",
            "save": '""',
            "daemonize": "no",
        }
        self.config.write_text("".join(f"{name} {value}\n" for name, value in lines.items()))
        self.config.chmod(0o600)
        if owner := account():
            shutil.chown(self.config, owner)

    def argv(self) -> list[str]:
        return [binary(), str(self.config)]

    @property
    def url(self) -> str:
        """Its address, as BROKER_URL takes it."""
        return f"redis://:{self.password}@127.0.0.1:{self.port}/0"

    def client(self) -> redis.Redis:
        return redis.Redis(port=self.port, password=self.password, socket_timeout=5)

    def answers(self) -> bool:
        try:
            with self.client() as client:
                return bool(client.ping())
        except redis.RedisError:
            return False


@contextmanager
def running() -> Iterator[Redis]:
    """A server in a folder of its own; both are gone in the end."""
    with own_folder("redis") as folder:
        server = Redis(folder)
        server.make()
        try:
            server.start()
            yield server
        finally:
            server.stop()
