"""What a database or a disk says that is nobody's mistake and over some time later.

PostgreSQL is understood by its codes, since its words come in the server's language; what has
no code is a connection that could not be made or was lost. SQLite is understood by its words.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import (
    IntegrityError,
    InterfaceError,
    OperationalError,
    connection,
    transaction,
)

P = ParamSpec("P")
R = TypeVar("R")

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
WORDS = (
    "database or disk is full",
    "disk i/o error",
    "unable to open database",
    "database is locked",
    "database table is locked",
    "no space left on device",
)
# Classes and codes of PostgreSQL's appendix A. Lost or refused connections, no resources
# (disk and connections among them), ended by the operator, the system's own errors; a standby.
PASSING_CODES = ("08", "53", "57P", "58", "25006")
# Two writers in each other's way: one was stopped, or waited too long.
CONTENTION_CODES = ("40001", "40P01", "55P03", "57014")
UNIQUE = "23505"
ATTEMPTS = 5


def disk_is_full(error: BaseException) -> bool:
    """Whether the operating system says so."""
    return isinstance(error, OSError) and error.errno in FULL


def database_is_away(error: BaseException) -> bool:
    """Whether the database could not be reached, or the connection to it was lost."""
    if isinstance(error, InterfaceError):
        return "closed" in str(error)
    if not isinstance(error, OperationalError) or not _is_of_postgresql(error):
        return False
    code = _code(error)
    return not code or code.startswith(("08", "57P", "53300"))


def database_passes(error: BaseException) -> bool:
    """Whether the database cannot do it just now: away, full, or too busy."""
    if database_is_away(error) or got_in_the_way(error):
        return True
    if not isinstance(error, OperationalError):
        return _code(error).startswith(PASSING_CODES)
    if _is_of_postgresql(error):
        return _code(error).startswith(PASSING_CODES)
    return any(words in str(error).lower() for words in WORDS)


def passes(error: BaseException) -> bool:
    """Whether disk or database are to blame, and the same may be done later."""
    return disk_is_full(error) or database_passes(error)


def got_in_the_way(error: BaseException) -> bool:
    """Whether another transaction did, so that this one is to be done again.

    Two may make the same row at once, or wait for each other; on SQLite writers take turns.
    """
    code = _code(error)
    if isinstance(error, IntegrityError):
        return code == UNIQUE
    return code in CONTENTION_CODES


def retried(change: Callable[P, R]) -> Callable[P, R]:
    """`transaction.atomic`, begun anew where another transaction got in the way.

    `change` must read what it needs by itself. Within another transaction it is done once:
    the outer one is what begins anew.
    """

    @wraps(change)
    def whole(*args: P.args, **kwargs: P.kwargs) -> R:
        attempts = 1 if connection.in_atomic_block else ATTEMPTS
        for attempt in range(attempts):
            try:
                with transaction.atomic():
                    return change(*args, **kwargs)
            except (IntegrityError, OperationalError) as error:
                if attempt == attempts - 1 or not got_in_the_way(error):
                    raise
        raise AssertionError("not reached")

    return whole


def _is_of_postgresql(error: BaseException) -> bool:
    return hasattr(error.__cause__, "sqlstate")


def _code(error: BaseException) -> str:
    """PostgreSQL's five signs; empty for SQLite and for what never reached the server."""
    return str(getattr(error.__cause__, "sqlstate", None) or "")
