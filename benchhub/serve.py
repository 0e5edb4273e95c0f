"""`make serve`: check the machine, prepare the data, keep web server, reader and worker running.

Run as `python -m benchhub.serve`; PORT, BIND and VAR come from the environment. The process
that supervises stays small: what needs Django runs in a child (benchhub.prepare).
"""

import errno
import fcntl
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import IO

from django.core.exceptions import ImproperlyConfigured

from benchhub.env import env_int, env_str, var_folder
from benchhub.supervisor import NotStartedError, Service, Supervisor, in_child, say

BASE_DIR = Path(__file__).resolve().parent.parent
LEAST_FREE_MB = 200
EVERYWHERE = frozenset({"0.0.0.0", "::", "[::]"})  # noqa: S104


class CannotServeError(Exception):
    """A foreseeable reason not to start, in words for the person at the terminal."""


def main() -> int:
    """Serve until Ctrl-C or SIGTERM: 0. What prevents it is one message: 1."""
    os.umask(0o077)
    os.chdir(BASE_DIR)
    try:
        serve()
    except (CannotServeError, ImproperlyConfigured, NotStartedError) as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        say("stopped before it was up.")
        return 1
    return 0


def serve() -> None:
    """Check, prepare, run. Raises CannotServeError for what is foreseeable."""
    bind, port = env_str("BIND", "127.0.0.1"), env_int("PORT", 8000, minimum=1, maximum=65535)
    folder = var_folder(BASE_DIR)
    os.environ.update(VAR=str(folder), PORT=str(port), BIND=bind)
    address = f"http://{'127.0.0.1' if bind in EVERYWHERE else bind}:{port}/"
    check_disk(folder)
    with lock(folder, address):
        check_port(bind, port)
        prepare()
        web = Service("the web server", web_command(), ready=lambda: answers(bind, port))
        reader = Service("the reader of uploads", reader_command())
        # The last one: what it has to look at and to compile keeps no page waiting.
        worker = Service("the worker of this host", worker_command())
        Supervisor([reader, web, worker]).run(lambda: say(f"serving at {address} (Ctrl-C ends it)"))
        say("stopped.")


def web_command() -> list[str]:
    """gunicorn's argument list, of this very Python."""
    config = "python:benchhub.gunicorn_conf"
    return [sys.executable, "-m", "gunicorn", "--config", config, "benchhub.wsgi:application"]


def reader_command() -> list[str]:
    """The process that reads uploads and publishes what is due."""
    return [sys.executable, "manage.py", "intake"]


def worker_command() -> list[str]:
    """The process that measures on this machine."""
    return [sys.executable, "manage.py", "worker"]


def check_disk(folder: Path) -> None:
    """Refuse to start where a database could not grow."""
    free_mb = shutil.disk_usage(folder).free // 10**6
    if free_mb < LEAST_FREE_MB:
        raise CannotServeError(
            f"the disk of VAR={folder} has {free_mb} MB free; BenchHub wants {LEAST_FREE_MB} MB. "
            "Make room, or choose another folder: make serve VAR=/path"
        )


def lock(folder: Path, address: str) -> IO[str]:
    """Hold `folder` for this process; the kernel lets go of it however the process ends."""
    path = folder / "serve.lock"
    try:
        file = path.open("a+", encoding="utf-8")
    except OSError as error:
        raise CannotServeError(f"{path}: {error.strerror}.") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.seek(0)
        holder = file.read().strip() or "another process"
        file.close()
        raise CannotServeError(
            f"VAR={folder} is in use by {holder}. Stop that one, or choose another folder: "
            "make serve VAR=/path PORT=8001"
        ) from None
    file.truncate(0)
    file.write(f"process {os.getpid()} at {address}\n")
    file.flush()
    return file


def check_port(bind: str, port: int) -> None:
    """Refuse a port that is taken or not ours to take, and say how to choose another."""
    host = bind.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except socket.gaierror:
            raise CannotServeError(f"BIND={bind} is no address of this machine.") from None
        except OSError as error:
            raise CannotServeError(port_message(bind, port, error)) from None


def port_message(bind: str, port: int, error: OSError) -> str:
    """What is wrong with the port, and what to do."""
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is taken. Choose another: make serve PORT={port + 1}"
    if error.errno == errno.EACCES:
        return f"port {port} is for root only. Choose one above 1023: make serve PORT=8000"
    return f"BIND={bind} PORT={port}: {error.strerror}."


def prepare() -> None:
    """Database, reference data, static files, first admin: in a child that then is gone."""
    argv = [sys.executable, "-m", "benchhub.prepare"]
    done = subprocess.run(argv, check=False, preexec_fn=in_child)
    if done.returncode:
        raise CannotServeError("not started: see the line above.")


def answers(bind: str, port: int) -> bool:
    """Does something speak HTTP there? By hand: http.client alone would cost 4 MB for ever."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1", "[::]": "::1"}.get(bind, bind)  # noqa: S104
    try:
        with socket.create_connection((host.strip("[]"), port), timeout=5) as connection:
            connection.sendall(b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n")
            return connection.recv(5) == b"HTTP/"
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main())
