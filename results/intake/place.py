"""Where the reader of uploads listens."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NAME = "intake.sock"


@contextmanager
def address(folder: Path) -> Iterator[str]:
    """The socket's address. A socket's name may have 107 characters, a folder's more."""
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{held}/{NAME}"
    finally:
        os.close(held)
