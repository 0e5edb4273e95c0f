"""Jobs are asked for, refused and cancelled, by those who may."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User

from results import sync
from results.actors import TokenUser
from results.models import Lab, Membership, Token
from results.tokens import make
from runners.benchmarks.base import ParameterError
from runners.jobs import (
    AlreadyOver,
    JobError,
    NotAllowed,
    cancel_job,
    may_cancel,
    may_read,
    may_run,
    request_job,
)
from runners.models import Attempt, Host, Job
from tests.results.api_data import make_lab
from tests.runners.conftest import asked

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("given_runner")]


def token_of(lab: Lab, *scopes: str) -> TokenUser:
    token, _secret = make(lab=lab, scopes=list(scopes), name="t", actor=None)
    return TokenUser(token)


def ask(host: Host, actor: Any, **changes: Any) -> Job:
    given: dict[str, Any] = {
        "benchmark": "stream",
        "preset": "standard",
        "parameters": {},
        "publish": False,
    }
    return request_job(host=host, actor=actor, **{**given, **changes})


def test_a_job_waits_with_one_attempt_and_complete_parameters(host: Host) -> None:
    staff = User.objects.create_user("sam", is_staff=True)
    job = ask(host, staff, parameters={"ms": "250"})
    assert (job.state, job.parameters) == ("queued", {"ms": 250, "way": "well", "serial": 0})
    assert (job.created_by, job.actor_name, job.lab) == (staff, "sam", None)
    attempt = job.attempts.get()
    assert (attempt.number, attempt.state, attempt.host) == (1, "queued", host)


def test_strangers_and_members_start_nothing(host: Host) -> None:
    member = User.objects.create_user("mia")
    Membership.objects.create(lab=make_lab("acme"), user=member, role="publisher")
    for actor in (AnonymousUser(), member, token_of(make_lab("other"), "upload", "publish")):
        assert not may_run(actor)
        with pytest.raises(NotAllowed, match="Only the staff, or a token made for it"):
            ask(host, actor)
    assert not Job.objects.exists()


def test_a_token_for_jobs_starts_them_and_publishes_nothing(host: Host) -> None:
    actor = token_of(make_lab("acme"), "run")
    job = ask(host, actor)
    assert job.lab is not None
    assert (job.lab.slug, job.token) == ("acme", actor.token)
    with pytest.raises(NotAllowed, match="Only the staff publishes"):
        ask(host, actor, publish=True)
    Token.objects.update(revoked_at="2026-01-01T00:00:00Z")
    actor.token.refresh_from_db()
    with pytest.raises(NotAllowed):
        ask(host, actor)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"benchmark": "gromacs-9"}, "No runner measures 'gromacs-9' here; there are: stream"),
        ({"benchmark": "x" * 500}, "No runner measures 'x"),
    ],
)
def test_what_no_runner_measures_is_refused(
    host: Host, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(JobError, match=words):
        ask(host, None, **changes)


def test_a_host_that_is_closed_or_lacks_something_is_refused_in_words(host: Host) -> None:
    host.runners = {"stream": {"ready": False, "version": "", "missing": "install gcc"}}
    with pytest.raises(JobError, match="given-host cannot run it: install gcc"):
        ask(host, None)
    host.is_open = False
    with pytest.raises(JobError, match="given-host takes no jobs"):
        ask(host, None)


def test_a_wrong_parameter_is_named(host: Host) -> None:
    with pytest.raises(ParameterError) as caught:
        ask(host, None, parameters={"ms": "--help", "way": "sideways"})
    assert set(caught.value.messages) == {"ms", "way"}
    assert not Attempt.objects.exists()


def test_a_queue_has_an_end(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runners.jobs.MOST_WAITING", 2)
    ask(host, None)
    ask(host, None)
    with pytest.raises(JobError, match="2 jobs wait at given-host already"):
        ask(host, None)


def test_a_waiting_job_is_cancelled_at_once(host: Host) -> None:
    job = cancel_job(asked(host), actor=None)
    attempt = job.attempts.get()
    assert (job.state, attempt.state) == ("cancelled", "cancelled")
    assert job.message == "cancelled by the hub"
    assert attempt.ended_at is not None
    with pytest.raises(AlreadyOver):
        cancel_job(job, actor=None)


def test_a_running_job_is_asked_to_end(host: Host) -> None:
    job = asked(host)
    job.attempts.update(state="running", owner="o", lease_until="2099-01-01T00:00:00Z")
    Job.objects.update(state="running")
    job = cancel_job(job, actor=None)
    assert (job.state, job.cancel_requested_at is None) == ("running", False)
    assert job.attempts.get().state == "running"


def test_who_may_cancel_and_read(host: Host) -> None:
    acme = make_lab("acme")
    sync.ensure()
    local = Lab.objects.get(slug="local")
    own, other = token_of(acme, "run"), token_of(make_lab("other"), "run")
    hub, uploads = token_of(local, "run"), token_of(acme, "upload")
    member = User.objects.create_user("mia")
    Membership.objects.create(lab=acme, user=member, role="member")
    staff = User.objects.create_user("sam", is_staff=True)
    job = ask(host, own)
    table: dict[Any, tuple[int, int]] = {
        staff: (1, 1),
        own: (1, 1),
        hub: (1, 1),
        other: (0, 0),
        uploads: (0, 1),
    }
    table |= {member: (0, 1), AnonymousUser(): (0, 0), None: (0, 0)}
    found = {actor: (may_cancel(actor, job), may_read(actor, job)) for actor in table}
    assert found == table
    hubs = asked(host)
    assert [may_cancel(a, hubs) for a in (own, hub, staff)] == [False, True, True]
    assert [may_read(a, hubs) for a in (own, hub, staff, member)] == [False, True, True, False]
    with pytest.raises(NotAllowed):
        cancel_job(hubs, actor=own)
