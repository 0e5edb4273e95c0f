"""How web workers have uploads read: they ask the reader and wait a while.

With `settings.INTAKE` "here" it is done in this process: for commands and tests.
"""

from __future__ import annotations

import json
import socket
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection

from results.intake.place import address
from results.models import Upload

PATIENCE_S = 25.0
# While the reader is being started again, nobody listens.
KNOCK_S = 0.2
KNOCKS = 10
LOOK_S = 0.1


class OnDisk(NamedTuple):
    """A file that is not kept: its name and where it lies for the moment."""

    name: str
    path: str


def have_read(pk: int, *, patience_s: float = PATIENCE_S) -> None:
    """Have upload `pk` read; returns when that is done, or when patience is over."""
    if settings.INTAKE == "here":
        from results.intake.work import process

        process(pk)
        return
    until = time.monotonic() + patience_s
    _ask({"do": "upload", "id": pk}, patience_s)
    # Another request or the sweep may have been quicker: then the answer comes at once.
    while _is_being_read(pk) and time.monotonic() < until:
        time.sleep(LOOK_S)


def _is_being_read(pk: int) -> bool:
    waiting = Upload.objects.filter(pk=pk, state=Upload.State.RECEIVED)
    found = waiting.exclude(claim="").exists()
    connection.close()
    return found


def have_looked_at(
    files: Sequence[OnDisk],
    given: dict[str, Any],
    *,
    lab: int | None,
    account: int | None,
    token: int | None,
    corrects: int | None = None,
) -> dict[str, Any] | None:
    """The report of files of which nothing is stored; None if it took too long or failed."""
    asked = {
        "do": "look",
        "files": [list(file) for file in files],
        "given": given,
        "lab": lab,
        "account": account,
        "token": token,
        "corrects": corrects,
    }
    if settings.INTAKE == "here":
        from results.intake.jobs import look_at

        return look_at(asked)
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "report.json"
        _ask({**asked, "result": str(result)}, PATIENCE_S)
        if not result.exists():
            return None
        found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
        return found


def _ask(asked: dict[str, Any], patience_s: float) -> dict[str, Any]:
    """The reader's answer; empty if it gave none in time. No connection is held meanwhile."""
    connection.close()
    until = time.monotonic() + patience_s
    for _knock in range(KNOCKS):
        try:
            return _exchange(asked, until)
        except (ConnectionError, FileNotFoundError):
            time.sleep(KNOCK_S)
        except TimeoutError:
            break
    return {}


def _exchange(asked: dict[str, Any], until: float) -> dict[str, Any]:
    with address(Path(settings.VAR)) as name, socket.socket(socket.AF_UNIX) as line:
        line.settimeout(max(0.1, until - time.monotonic()))
        line.connect(name)
        line.sendall(json.dumps(asked).encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            part = line.recv(65536)
            if not part:
                return {}
            answer += part
    found: dict[str, Any] = json.loads(answer)
    return found
