"""How gunicorn serves BenchHub: two workers of many threads that share what was imported.

gthread, since a slow upload must not hold a worker: an idle worker has no thread yet, and each
upload may take as long as it likes. The application is imported once, before the fork, and
frozen out of the garbage collector's sight, so that its pages stay shared.
"""

import ctypes
import gc
import os
import socket
import struct
from contextlib import suppress
from typing import Any

from gunicorn.http import message  # type: ignore[import-untyped]

from benchhub.env import env_int, env_str, web_threads
from benchhub.logs import not_stalled

# Names of malloc.h: one pool for all threads, and blocks of the size of a page's parts come
# from the kernel and go back to it.
MALLOC = {-8: 1, -3: 131_072, -1: 131_072}  # M_ARENA_MAX, M_MMAP_THRESHOLD, M_TRIM_THRESHOLD
# A client that says nothing for so long, in the midst of a request, is let go.
SILENCE_S = env_int("WEB_SILENCE_S", 30, minimum=1, maximum=3600)

# An address of some hundred systems is answered by the application, in its own words: the cap
# below which gunicorn's setting is held would cut it off with a page of gunicorn's own.
message.MAX_REQUEST_LINE = 65_536

bind = [f"{env_str('BIND', '127.0.0.1')}:{env_int('PORT', 8000, minimum=1, maximum=65535)}"]
workers = env_int("WEB_WORKERS", 2, minimum=1, maximum=64)
worker_class = "gthread"
threads = web_threads()
preload_app = True
max_requests = 20_000
max_requests_jitter = 2_000
timeout = 60
graceful_timeout = 8
keepalive = 5
limit_request_line = 65_536
control_socket_disable = True
# Workers show that they live by touching a file: in memory where we may, never on a slow disk.
worker_tmp_dir = "/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else None  # noqa: S108
loglevel = "warning"
umask = 0o077
proc_name = "benchhub"


def lean_allocator() -> None:
    """Have the C library's allocator give memory back instead of keeping it for each thread.

    It would make a pool for every new thread, and keep in each what pages needed for a moment:
    measured by `make bench`, some 25 MB more in two workers.
    """
    with suppress(OSError, AttributeError):  # another C library has no such thing
        allocator = ctypes.CDLL(None)
        for name, value in MALLOC.items():
            allocator.mallopt(name, value)


def when_ready(server: Any) -> None:
    """Before the workers are forked: load what every request needs, and keep it for ever."""
    for listener in server.LISTENERS:
        patience = struct.pack("ll", SILENCE_S, 0)
        # Handed down to each connection; a timeout of gunicorn's own ends with the headers.
        listener.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, patience)
    server.log.error_log.addFilter(not_stalled)
    from django.template import engines
    from django.urls import get_resolver

    get_resolver().check()
    engines.all()
    gc.collect()
    gc.freeze()


def post_worker_init(worker: Any) -> None:
    """Hold one idle connection to SQLite, so that its log and index of the log stay.

    The last connection to close takes them away, and the next to open makes them anew: work
    for nothing, and on a full disk no page could be read any more.
    """
    from django.db import DatabaseError, connection

    if connection.vendor == "sqlite":
        worker.held = connection.copy()
        with suppress(DatabaseError), worker.held.cursor() as cursor:
            cursor.execute("PRAGMA schema_version")


def worker_exit(server: object, worker: Any) -> None:
    """Let go of it: whoever is last writes the log into the database."""
    held = getattr(worker, "held", None)
    if held is not None:
        held.close()


def pre_request(worker: object, request: Any) -> None:
    """Let benchhub.bodies announce that the connection ends with the answer."""
    request.body.force_close = request.force_close


lean_allocator()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchhub.settings")
