"""One attempt from claim to end, with real processes: what becomes of it and of its result."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from results.models import Measurement, Run
from runners.execute import RowWatch, execute_next
from runners.jobs import cancel_job, request_job
from runners.models import Attempt, Host, Job
from tests.runners.conftest import asked
from tests.runners.given import LOG

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("given_runner"),
]


def executed(host: Host) -> Attempt:
    attempt = execute_next(host)
    assert attempt is not None
    attempt.job.refresh_from_db()
    return attempt


def marked(owner: str) -> list[int]:
    """Processes that carry an attempt's mark."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes()
        except OSError:
            continue
        if f"BENCHHUB_ATTEMPT={owner}".encode() in environment.split(b"\0"):
            found.append(int(folder.name))
    return found


def test_a_finished_job_leaves_a_run_with_the_lines_of_its_log(host: Host) -> None:
    job = asked(host)
    attempt = executed(host)
    assert (attempt.state, attempt.progress, attempt.job.state) == ("finished", 1.0, "finished")
    run = attempt.job.runs.get()
    assert (run.state, run.lab.slug, run.system, run.scope) == (
        "draft",
        "local",
        host.system,
        "system",
    )
    assert run.get_trust_display() == "verified"
    assert (run.version, run.parameters["placement"]) == ("5.10", "all")
    assert run.setup.fields["kernel"] == "6.18.44"
    triad = run.measurements.get(metric__workload="triad")
    lines = LOG.read_text(encoding="utf-8").splitlines()
    printed = next(line for line in lines if line.startswith("Triad:")).split()[1]
    assert triad.value == pytest.approx(float(printed) / 1000)
    assert triad.artefact is not None
    assert triad.artefact.name == f"stream-job-{job.pk}.log"
    assert triad.line_from is not None
    kept = store_of() / triad.artefact.sha256[:2] / triad.artefact.sha256
    log = kept.read_text(encoding="utf-8").splitlines()
    assert log[triad.line_from - 1].startswith("Triad:")
    assert {a.name for a in run.artefacts.all()} == {
        f"stream-job-{job.pk}.log",
        f"job-{job.pk}-record.json",
    }


def store_of() -> Path:
    """Where this test's files are kept."""
    return Path(settings.ARTEFACT_ROOT)


def test_a_job_may_publish_what_it_measures(host: Host) -> None:
    request_job(
        host=host, benchmark="stream", preset="standard", parameters={}, actor=None, publish=True
    )
    run = executed(host).job.runs.get()
    assert run.is_published
    assert host.system is not None
    host.system.refresh_from_db()
    assert host.system.is_public


def test_two_equal_jobs_are_two_runs(host: Host) -> None:
    asked(host)
    asked(host)
    first, second = executed(host), executed(host)
    assert first.job.runs.get() != second.job.runs.get()
    assert execute_next(host) is None


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("badly", "exit code 3"),
        ("unfinished", "Solution Validates"),
        ("cut", "the output was refused"),
        ("flood", "cut"),
    ],
)
def test_what_did_not_end_well_is_no_result(host: Host, way: str, words: str) -> None:
    asked(host, way=way)
    attempt = executed(host)
    assert (attempt.state, attempt.job.state) == ("failed", "failed")
    assert words in attempt.message
    assert "part 10 of 10" not in attempt.message
    assert attempt.job.message == attempt.message
    assert not attempt.job.runs.exists()
    assert not Run.objects.filter(system=host.system).exists()
    assert attempt.ended_at is not None
    assert not list(store_of().parent.glob("scratch/*"))


def test_a_cancelled_run_is_never_taken(host: Host) -> None:
    job = asked(host, ms=60_000)
    thread = threading.Thread(target=_cancel_once_it_runs, args=(job.pk,))
    thread.start()
    attempt = executed(host)
    thread.join()
    assert (attempt.state, attempt.job.state) == ("cancelled", "cancelled")
    assert not attempt.job.runs.exists()
    assert marked(attempt.owner) == []


def _cancel_once_it_runs(pk: int) -> None:
    try:
        while not Attempt.objects.filter(job=pk, session_id__isnull=False).exists():
            time.sleep(0.02)
        cancel_job(Job.objects.get(pk=pk), actor=None)
    finally:
        connection.close()


def test_a_stubborn_tree_of_processes_is_ended_when_its_job_is(host: Host) -> None:
    job = asked(host, way="stubborn", ms=60_000)
    thread = threading.Thread(target=_cancel_once_it_runs, args=(job.pk,))
    thread.start()
    attempt = executed(host)
    thread.join()
    assert attempt.state == "cancelled"
    assert marked(attempt.owner) == []


def test_a_request_to_stop_queues_another_attempt(host: Host) -> None:
    job = asked(host, ms=60_000)

    def stop() -> None:
        try:
            while not Attempt.objects.filter(job=job, session_id__isnull=False).exists():
                time.sleep(0.02)
            Attempt.objects.filter(job=job).update(stop_requested_at=timezone.now())
        finally:
            connection.close()

    thread = threading.Thread(target=stop)
    thread.start()
    attempt = executed(host)
    thread.join()
    assert (attempt.state, attempt.message) == ("lost", "its worker was stopped")
    assert attempt.job.state == "queued"
    assert [a.state for a in job.attempts.all()] == ["lost", "queued"]


def test_an_attempt_that_was_taken_away_writes_nothing(host: Host) -> None:
    job = asked(host, ms=3_000)

    def take_away() -> None:
        try:
            while not Attempt.objects.filter(job=job, session_id__isnull=False).exists():
                time.sleep(0.02)
            Attempt.objects.filter(job=job).update(owner="somebody else")
        finally:
            connection.close()

    thread = threading.Thread(target=take_away)
    thread.start()
    attempt = executed(host)
    thread.join()
    assert (attempt.owner, attempt.state) == ("somebody else", "running")
    assert not Measurement.objects.filter(run__system=host.system).exists()


def test_a_killed_process_loses_its_attempt_and_the_next_one_finishes(host: Host) -> None:
    job = asked(host, way="kill")
    code = (
        "import django; django.setup(); from runners.models import Host; "
        "from runners.execute import execute_next; "
        f"execute_next(Host.objects.get(pk={host.pk}))"
    )
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.runners.child_settings",
        "TEST_DATABASE": str(connection.settings_dict["NAME"]),
        "TEST_VAR": str(store_of().parent),
    }
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=False)
    assert done.returncode == -9
    attempt = job.attempts.get()
    assert attempt.state == "running"
    assert marked(attempt.owner) != []
    from runners.sweep import sweep_host

    sweep_host(host)
    assert marked(attempt.owner) == []
    assert [a.state for a in job.attempts.all()] == ["lost", "queued"]
    Job.objects.update(parameters={**job.parameters, "way": "well"})
    assert executed(host).state == "finished"


def test_a_host_of_no_known_system_has_no_result(host: Host) -> None:
    Host.objects.update(system=None)
    asked(host)
    attempt = executed(Host.objects.get())
    assert attempt.state == "failed"
    assert "it is not known which system given-host is" in attempt.message


def test_the_record_beside_a_run_names_no_folder_of_the_hub(host: Host) -> None:
    asked(host)
    run = executed(host).job.runs.get()
    record = run.artefacts.get(name__endswith="record.json")
    text = (store_of() / record.sha256[:2] / record.sha256).read_text(encoding="utf-8")
    noted = json.loads(text)
    assert noted["steps"][0]["env"]["HOME"].startswith("$VAR/scratch/")
    assert str(store_of().parent) not in text
    assert noted["steps"][0]["argv"][-3:-1] == ["well", "100"]
    assert max(map(len, text.splitlines())) > 80, "lists stand in a line"


def test_a_job_for_a_runner_that_has_changed_fails_in_words(host: Host) -> None:
    asked(host)
    Job.objects.update(parameters={"ms": 10, "gone": 1})
    attempt = executed(host)
    assert attempt.state == "failed"
    assert attempt.message.startswith("it cannot be run any more: ")
    assert "gone" in attempt.message


def test_an_attempt_that_nobody_could_renew_is_lost_by_its_own_worker(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = asked(host, ms=60_000)
    monkeypatch.setattr(RowWatch, "tick", lambda watch, progress: "gone")
    attempt = executed(host)
    assert (attempt.state, attempt.message) == (
        "lost",
        "its worker could not reach the database",
    )
    assert [a.state for a in job.attempts.all()] == ["lost", "queued"]
