"""How gunicorn serves BenchHub: two workers of four threads that share what was imported.

gthread, since a slow upload must not hold a worker; the application is imported once, before
the fork, and frozen out of the garbage collector's sight, so that its pages stay shared.
"""

import gc
import os

from gunicorn.http import message  # type: ignore[import-untyped]

from benchhub.env import env_int, env_str

# An address of some hundred systems is answered by the application, in its own words: the cap
# below which gunicorn's setting is held would cut it off with a page of gunicorn's own.
message.MAX_REQUEST_LINE = 65_536

bind = [f"{env_str('BIND', '127.0.0.1')}:{env_int('PORT', 8000, minimum=1, maximum=65535)}"]
workers = env_int("WEB_WORKERS", 2, minimum=1, maximum=64)
worker_class = "gthread"
threads = env_int("WEB_THREADS", 4, minimum=1, maximum=64)
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


def when_ready(server: object) -> None:
    """Before the workers are forked: load what every request needs, and keep it for ever."""
    from django.template import engines
    from django.urls import get_resolver

    get_resolver().check()
    engines.all()
    gc.collect()
    gc.freeze()


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchhub.settings")
