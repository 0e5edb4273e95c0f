"""The keeper's parts by themselves: what it says, and when it takes a consumer for deaf."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import OperationalError
from django.utils import timezone

from benchhub.celery import app
from benchhub.supervisor import Service
from runners import claims
from runners.claims import Owner
from runners.models import Attempt, Host, Job
from runners.worker.consumer import argv
from runners.worker.keeper import Keeper
from runners.worker.watch import DEAF_S, LONGEST_S, Watch

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def attempt(host: Host) -> Attempt:
    """What waits, and was rung for."""
    job = Job.objects.create(host=host, benchmark="stream", preset="standard", actor_name="x")
    return Attempt.objects.create(job=job, host=host, rung_at=timezone.now())


def deaf_at(host: Host, *moments_s: float) -> list[float]:
    """When a watch that looks at these moments takes the consumer for deaf."""
    watch = Watch()
    return [moment_s for moment_s in moments_s if watch.is_deaf(host, moment_s)]


def test_who_hears_nothing_for_a_minute_is_deaf(host: Host, attempt: Attempt) -> None:
    assert deaf_at(host, 100, 130, 159, 160, 161) == [160]


def test_there_is_more_patience_each_time(host: Host, attempt: Attempt) -> None:
    found = deaf_at(host, *range(0, 4000, 5))
    assert found[:4] == [60, 180, 420, 900]
    assert found[5] - found[4] == LONGEST_S


def test_an_idle_host_is_not_deaf(host: Host) -> None:
    assert deaf_at(host, 0, DEAF_S, 2 * DEAF_S) == []


def test_what_was_not_rung_for_proves_nothing(host: Host, attempt: Attempt) -> None:
    Attempt.objects.update(rung_at=None)
    assert deaf_at(host, 0, DEAF_S, 2 * DEAF_S) == []


def test_what_is_to_be_cancelled_proves_nothing(host: Host, attempt: Attempt) -> None:
    Job.objects.update(cancel_requested_at=timezone.now())
    assert deaf_at(host, 0, DEAF_S, 2 * DEAF_S) == []


def test_who_measures_is_not_deaf_to_what_waits(host: Host, attempt: Attempt) -> None:
    job = Job.objects.create(host=host, benchmark="stream", preset="standard", actor_name="x")
    assert claims.claim_next(host, Owner.here()) is not None
    Attempt.objects.create(job=job, host=host, rung_at=timezone.now())
    watch = Watch()
    assert not watch.is_deaf(host, 0)
    assert not watch.is_deaf(host, 10 * DEAF_S)
    Attempt.objects.filter(state="running").delete()
    assert not watch.is_deaf(host, 10 * DEAF_S + 1)
    assert watch.is_deaf(host, 11 * DEAF_S + 1)


def test_a_deaf_consumer_is_ended_and_another_is_started(host: Host) -> None:
    keeper = Keeper()
    keeper.host = host
    keeper.consumer = Service("the consumer", [sys.executable, "-c", "import time; time.sleep(60)"])
    keeper.consumer.start()
    assert keeper.consumer.process is not None
    first = keeper.consumer.process
    keeper._end_consumer("it hears nothing")
    assert first.returncode == -9
    assert keeper.consumer is None


def test_what_passes_is_said_once_while_it_lasts(capsys: pytest.CaptureFixture[str]) -> None:
    keeper = Keeper()

    def locked() -> None:
        raise OperationalError("database is locked")

    assert [keeper._tried(locked) for _ in range(3)] == [False] * 3
    assert keeper._tried(lambda: None)
    assert keeper._tried(lambda: None)
    assert capsys.readouterr().err.splitlines() == [
        "BenchHub: the worker waits: database is locked",
        "BenchHub: the worker goes on.",
    ]


def test_a_mistake_is_logged_once_with_where_it_came_from(
    caplog: pytest.LogCaptureFixture,
) -> None:
    keeper = Keeper()

    def wrong() -> None:
        raise ZeroDivisionError("by nothing")

    assert [keeper._tried(wrong) for _ in range(3)] == [False] * 3
    [record] = caplog.records
    assert record.getMessage() == "the worker's round failed: by nothing"
    assert record.exc_info is not None


def test_the_consumer_takes_one_message_at_a_time_from_its_own_queue(host: Host) -> None:
    words = argv(host)
    assert words[words.index("--queues") + 1] == host.queue
    assert words[words.index("--concurrency") + 1] == "1"
    assert words[words.index("--prefetch-multiplier") + 1] == "1"


def test_celery_takes_json_alone_and_acknowledges_what_is_done() -> None:
    conf = app.conf
    assert (conf.accept_content, conf.task_serializer) == (["json"], "json")
    assert (conf.task_acks_late, conf.task_reject_on_worker_lost) == (True, True)
    assert (conf.task_ignore_result, conf.task_publish_retry) == (True, False)
    assert conf.broker_connection_max_retries is None


def test_root_is_not_warned(tmp_path: Path) -> None:
    code = (
        "from benchhub.celery import app; from celery.platforms import check_privileges; "
        "check_privileges(app.conf.accept_content)"
    )
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "benchhub.settings"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**environment, "VAR": str(tmp_path)},
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""
