"""`make serve`, for real: on a free port, in a folder of its own, ended by signals."""

import http.cookiejar
import json
import os
import signal
import socket
import sqlite3
import stat
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser

from benchhub import serve
from benchhub.prepare import explain
from benchhub.serve import CannotServeError, check_disk, check_port, port_message
from tests.benchhub.processes import DEADLINE_S, ROOT, free_port, gone, processes_of, wait_for

# One process of pytest-xdist runs these, so that the first start is paid for once.
pytestmark = pytest.mark.xdist_group("serve")


@dataclass(frozen=True)
class Server:
    """A running `make serve`."""

    process: subprocess.Popen[str]
    address: str

    def get(self, path: str, **headers: str) -> tuple[int, bytes, dict[str, str]]:
        """Status, body, headers (lower case) of a GET."""
        request = urllib.request.Request(self.address + path, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE_S) as answer:
                return answer.status, answer.read(), lowered(answer.headers)
        except urllib.error.HTTPError as answer:
            with answer:
                return answer.code, answer.read(), lowered(answer.headers)

    def end(self, number: signal.Signals) -> str:
        """Signal the whole group, as a terminal does; what it had printed."""
        os.killpg(self.process.pid, number)
        out, _ = self.process.communicate(timeout=DEADLINE_S)
        return out


def lowered(headers: object) -> dict[str, str]:
    return {name.lower(): value for name, value in dict(headers).items()}  # type: ignore[call-overload]


def clean_environment(**values: str) -> dict[str, str]:
    """What a fresh shell has, and `values`; nothing of the test run's own settings."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**kept, **values}


def start(folder: Path, port: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["make", "serve"],
        cwd=ROOT,
        env=clean_environment(VAR=str(folder), PORT=str(port)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        process_group=0,
    )


@contextmanager
def served(folder: Path) -> Iterator[Server]:
    """`make serve` once it answers; whatever happens, nothing of it stays behind."""
    port = free_port()
    server = Server(start(folder, port), f"http://127.0.0.1:{port}")
    try:
        wait_for(lambda: server.process.poll() is not None or _answers(server))
        assert server.process.poll() is None, server.process.communicate()[0]
        yield server
    finally:
        with suppress(ProcessLookupError):
            os.killpg(server.process.pid, signal.SIGTERM)
        server.process.communicate(timeout=DEADLINE_S)


def _answers(server: Server) -> bool:
    try:
        return server.get("/healthz")[0] == 200
    except OSError:
        return False


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A VAR in which a server has been started and ended once."""
    folder = tmp_path_factory.mktemp("served") / "var"
    with served(folder):
        wait_for(lambda: seen_at(folder))
        # What its worker compiles is there before it listens.
        wait_for((folder / "queue").exists)
    return folder


def seen_at(folder: Path) -> str:
    """When the worker last said that this machine is there; empty before it does."""
    with closing(sqlite3.connect(folder / "benchhub.sqlite3")) as database:
        rows = database.execute("SELECT seen_at FROM runners_host").fetchall()
    return str(rows[0][0] or "") if rows else ""


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    """A second start, in the same VAR."""
    with served(folder) as server:
        yield server


def contents(folder: Path) -> dict[str, object]:
    """All that is kept: every row of the database, every other file's bytes and time.

    But not the row of this machine, whose worker writes there every few seconds.
    """
    with closing(sqlite3.connect(folder / "benchhub.sqlite3")) as database:
        rows = [row for row in database.iterdump() if 'INTO "runners_host"' not in row]
    kept: dict[str, object] = {"rows": rows}
    others = [path for path in folder.rglob("*") if "sqlite3" not in path.name]
    for path in others:
        if path.is_file() and path.name != "serve.lock":
            kept[str(path)] = (path.stat().st_mtime_ns, path.read_bytes())
    return kept


def test_the_reference_data_is_there_after_the_first_start(server: Server) -> None:
    status, body, _ = server.get("/api/v1/systems/")
    assert status == 200
    assert json.loads(body)["count"] == 38


@pytest.mark.parametrize("path", ["/", "/compare/", "/systems/", "/benchmarks/", "/admin/login/"])
def test_pages_are_answered(server: Server, path: str) -> None:
    status, _, headers = server.get(path)
    assert status == 200
    assert headers["content-security-policy"].startswith("default-src 'none'")


def test_the_chart_library_comes_compressed_and_is_kept_for_ever(
    server: Server, folder: Path
) -> None:
    manifest = json.loads((folder / "static" / "staticfiles.json").read_text())
    path = "/static/" + manifest["paths"]["vendor/plotly.min.js"]
    status, body, headers = server.get(path, **{"Accept-Encoding": "br"})
    assert status == 200
    assert headers["content-encoding"] == "br"
    assert "immutable" in headers["cache-control"]
    assert len(body) < 2_000_000


@pytest.mark.parametrize("path", ["/", "/compare/", "/systems/", "/benchmarks/"])
def test_a_browser_finds_every_file_and_no_reason_to_complain(
    server: Server, browser: Browser, path: str
) -> None:
    complaints: list[str] = []
    page = browser.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda message: complaints.append(message.text) if message.type == "error" else None,
    )
    page.on(
        "response",
        lambda answer: complaints.append(answer.url) if answer.status >= 400 else None,
    )
    page.goto(server.address + path, wait_until="networkidle")
    page.close()
    assert complaints == []


def test_the_first_admin_can_sign_in_with_the_kept_password(server: Server, folder: Path) -> None:
    path = folder / "initial-admin-password"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    jar = http.cookiejar.CookieJar()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    page = server.address + "/admin/login/?next=/admin/"
    opener.open(page).close()
    token = next(cookie.value for cookie in jar if cookie.name == "csrftoken")
    form = {
        "username": "admin",
        "password": path.read_text().strip(),
        "csrfmiddlewaretoken": str(token),
    }
    with opener.open(page, urllib.parse.urlencode(form).encode()) as answer:
        assert answer.url == server.address + "/admin/"


def test_what_is_kept_is_private(folder: Path, server: Server) -> None:
    for name in ("benchhub.sqlite3", "secret-key", "serve.lock"):
        assert stat.S_IMODE((folder / name).stat().st_mode) & 0o077 == 0


def test_a_second_server_in_the_same_folder_is_refused(server: Server, folder: Path) -> None:
    done = run_make(VAR=str(folder), PORT=str(free_port()))
    assert done.returncode != 0
    assert f"VAR={folder} is in use by process" in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize("path", ["/compare/", "/api/v1/compare/", "/api/v1/compare.csv"])
def test_five_hundred_systems_are_refused_in_words(server: Server, path: str) -> None:
    names = "&".join(f"system=a-system-with-quite-a-long-name-{n}" for n in range(500))
    status, body, _ = server.get(f"{path}?{names}")
    assert status == 400
    assert b"found 500 columns, expected at most 50" in body


def test_a_killed_web_server_is_brought_back(server: Server, folder: Path) -> None:
    [master] = [
        process
        for process in processes_of(folder)
        if "gunicorn" in process.cmdline() and process.parent() not in gunicorns(folder)
    ]
    workers = [child.pid for child in master.children()]
    master.kill()
    wait_for(lambda: gone([master.pid, *workers]) and _answers(server))


def gunicorns(folder: Path) -> list[psutil.Process]:
    return [process for process in processes_of(folder) if "gunicorn" in process.cmdline()]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_everything(tmp_path: Path, folder: Path, number: signal.Signals) -> None:
    copy = _copy_of(folder, tmp_path)
    with served(copy) as server:
        everything = [process.pid for process in processes_of(copy)]
        printed = server.end(number)
        assert len(everything) >= 4
        assert "Traceback" not in printed
        wait_for(lambda: gone(everything))


def test_a_killed_supervisor_leaves_no_orphan(tmp_path: Path, folder: Path) -> None:
    copy = _copy_of(folder, tmp_path)
    with served(copy):
        everything = processes_of(copy)
        [supervisor] = [p for p in everything if "benchhub.serve" in p.cmdline()]
        supervisor.kill()
        wait_for(lambda: gone(process.pid for process in everything))


def test_another_start_changes_nothing_that_is_kept(tmp_path: Path, folder: Path) -> None:
    copy = _copy_of(folder, tmp_path)
    before = contents(copy)
    seen = seen_at(copy)
    with served(copy) as server:
        assert server.get("/compare/")[0] == 200
        wait_for(lambda: seen_at(copy) != seen)
    assert contents(copy) == before


def test_jobs_are_measured_by_a_worker_beside_the_web_server(server: Server, folder: Path) -> None:
    def workers() -> list[psutil.Process]:
        return [p for p in processes_of(folder) if p.cmdline()[-2:] == ["manage.py", "worker"]]

    [worker] = wait_for(workers)
    seen = seen_at(folder)
    wait_for(lambda: seen_at(folder) != seen)
    status, body, _ = server.get("/api/v1/hosts/")
    assert status == 200
    assert json.loads(body)["count"] == 1
    worker.kill()
    wait_for(lambda: gone([worker.pid]) and workers())


def _copy_of(folder: Path, parent: Path) -> Path:
    """A VAR as the first start left it, its file times kept."""
    copy = parent / "var"
    subprocess.run(["cp", "-a", str(folder), str(copy)], check=True)
    for name in ("benchhub.sqlite3", "benchhub.sqlite3-wal", "benchhub.sqlite3-shm"):
        (copy / name).unlink(missing_ok=True)
    with (
        closing(sqlite3.connect(folder / "benchhub.sqlite3")) as left,
        closing(sqlite3.connect(copy / "benchhub.sqlite3")) as right,
    ):
        left.backup(right)
    return copy


def run_make(**values: str) -> subprocess.CompletedProcess[str]:
    """`make serve` that is expected to stop by itself; both streams in stdout."""
    return subprocess.run(
        ["make", "serve"],
        cwd=ROOT,
        env=clean_environment(**values),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )


def test_a_taken_port_is_told_with_the_way_out(tmp_path: Path) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        done = run_make(VAR=str(tmp_path / "var"), PORT=str(port))
    assert done.returncode != 0
    assert f"port {port} is taken. Choose another: make serve PORT={port + 1}" in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"PORT": "http"}, "PORT='http' is not a whole number"),
        ({"PORT": "70000"}, "PORT=70000 is not between 1 and 65535"),
        ({"BIND": "203.0.113.9"}, "BIND=203.0.113.9"),
        ({"VAR": "/dev/null/var"}, "VAR=/dev/null/var"),
        ({"HTTPS": "perhaps"}, "HTTPS='perhaps' is neither yes nor no"),
        ({"DATABASE_URL": "mysql://x"}, "DATABASE_URL begins with 'mysql'"),
    ],
)
def test_a_bad_setting_is_one_line(tmp_path: Path, values: dict[str, str], message: str) -> None:
    given = {"VAR": str(tmp_path / "var"), "PORT": str(free_port()), **values}
    done = run_make(**given)
    assert done.returncode != 0
    assert message in done.stdout
    assert "Traceback" not in done.stdout


def test_a_damaged_database_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "var"
    folder.mkdir()
    (folder / "benchhub.sqlite3").write_bytes(b"this is no database" * 100)
    done = run_make(VAR=str(folder), PORT=str(free_port()))
    assert "the database file is damaged" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_full_disk_is_told_before_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "LEAST_FREE_MB", 10**9)
    with pytest.raises(CannotServeError, match=r"MB free; BenchHub wants .* MB\. Make room"):
        check_disk(tmp_path)


def test_a_disk_that_fills_up_is_told_in_words() -> None:
    with pytest.raises(OSError, match="No space left") as caught:
        Path("/dev/full").write_text("x")
    assert explain(caught.value).startswith("the disk is full")


def test_a_database_without_room_is_told_in_words(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "small.sqlite3")) as database:
        database.execute("PRAGMA max_page_count = 1")
        with pytest.raises(sqlite3.OperationalError) as caught:
            database.execute("CREATE TABLE t (x)")
    assert explain(caught.value).startswith("the disk is full")


def test_a_port_of_root_is_told() -> None:
    message = port_message("127.0.0.1", 80, PermissionError(13, "Permission denied"))
    assert message == "port 80 is for root only. Choose one above 1023: make serve PORT=8000"


def test_an_address_that_is_not_ours_is_told() -> None:
    with pytest.raises(CannotServeError, match="no address of this machine"):
        check_port("no-such-host.invalid", 8000)
