"""What is done with jobs by pages: cancelled, published, run again, this machine measured."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.contrib.messages import get_messages
from django.test import Client

from results.models import AuditEntry, Run
from runners import hosts
from runners.models import Host, Job
from tests.results.pages import run_with_log
from tests.runners.jobs_made import job_in, signed_in

pytestmark = pytest.mark.usefixtures("given_runner")
ACTS = ("cancel", "publish", "again")


@pytest.fixture
def staff(db: None) -> Client:
    return signed_in("sam", is_staff=True)


def said(client: Client, address: str) -> tuple[int, str, str]:
    """Status, where the answer leads, and what it tells."""
    response = client.post(address)
    told = " ".join(str(message) for message in get_messages(response.wsgi_request))
    return response.status_code, response.get("Location", ""), told


def test_what_waits_is_cancelled_at_once(staff: Client, host: Host) -> None:
    job = job_in(host, "queued")
    assert said(staff, f"/jobs/{job.pk}/cancel/") == (303, f"/jobs/{job.pk}/", "Cancelled.")
    job.refresh_from_db()
    assert job.state == "cancelled"
    assert job.attempts.get().state == "cancelled"


def test_what_runs_is_asked_to_end(staff: Client, host: Host) -> None:
    job = job_in(host, "running")
    assert said(staff, f"/jobs/{job.pk}/cancel/")[2] == "It is being ended."
    job.refresh_from_db()
    assert (job.state, job.cancel_requested_at is None) == ("running", False)


@pytest.mark.parametrize("state", ["finished", "failed", "cancelled"])
def test_what_is_over_cannot_be_cancelled(staff: Client, host: Host, state: str) -> None:
    job = job_in(host, state)
    status, address, told = said(staff, f"/jobs/{job.pk}/cancel/")
    assert (status, address) == (303, f"/jobs/{job.pk}/")
    assert "over" in told
    job.refresh_from_db()
    assert job.state == state


@pytest.mark.parametrize("act", ACTS)
def test_strangers_sign_in_first_and_others_are_refused(
    client: Client, host: Host, act: str
) -> None:
    job = job_in(host, "queued")
    address = f"/jobs/{job.pk}/{act}/"
    assert said(client, address)[:2] == (302, f"/accounts/login/?next=/jobs/{job.pk}/")
    assert said(signed_in("stan"), address)[0] == 403
    job.refresh_from_db()
    assert (job.state, job.cancel_requested_at) == ("queued", None)
    assert Job.objects.count() == 1


@pytest.mark.parametrize("act", ACTS)
def test_an_act_is_posted_to_a_job_that_is_there(staff: Client, host: Host, act: str) -> None:
    job = job_in(host, "queued")
    assert staff.get(f"/jobs/{job.pk}/{act}/").status_code == 405
    assert staff.post(f"/jobs/999999999999999999/{act}/").status_code == 404


def test_the_staff_publishes_a_draft_with_an_audit_row(staff: Client, host: Host) -> None:
    run = run_with_log()
    Run.objects.filter(pk=run.pk).update(state="draft")
    job = job_in(host, "finished")
    job.runs.add(run)
    assert said(staff, f"/jobs/{job.pk}/publish/")[2] == "1 run was published."
    run.refresh_from_db()
    assert run.state == "published"
    assert AuditEntry.objects.filter(run=run, action="publish", actor_name="sam").exists()
    assert "Nothing of it waits to be published." in said(staff, f"/jobs/{job.pk}/publish/")[2]


def test_it_is_run_again_with_the_same_parameters(staff: Client, host: Host) -> None:
    run = run_with_log()
    job = job_in(host, "failed", reruns=run)
    status, address, _told = said(staff, f"/jobs/{job.pk}/again/")
    new = Job.objects.latest("pk")
    assert (status, address) == (303, f"/jobs/{new.pk}/")
    assert new.pk != job.pk
    assert (new.parameters, new.host, new.reruns, new.state) == (
        {"ms": 100, "way": "well", "serial": 7},
        host,
        run,
        "queued",
    )


def test_what_the_host_cannot_do_any_more_is_told(staff: Client, host: Host) -> None:
    job = job_in(host, "failed", parameters={"ms": -1})
    status, address, told = said(staff, f"/jobs/{job.pk}/again/")
    assert (status, address) == (303, f"/jobs/{job.pk}/")
    assert "Milliseconds" in told
    Host.objects.update(is_open=False)
    job = job_in(host, "failed")
    assert "takes no jobs" in said(staff, f"/jobs/{job.pk}/again/")[2]


def test_this_machine_is_measured_once_at_a_time(
    staff: Client, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.runners = {name: {"ready": True} for name in ("stream", "tinymembench")}
    host.save()
    monkeypatch.setattr(hosts, "this_host", lambda: host)
    status, address, told = said(staff, "/jobs/measure/")
    assert (status, address) == (303, "/jobs/?host=given-host")
    assert told == "3 jobs started on given-host."
    assert "This machine is being measured already." in said(staff, "/jobs/measure/")[2]
    found = [(job.benchmark, job.parameters.get("page")) for job in Job.objects.order_by("pk")]
    assert found == [("stream", None), ("tinymembench", "2m"), ("tinymembench", "4k")]


def test_a_kernel_that_cannot_be_started_here_is_told(
    staff: Client, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.runners["tinymembench"] = {"ready": False, "missing": "install gcc"}
    host.save()
    monkeypatch.setattr(hosts, "this_host", lambda: host)
    told = said(staff, "/jobs/measure/")[2]
    assert "1 job started on given-host." in told
    assert "given-host cannot run it: install gcc." in told


def test_this_machine_is_measured_by_the_staff_alone(client: Client, db: None) -> None:
    assert said(client, "/jobs/measure/")[:2] == (302, "/accounts/login/?next=/jobs/")
    assert said(signed_in("stan"), "/jobs/measure/")[0] == 403
    assert client.get("/jobs/measure/").status_code == 405
    assert not Job.objects.exists()


def test_a_form_of_another_site_starts_nothing(host: Host) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.create_user("sam", is_staff=True))
    job = job_in(host, "queued")
    assert strict.post(f"/jobs/{job.pk}/cancel/").status_code == 403
    job.refresh_from_db()
    assert job.state == "queued"
