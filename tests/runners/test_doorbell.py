"""The doorbell: rings when what it rings for is stored, and keeps nobody waiting."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from benchhub.celery import app
from runners import doorbell
from runners.doorbell import TASK, ring, ring_on_commit
from runners.models import Attempt, Host, Job
from tests.benchhub.processes import ROOT, free_port

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def broker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The queues' folder, of this test alone."""
    folder = tmp_path / "queue"
    monkeypatch.setitem(app.conf, "broker_transport_options", {"folder": str(folder)})
    return folder


@pytest.fixture
def attempt(broker: Path, host: Host) -> Attempt:
    job = Job.objects.create(host=host, benchmark="stream", preset="standard", actor_name="x")
    return Attempt.objects.create(job=job, host=host)


@pytest.fixture
def away(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A broker where nobody listens."""
    url = f"redis://127.0.0.1:{free_port()}/0"
    monkeypatch.setitem(app.conf, "broker_write_url", url)
    yield
    doorbell._is_away = False


def messages(broker: Path, queue: str) -> list[tuple[str, Any]]:
    """Task and arguments of what waits in a queue."""
    found = []
    for path in sorted((broker / queue).glob("*.msg")) if (broker / queue).exists() else ():
        message = json.loads(path.read_bytes())
        arguments, _keywords, _more = json.loads(b64decode(message["body"]))
        found.append((message["headers"]["task"], arguments))
    return found


def rung_at(attempt: Attempt) -> Any:
    return Attempt.objects.values_list("rung_at", flat=True).get(pk=attempt.pk)


def test_a_ring_is_the_attempts_id_in_its_hosts_queue(attempt: Attempt, broker: Path) -> None:
    assert rung_at(attempt) is None
    assert ring(attempt)
    assert messages(broker, "host-given-host") == [(TASK, [attempt.pk])]
    assert rung_at(attempt) is not None


def test_it_rings_when_what_was_written_is_there(attempt: Attempt, broker: Path) -> None:
    with transaction.atomic():
        ring_on_commit(attempt)
        assert messages(broker, attempt.host.queue) == []
    assert messages(broker, attempt.host.queue) == [(TASK, [attempt.pk])]


def test_it_does_not_ring_for_what_was_not_written(attempt: Attempt, broker: Path) -> None:
    with transaction.atomic():
        ring_on_commit(attempt)
        transaction.set_rollback(True)
    assert messages(broker, attempt.host.queue) == []


@pytest.mark.usefixtures("away")
def test_a_broker_that_is_away_is_said_once_and_again_when_it_is_back(
    attempt: Attempt,
    broker: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert not ring(attempt)
    assert not ring(attempt)
    assert rung_at(attempt) is not None
    monkeypatch.setitem(app.conf, "broker_write_url", "benchhub://")
    assert ring(attempt)
    assert ring(attempt)
    away, back = (record.getMessage() for record in caplog.records if record.name == "runners")
    assert away.startswith("the broker does not answer; jobs wait until it does: ")
    assert "Connection refused" in away
    assert back == "the broker answers again"


@pytest.mark.usefixtures("away")
@pytest.mark.parametrize("scheme", ["redis", "amqp"])
def test_a_broker_that_says_nothing_is_not_waited_for(
    attempt: Attempt, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"{scheme}://127.0.0.1:{silent.getsockname()[1]}//"
        monkeypatch.setitem(app.conf, "broker_write_url", url)
        # Without a limit it would wait for ever.
        assert not ring(attempt)


def test_who_starts_no_job_does_not_load_celery(tmp_path: Path) -> None:
    code = (
        "import sys; from benchhub.wsgi import application; "
        "from django.urls import get_resolver; get_resolver().check(); "
        "import runners.jobs, runners.sweep; "
        "sys.exit('celery' in sys.modules or 'kombu' in sys.modules)"
    )
    environment = {
        **os.environ,
        "VAR": str(tmp_path / "var"),
        "DJANGO_SETTINGS_MODULE": "benchhub.settings",
    }
    done = subprocess.run([sys.executable, "-c", code], env=environment, cwd=ROOT, check=False)
    assert done.returncode == 0
