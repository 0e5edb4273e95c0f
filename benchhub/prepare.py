"""Bring the folder VAR up to date: database, reference data, static files, first admin.

Run by benchhub.serve as a process of its own, so that Django's memory is gone again before
the server starts. Every step finds its work done at a second start. What fails for a
foreseeable reason is one line, not a traceback.
"""

import hashlib
import os
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path

import django
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.staticfiles.finders import get_finders
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db import DatabaseError

from benchhub.supervisor import say

ADMIN = "admin"
PASSWORD_FILE = "initial-admin-password"  # noqa: S105
# What no page of ours asks for: DRF's browsable pages; of htmx all but one file. Its extensions
# name types of files that are not there, which hashed names would be looked for.
IGNORED_STATIC = [
    "rest_framework",
    *(f"django_htmx/{name}" for name in ("ext/*", "htmx-4*", "htmax-*", "htmx-2.js", "django-*")),
]


def main() -> int:
    """All steps in order: 0, or 1 after one line that says what is wrong."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchhub.settings")
    try:
        django.setup()
        call_command("migrate", interactive=False, verbosity=0)
        call_command("load_reference", verbosity=0)
        collect_static()
        create_first_admin()
    except (ImproperlyConfigured, CommandError, DatabaseError, OSError) as error:
        say(explain(error))
        return 1
    except KeyboardInterrupt:
        return 1
    return 0


def explain(error: Exception) -> str:
    """An error in words that say what to do about it."""
    text = " ".join(str(error).split())
    lower = text.lower()
    if "disk is full" in lower or "no space left" in lower:
        return (
            f"the disk is full ({text}). Make room, or choose another folder: make serve VAR=/path"
        )
    if "readonly database" in lower or "unable to open database" in lower:
        return f"the database cannot be written ({text}). Look at who owns the folder VAR."
    if "malformed" in lower or "not a database" in lower:
        return f"the database file is damaged ({text}). Put a backup in its place."
    if isinstance(error, DatabaseError):
        return f"the database does not answer ({text})."
    return f"{text or type(error).__name__}."


def collect_static() -> None:
    """Copy, hash and compress the static files, unless the same ones lie there already."""
    stamp = Path(settings.STATIC_ROOT) / ".collected"
    now = static_digest()
    if stamp.exists() and stamp.read_text(encoding="ascii") == now:
        return
    call_command(
        "collectstatic", interactive=False, verbosity=0, ignore_patterns=IGNORED_STATIC, clear=True
    )
    stamp.write_text(now, encoding="ascii")


def static_digest() -> str:
    """A hash over name, size and time of all static files that are to be served."""
    seen = hashlib.sha256(repr(IGNORED_STATIC).encode())
    for line in sorted(_static_lines()):
        seen.update(line.encode())
    return seen.hexdigest()


def _static_lines() -> Iterator[str]:
    for finder in get_finders():
        for name, storage in finder.list(IGNORED_STATIC):
            state = Path(storage.path(name)).stat()
            yield f"{name} {state.st_size} {state.st_mtime_ns}\n"


def create_first_admin() -> None:
    """Where there is no account at all: `admin`, its password in a file only we can read."""
    users = get_user_model().objects
    if users.exists():
        return
    path = Path(settings.VAR) / PASSWORD_FILE
    users.create_superuser(ADMIN, password=_kept_password(path))
    say(f"the first account is '{ADMIN}'; its password is in {path}")


def _kept_password(path: Path) -> str:
    """The password in the file; made first if an earlier start did not get that far."""
    if path.exists() and (kept := path.read_text(encoding="ascii").strip()):
        return kept
    password = secrets.token_urlsafe(15)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(password + "\n")
        file.flush()
        os.fsync(file.fileno())
    path.chmod(0o600)
    return password


if __name__ == "__main__":
    sys.exit(main())
