"""The parent's end of a worker: `ask` sends a request and waits for the answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]
# What would make a worker another than the one that is served by default.
FOREIGN = (
    *("DATABASE_URL", "BROKER_URL", "DEBUG", "HTTPS", "BIND", "ALLOWED_HOSTS", "PROXIES"),
    *("WEB_WORKERS", "SECRET_KEY", "HOST_NAME"),
)


class RemoteError(RuntimeError):
    """A worker failed; the text is its traceback."""


def environment(var: Path, **more: str) -> Mapping[str, str]:
    """This process's environment, with VAR and nothing of a user's own settings."""
    kept = {name: text for name, text in os.environ.items() if name not in FOREIGN}
    return {**kept, "VAR": str(var), "DJANGO_SETTINGS_MODULE": "benchhub.settings", **more}


class Remote:
    """A worker on its own VAR; ends with the `with` block."""

    def __init__(self, var: Path) -> None:
        var.mkdir(parents=True, exist_ok=True)
        self.var = var
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=environment(var),
        )

    def ask(self, do: str, **arguments: Any) -> Any:
        """Have the worker do something. Raises RemoteError with what went wrong there."""
        if self._process.stdin is None or self._process.stdout is None:
            raise RemoteError("the worker has no pipes")
        self._process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RemoteError(f"the worker on {self.var.name} ended with {self._process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise RemoteError(answer["error"])
        return answer["answer"]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
