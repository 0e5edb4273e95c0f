"""`runbench` measures on this machine, or has its worker do it, and says where it stands."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from results.models import Run
from runners.execute import execute_next
from runners.hosts import this_host
from runners.jobs import request_job
from runners.management.progress import Bar
from runners.models import Attempt, Host, Job
from tests.results.test_api_schema import closed
from tests.runners.given import LOG
from tests.runners.test_execute import marked

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("given_runner"),
]
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, settings: Any) -> Host:
    """This machine, with a folder of its own."""
    settings.VAR = tmp_path
    settings.ARTEFACT_ROOT = tmp_path / "artefacts"
    settings.HOST_NAME = "bench-here"
    return this_host(refresh=True)


def ran(*words: str, code: int = 0) -> tuple[str, str]:
    """What the command prints to its two outputs; it must end with `code`."""
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command("runbench", *words, stdout=out, stderr=err, no_color=True)
        ended = 0
    except SystemExit as end:
        ended = int(end.code or 0)
    assert ended == code, err.getvalue()
    return out.getvalue(), err.getvalue()


def triad_gb_s() -> float:
    """What the given program prints, in GB/s."""
    lines = LOG.read_text(encoding="utf-8").splitlines()
    return float(next(line for line in lines if line.startswith("Triad:")).split()[1]) / 1000


# Measuring


def test_it_measures_here_and_says_where_the_result_stands(reference: None) -> None:
    out, err = ran("stream", "-p", "ms=2000")
    run = Run.objects.get(jobs__benchmark="stream")
    lines = out.splitlines()
    (triad,) = [line for line in lines if line.startswith("triad.bandwidth")]
    assert "82.2 GB/s" in triad
    assert "rank 7 of 7" in triad
    assert "2,073 GB/s" in triad
    assert len(lines) == 5
    assert lines[-1] == f"The run: /runs/{run.pk}/ (draft)"
    assert "%" in err
    job = Job.objects.get()
    assert (job.state, job.actor_name, job.parameters["ms"]) == ("finished", "the hub", 2000)


def test_published_on_request_it_is_public() -> None:
    out, _err = ran("stream", "--publish", "-p", "ms=1")
    assert out.splitlines()[-1].endswith("(published)")
    assert Run.objects.get(jobs__benchmark="stream").is_published


def test_the_document_is_that_of_an_upload() -> None:
    import jsonschema
    from drf_spectacular.generators import SchemaGenerator

    out, err = ran("stream", "--json", "-p", "ms=1")
    assert err == ""
    found = json.loads(out)
    job = Job.objects.get()
    run = job.runs.get()
    assert (found.pop("job"), found["id"], found["state"], found["lab"]) == (
        job.pk,
        None,
        "parsed",
        "local",
    )
    generator: Any = SchemaGenerator
    schema = generator().get_schema(public=True)
    document = {"$ref": "#/components/schemas/UploadDocument", "components": schema["components"]}
    jsonschema.validate(found, closed(document))
    (told,) = found["runs"]
    assert (told["run"], told["system"], told["variant"]) == (
        run.pk,
        run.system.slug,
        {"placement": "all"},
    )
    assert found["systems"] == [run.system.slug]
    by_name = {one["metric"]: one for one in told["measurements"]}
    assert by_name["triad.bandwidth"]["value"] == pytest.approx(triad_gb_s())
    log = f"stream-job-{job.pk}.log"
    assert by_name["triad.bandwidth"]["evidence"]["artefact"] == log
    kinds = {file["name"]: file["kind"] for file in found["files"]}
    assert kinds == {log: "stream", f"job-{job.pk}-record.json": ""}


def test_what_failed_says_why_and_ends_with_1() -> None:
    out, err = ran("stream", "-p", "way=badly", "-p", "ms=1", code=1)
    assert out == ""
    assert "failed" in err
    assert "exit code 3" in err
    assert "Solution Validates" in err
    found = json.loads(ran("stream", "--json", "-p", "way=badly", "-p", "ms=1", code=1)[0])
    assert (found["state"], found["runs"]) == ("failed", [])
    assert "exit code 3" in found["problems"][0]["message"]


def test_what_waited_before_is_measured_before(here: Host) -> None:
    first = request_job(
        host=here, benchmark="stream", preset="standard", parameters={"ms": 1}, actor=None
    )
    ran("stream", "-p", "ms=1")
    states = list(Job.objects.order_by("pk").values_list("state", flat=True))
    assert states == ["finished", "finished"]
    starts = Attempt.objects.order_by("started_at").values_list("job", flat=True)
    assert starts[0] == first.pk


def test_a_worker_that_is_alive_executes_it(here: Host) -> None:
    Host.objects.update(seen_at=timezone.now() + timedelta(hours=1))
    done: list[Any] = []

    def work() -> None:
        try:
            while not done:
                attempt = execute_next(here)
                done.extend([attempt.pk] if attempt else [])
                time.sleep(0.05)
        finally:
            connection.close()

    worker = threading.Thread(target=work)
    worker.start()
    # Its own look at the machine does not make a worker of it.
    out, _err = ran("stream", "-p", "ms=300")
    worker.join()
    assert "The run: /runs/" in out
    assert Attempt.objects.get().pk == done[0]


# Refusing


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), ["Say which benchmark: stream"]),
        (("streem",), ["'streem'", "did you mean stream?"]),
        (("stream", "--preset", "quik"), ["quik", "standard"]),
        (("stream", "--host", "bench-hre"), ["'bench-hre'", "did you mean bench-here?"]),
        (("stream", "-p", "ms"), ["'ms'", "KEY=VALUE"]),
        (("stream", "-p", "mss=1"), ["'mss'", "did you mean ms?"]),
        (("stream", "-p", "ms=1", "-p", "ms=2"), ["ms: is given more than once"]),
        (("stream", "-p", "ms=-1"), ["'-1'", "from 0 to 600000"]),
        (("stream", "-p", "ms=1;reboot"), ["1;reboot", "from 0 to 600000"]),
        (("stream", "-p", "way=$(reboot)"), ["$(reboot)", "well, badly"]),
        (("stream", "-p", "way=a\nb\0c"), ["well, badly"]),
        (("stream", "-p", "way=" + "x" * 10**6), ["well, badly"]),
        (("stream", "-p", "ms=x", "-p", "way=up"), ["from 0 to 600000", "well, badly"]),
    ],
    ids=lambda found: repr(found)[:40],
)
def test_what_is_wrong_is_told_and_nothing_started(words: tuple[str, ...], told: list[str]) -> None:
    out, err = ran(*words, code=1)
    assert out == ""
    for text in told:
        assert text in err
    assert len(err) < 2_000
    assert not Job.objects.exists()
    found = json.loads(ran(*words, "--json", code=1)[0])
    assert (found["state"], found["job"], found["id"]) == ("rejected", None, None)
    assert "\n".join(problem["message"] for problem in found["problems"]).strip() == err.strip()


def test_a_host_that_is_away_is_told(here: Host) -> None:
    Host.objects.create(slug="far-away", name="Far", key="far")
    _out, err = ran("stream", "--host", "far-away", code=1)
    assert "far-away is away" in err
    assert "bench-here" in err


def test_the_list_says_what_is_ready_and_its_presets() -> None:
    out, _err = ran("--list")
    assert "stream: ready, 5.10" in out
    assert "  standard: Standard. takes a tenth of a second" in out
    assert not Job.objects.exists()


# Ending


def process(*words: str, folder: Path, **environment: str) -> subprocess.Popen[str]:
    """The command in a process of its own, on the test's database."""
    told = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.runners.child_settings",
        "TEST_DATABASE": str(connection.settings_dict["NAME"]),
        "TEST_VAR": str(folder),
        "HOST_NAME": "bench-here",
        **environment,
    }
    command = [sys.executable, str(ROOT / "manage.py"), "runbench", *words]
    return subprocess.Popen(
        command, env=told, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_cancels_the_job_and_waits_for_its_end(number: int, tmp_path: Path) -> None:
    started = process("stream", "-p", "way=stubborn", "-p", "ms=60000", folder=tmp_path)
    attempts = Attempt.objects.filter(session_id__isnull=False)
    while not attempts.exists():
        assert started.poll() is None, started.communicate()
        time.sleep(0.05)
    os.kill(started.pid, number)
    out, err = started.communicate()
    attempt = attempts.get()
    assert (started.returncode, out) == (128 + number, "")
    assert "cancelled" in err
    assert (attempt.state, attempt.job.state) == ("cancelled", "cancelled")
    assert marked(attempt.owner) == []
    assert not attempt.job.runs.exists()


def test_a_signal_before_its_turn_takes_it_out_of_the_queue(here: Host, tmp_path: Path) -> None:
    before = request_job(
        host=here, benchmark="stream", preset="standard", parameters={}, actor=None
    )
    never = "2099-01-01T00:00:00Z"
    before.attempts.update(state="running", owner="o", lease_until=never)
    Job.objects.update(state="running")
    started = process("stream", folder=tmp_path)
    while Job.objects.count() < 2:
        assert started.poll() is None, started.communicate()
        time.sleep(0.05)
    time.sleep(0.5)
    os.kill(started.pid, signal.SIGINT)
    _out, err = started.communicate()
    assert started.returncode == 130
    assert "waits for its turn (1 before it)" in err
    assert [job.state for job in Job.objects.order_by("pk")] == ["running", "cancelled"]


def test_an_empty_hub_makes_the_host_itself(tmp_path: Path) -> None:
    """In a folder of its own: VAR is honoured."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "benchhub.settings",
        "VAR": str(tmp_path / "var"),
        "HOST_NAME": "first-host",
    }

    def manage(*words: str) -> str:
        command = [sys.executable, str(ROOT / "manage.py"), *words]
        done = subprocess.run(
            command, env=environment, cwd=ROOT, text=True, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    manage("migrate", "-v", "0")
    found = json.loads(manage("runbench", "stream", "--json", "-p", "ms=1"))
    assert found["state"] == "parsed"
    assert found["runs"][0]["measurements"]
    assert (tmp_path / "var" / "scratch").is_dir()
    assert not Host.objects.filter(slug="first-host").exists()


# Progress


class Terminal(io.StringIO):
    """A stream that says that somebody looks at it."""

    def isatty(self) -> bool:
        return True


def attempt_at(progress: float, step: str = "measure", number: int = 1) -> Attempt:
    return Attempt(state="running", progress=progress, step=step, number=number)


def test_a_terminal_shows_one_line_that_is_redrawn() -> None:
    stream = Terminal()
    bar = Bar(stream, quiet=True)
    for share in (0.0, 0.0, 0.5):
        bar.show(attempt_at(share))
    bar.show(attempt_at(0.5, "again", 2))
    bar.done()
    lines = stream.getvalue().split("\r\x1b[K")
    assert lines == [
        "",
        "[........................]   0 %  measure",
        "[############............]  50 %  measure",
        "[############............]  50 %  attempt 2 · again",
        "",
    ]


def test_elsewhere_a_new_step_is_a_new_line_and_quiet_is_quiet() -> None:
    stream = io.StringIO()
    bar = Bar(stream)
    for share, step in ((0.0, "compile"), (0.1, "compile"), (0.5, "measure"), (0.6, "measure")):
        bar.show(attempt_at(share, step))
    bar.done()
    assert [line[-7:] for line in stream.getvalue().splitlines()] == ["compile", "measure"]
    silent = io.StringIO()
    Bar(silent, quiet=True).show(attempt_at(0.5))
    assert silent.getvalue() == ""
