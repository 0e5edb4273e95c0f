"""Files kept unchanged under their SHA-256, below `settings.ARTEFACT_ROOT`."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from pathlib import Path

from django.conf import settings

DIGEST = re.compile(r"[0-9a-f]{64}")


def digest(data: bytes) -> str:
    """The SHA-256 of a file, 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def path_of(sha256: str) -> Path:
    """Where the file of that digest lies, if it is stored. ValueError for no digest."""
    if not DIGEST.fullmatch(sha256):
        raise ValueError(f"{sha256[:80]!r} is no SHA-256")
    return Path(settings.ARTEFACT_ROOT) / sha256[:2] / sha256


def save(data: bytes) -> str:
    """Keep a file, whole or not at all; its digest. OSError if the disk does not take it."""
    sha256 = digest(data)
    path = path_of(sha256)
    if path.exists():
        return sha256
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f"{sha256}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with draft.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return sha256
