"""The sweep finds attempts whose worker is gone, and rings again for what nobody heard."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from runners import sweep
from runners.claims import Owner, claim_next
from runners.engine import processes
from runners.jobs import cancel_job
from runners.models import Attempt, Host, Job
from tests.runners.conftest import asked, make_host

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("given_runner")]
SLEEPER = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(600)"]


def running(host: Host, owner: Owner, *, lease: timedelta = timedelta(0)) -> Attempt:
    """An attempt that `owner` claimed; its lease ends so long from now, if that is not 0."""
    asked(host)
    attempt = claim_next(host, owner)
    assert attempt is not None
    if lease:
        Attempt.objects.filter(pk=attempt.pk).update(lease_until=timezone.now() + lease)
    return attempt


def states(host: Host) -> list[str]:
    return list(host.attempts.order_by("id").values_list("state", flat=True))


def test_an_expired_lease_of_a_worker_elsewhere_is_lost(host: Host) -> None:
    running(host, Owner("a", "far away", 1, 1), lease=timedelta(seconds=-1))
    sweep.sweep_everywhere()
    assert states(host) == ["lost", "queued"]
    assert host.attempts.first().message == "its worker fell silent"  # type: ignore[union-attr]


def test_a_lease_that_holds_is_left_alone(host: Host) -> None:
    running(host, Owner("a", "far away", 1, 1))
    sweep.sweep_everywhere()
    sweep.sweep_host(host)
    assert states(host) == ["running"]


def test_a_dead_owner_on_this_machine_is_found_before_its_lease_ends(host: Host) -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    started = processes.started(child.pid) or 1
    child.wait()
    running(host, Owner("a", processes.place(), child.pid, started))
    sweep.sweep_host(host)
    assert states(host) == ["lost", "queued"]
    assert host.attempts.first().message == "its worker died"  # type: ignore[union-attr]


def test_an_owner_that_lives_is_not_robbed_when_the_clock_jumps(host: Host) -> None:
    attempt = running(host, Owner.here(), lease=timedelta(minutes=-9))
    sweep.sweep_everywhere()
    sweep.sweep_host(host)
    assert states(host) == ["running"]
    assert attempt.owner_pid == os.getpid()


def test_an_owner_that_hangs_is_ended_soon_where_its_job_is_to_be_cancelled(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "DEAF_S", 0.2)
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    started = processes.started(child.pid)
    attempt = running(
        host, Owner("h", processes.place(), child.pid, started), lease=timedelta(seconds=-1)
    )
    sweep.sweep_host(host)
    assert states(host) == ["running"], "it may only have been late"
    cancel_job(attempt.job, actor=None)
    time.sleep(0.3)
    sweep.sweep_host(host)
    assert child.wait(timeout=30) == -9
    assert states(host) == ["cancelled"]


def test_a_recycled_process_id_does_not_pass_for_the_owner(host: Host) -> None:
    here = Owner.here()
    running(host, Owner("a", here.place, here.pid, (here.started or 0) + 1))
    sweep.sweep_host(host)
    assert states(host) == ["lost", "queued"]


def test_what_a_lost_attempt_left_is_ended_before_the_next(host: Host) -> None:
    attempt = running(host, Owner("c" * 32, processes.place(), 999_999_999, 1))
    environment = {**os.environ, "BENCHHUB_ATTEMPT": attempt.owner}
    child = subprocess.Popen(
        SLEEPER, env=environment, start_new_session=True, stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    child.stdout.readline()
    child.stdout.close()
    sweep.sweep_host(host)
    assert child.wait(timeout=30) < 0
    lost = host.attempts.get(state="lost")
    assert lost.ended_at is not None


def test_the_first_that_waits_is_rung_again(host: Host) -> None:
    asked(host)
    asked(host)
    other = make_host("other-host")
    asked(other)
    long_ago = timezone.now() - timedelta(seconds=60)
    Attempt.objects.update(rung_at=long_ago)
    sweep.sweep_host(host)
    rung = list(Attempt.objects.order_by("id").values_list("rung_at", flat=True))
    assert [moment != long_ago for moment in rung] == [True, False, False]
    sweep.sweep_everywhere()
    assert Attempt.objects.filter(host=other, rung_at=long_ago).exists(), "nobody would hear it"
    Host.objects.filter(pk=other.pk).update(seen_at=timezone.now())
    sweep.sweep_everywhere()
    rung = list(Attempt.objects.order_by("id").values_list("rung_at", flat=True))
    assert [moment != long_ago for moment in rung] == [True, False, True]


def test_nobody_is_rung_while_the_host_is_busy(host: Host) -> None:
    running(host, Owner.here())
    asked(host)
    Attempt.objects.update(rung_at=None)
    sweep.sweep_host(host)
    assert not Attempt.objects.filter(rung_at__isnull=False).exists()


def test_many_stale_attempts_are_found_in_batches_by_an_index(host: Host) -> None:
    past = timezone.now() - timedelta(minutes=5)
    hosts = Host.objects.bulk_create(
        Host(slug=f"h{n}", name=f"h{n}", key=f"k{n}", system=host.system) for n in range(500)
    )
    jobs = Job.objects.bulk_create(
        Job(host=one, benchmark="stream", preset="standard", state="running", actor_name="x")
        for one in hosts
    )
    stale: list[Any] = [
        Attempt(job=job, host=job.host, state="running", owner="o", lease_until=past)
        for job in jobs
    ]
    Attempt.objects.bulk_create(stale)
    done = Job.objects.create(host=host, benchmark="stream", preset="standard", actor_name="x")
    Attempt.objects.create(job=done, host=host, state="finished", ended_at=past)
    for left in (300, 100, 0):
        sweep.sweep_everywhere()
        assert Attempt.objects.filter(state="running").count() == left
    assert Attempt.objects.filter(state="queued").count() == 500
    plan = sweep._expired().explain()
    assert "attempt_lease" in plan or connection.vendor != "sqlite"
