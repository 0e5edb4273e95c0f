"""One BenchHub in a process of its own, on the folder VAR, that does what it is told.

A request is a line of JSON on standard input, {"do": name, …}; its answer is a line on
standard output, {"answer": …} or {"error": traceback}. Times are seconds.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import sys
import time
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchhub.settings")
django.setup()

from django.core.cache import caches  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402

from benchhub.prepare import collect_static  # noqa: E402
from tests.bench import bare  # noqa: E402
from tests.bench.fill import fill, ingest  # noqa: E402
from tests.bench.sample import Shape, make_bundle  # noqa: E402

KEPT = ".kept"
LONGEST_TRACE = 4_000


def migrate() -> None:
    call_command("migrate", interactive=False, verbosity=0)


def make(systems: int, repeats: int) -> int:
    """Fill the database; how many measurements it then has. Leaves no write-ahead log."""
    stored = fill(Shape(systems, repeats))
    connection.close()
    return stored


def keep() -> str:
    """Remember the database as it is now, for `restore`; the path of the copy."""
    connection.close()
    shutil.copyfile(_database(), _database() + KEPT)
    return _database() + KEPT


def restore() -> None:
    """Put the remembered database back."""
    connection.close()
    for ending in ("-wal", "-shm"):
        Path(_database() + ending).unlink(missing_ok=True)
    shutil.copyfile(_database() + KEPT, _database())


def _database() -> str:
    return str(connection.settings_dict["NAME"])


def get(path: str, anew: bool) -> float:
    """How long a GET takes, from the request to the whole answer in hand.

    `anew`: the page is made for this request, as if something had just changed; else it
    may be one that was kept.
    """
    _forget(anew)
    start = time.perf_counter()
    status = _get(path)
    seconds = time.perf_counter() - start
    _require_ok(status, path)
    return seconds


def count_queries(path: str, anew: bool) -> int:
    """How many queries a GET takes; `anew` as in `get`."""
    _forget(anew)
    with CaptureQueriesContext(connection) as context:
        status = _get(path)
    _require_ok(status, path)
    return len(context)


def _forget(anew: bool) -> None:
    if anew:
        caches["pages"].clear()


@cache
def _client() -> Client:
    """One for all requests: each new one loads the middleware anew."""
    return Client(SERVER_NAME="localhost")


def _get(path: str) -> int:
    response = _client().get(path)
    if response.streaming:
        b"".join(response)
    return response.status_code


def _require_ok(status: int, path: str) -> None:
    if status != 200:
        raise RuntimeError(f"{path} answered {status}")


def time_ingest(systems: int, repeats: int, batch: int, split: bool) -> tuple[float, float]:
    """How long a bundle takes from its JSON to its published, summarised rows."""
    bundle = make_bundle(systems, repeats, batch=batch, split=split)
    return _timed(lambda: ingest(bundle))


def time_bare(systems: int, repeats: int, batch: int, split: bool) -> tuple[float, float]:
    """How long a bare bulk_create of the same rows takes; the database is left without them."""
    bundle = make_bundle(systems, repeats, batch=batch, split=split)
    rows = bare.rows_of(lambda: ingest(bundle))
    return _timed(lambda: bare.store(rows))


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock, and of processor time."""
    connection.ensure_connection()
    gc.collect()
    start, busy = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - busy


DOES: dict[str, Callable[..., Any]] = {
    work.__name__: work
    for work in (
        collect_static,
        count_queries,
        get,
        keep,
        make,
        migrate,
        restore,
        time_bare,
        time_ingest,
    )
}


def main() -> None:
    """Answer until standard input ends. What others print goes to standard error."""
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"answer": DOES[request.pop("do")](**request)}
        except Exception:
            # The parent reports it.
            answer = {"error": traceback.format_exc()[-LONGEST_TRACE:]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
