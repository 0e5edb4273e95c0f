"""Attempts are claimed once, in their order, one at a time on a host, and lost at most thrice."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from runners import claims
from runners.claims import Owner, claim_next
from runners.jobs import cancel_job
from runners.models import Attempt, Host, Job
from tests.runners.conftest import asked, make_host

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("given_runner")]


def owner(name: str = "a") -> Owner:
    return Owner(name * 32, "another place", 1, 1)


def claimed(host: Host, name: str = "a") -> Attempt:
    attempt = claim_next(host, owner(name))
    assert attempt is not None
    return attempt


def test_a_claim_sets_owner_lease_and_start_at_once(host: Host, settings: object) -> None:
    job = asked(host)
    attempt = claimed(host)
    assert (attempt.job, attempt.state, attempt.owner) == (job, "running", "a" * 32)
    assert (attempt.place, attempt.owner_pid, attempt.owner_started) == ("another place", 1, 1)
    assert attempt.lease_until is not None
    assert attempt.started_at is not None
    held_s = (attempt.lease_until - attempt.started_at).total_seconds()
    assert held_s == pytest.approx(30, abs=0.01)
    assert abs((attempt.started_at - timezone.now()).total_seconds()) < 60
    assert Job.objects.get().state == "running"


def test_the_oldest_comes_first_and_one_runs_at_a_time(host: Host) -> None:
    first, second = asked(host), asked(host)
    assert claimed(host).job == first
    assert claim_next(host, owner("b")) is None
    other = make_host("other-host")
    third = asked(other)
    assert claimed(other, "c").job == third
    Attempt.objects.filter(job=first).update(state="finished")
    assert claimed(host, "d").job == second


def test_the_database_itself_refuses_two_at_once(host: Host) -> None:
    asked(host)
    asked(host)
    with pytest.raises(IntegrityError), transaction.atomic():
        Attempt.objects.update(state="running", owner="x", lease_until=timezone.now())
    with pytest.raises(IntegrityError), transaction.atomic():
        Attempt.objects.update(state="running", owner="")


def test_a_cancelled_job_is_never_claimed(host: Host) -> None:
    cancel_job(asked(host), actor=None)
    job = asked(host)
    Job.objects.filter(pk=job.pk).update(cancel_requested_at=timezone.now())
    assert claim_next(host, owner()) is None


def test_only_the_owner_renews_and_ends(host: Host) -> None:
    asked(host)
    attempt = claimed(host)
    Attempt.objects.update(lease_until=timezone.now() - timedelta(hours=1))
    assert claims.renew(attempt, progress=0.5, step="measure")
    row = Attempt.objects.get()
    assert (row.progress, row.step) == (0.5, "measure")
    assert row.lease_until is not None
    assert row.lease_until > timezone.now()
    attempt.owner = "b" * 32
    assert not claims.renew(attempt, progress=0.9)
    assert not claims.end(attempt, "finished")
    assert Attempt.objects.get().progress == 0.5


def test_a_lost_attempt_is_followed_by_another_three_in_all(host: Host) -> None:
    job = asked(host)
    for number in (1, 2, 3):
        attempt = claimed(host, str(number))
        assert attempt.number == number
        assert claims.lose(attempt, "its worker died")
        assert not claims.lose(attempt, "its worker died")
    job.refresh_from_db()
    assert [a.state for a in job.attempts.all()] == ["lost", "lost", "lost"]
    assert (job.state, job.message) == ("failed", "lost 3 times; the last time: its worker died")
    assert job.finished_at is not None
    assert claim_next(host, owner()) is None


def test_an_attempt_that_was_renewed_since_it_was_seen_is_not_lost(host: Host) -> None:
    asked(host)
    attempt = claimed(host)
    claims.renew(attempt)
    assert not claims.lose(attempt, "its worker fell silent")
    assert Attempt.objects.get().state == "running"


def test_a_lost_attempt_of_a_job_to_be_cancelled_is_its_end(host: Host) -> None:
    job = asked(host)
    attempt = claimed(host)
    cancel_job(job, actor=None)
    assert claims.lose(attempt, "its worker died")
    job.refresh_from_db()
    assert [a.state for a in job.attempts.all()] == ["cancelled"]
    assert (job.state, job.message) == ("cancelled", "cancelled by the hub")


def test_the_owner_gives_up_when_its_worker_ends(host: Host) -> None:
    job = asked(host)
    attempt = claimed(host)
    assert claims.request_stop(host) == 0, "it runs in another place"
    assert claims.give_up(attempt, "its worker was stopped", flags=[{"word": "load"}])
    assert [a.state for a in job.attempts.all()] == ["lost", "queued"]
    assert job.attempts.all()[0].flags == [{"word": "load"}]
