"""The page that starts a job: filled from a run, explained, refused with words, posted."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from results.models import Run
from runners.models import Host, Job
from tests.results.pages import read, run_with_log, source_of
from tests.runners.conftest import make_host
from tests.runners.jobs_made import signed_in

pytestmark = pytest.mark.usefixtures("given_runner")
GOOD = {"benchmark": "stream", "p.ms": "250", "p.way": "badly", "p.serial": "3"}


@pytest.fixture
def staff(db: None) -> Client:
    return signed_in("sam", is_staff=True)


def test_strangers_sign_in_first_and_others_are_refused(client: Client, host: Host) -> None:
    response = client.get("/jobs/new/?run=1")
    assert response["Location"] == "/accounts/login/?next=/jobs/new/%3Frun%3D1"
    assert client.post("/jobs/new/", GOOD)["Location"] == "/accounts/login/?next=/jobs/"
    other = signed_in("stan")
    assert other.get("/jobs/new/").status_code == 403
    assert other.post("/jobs/new/", GOOD).status_code == 403
    assert not Job.objects.exists()


def test_without_a_benchmark_it_lists_what_can_be_measured(staff: Client, host: Host) -> None:
    assert 'href="/jobs/new/?benchmark=stream">STREAM</a>' in source_of(staff, "/jobs/new/")


def test_a_published_run_is_taken_over_and_what_cannot_be_done_is_named(
    staff: Client, host: Host, reference: None
) -> None:
    run = Run.objects.filter(system__slug="nvidia-mgx-vera-c2", benchmark__slug="stream")[0]
    text = read(staff, f"/jobs/new/?run={run.pk}")
    assert "STREAM on given-host" in text
    assert f"As in run {run.pk} of" in text
    assert "What this host cannot do" in text
    for name in run.parameters:
        assert f"{name}: not here" in text
    assert text.index("What this host cannot do") < text.index("Parameters Milliseconds")


def test_fields_have_values_bounds_and_words(staff: Client, host: Host) -> None:
    text = source_of(staff, "/jobs/new/?benchmark=stream")
    assert 'name="p.ms" value="100" inputmode="numeric"' in text
    assert '<option value="well" selected>well</option>' in text
    assert "From 0 to 600,000." in text
    assert "takes a tenth of a second" in text


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("benchmark=hpl", "This hub has no runner for HPL: it cannot be measured from here."),
        ("benchmark=%3Cb%3E", "This hub has no runner for <b>: it cannot be measured"),
        ("benchmark=stream&host=nowhere", "No host that takes jobs is called 'nowhere'."),
        ("benchmark=stream&preset=slow", "There is no preset 'slow'."),
    ],
)
def test_what_cannot_be_is_said_in_words(staff: Client, host: Host, query: str, words: str) -> None:
    assert words in read(staff, f"/jobs/new/?{query}")


def test_a_benchmark_without_a_runner_has_no_button(staff: Client, host: Host) -> None:
    text = source_of(staff, "/jobs/new/?benchmark=hpl")
    assert "It measures STREAM" in text
    assert 'action="/jobs/new/"' not in text
    assert staff.post("/jobs/new/", {"benchmark": "hpl"}).status_code == 400
    assert not Job.objects.exists()


def test_a_runner_that_is_not_ready_says_what_to_install(staff: Client, host: Host) -> None:
    Host.objects.update(runners={"stream": {"ready": False, "missing": "install gcc"}})
    text = read(staff, "/jobs/new/?benchmark=stream")
    assert "given-host cannot run STREAM yet: install gcc." in text
    assert "Start" not in text
    Host.objects.update(runners={})
    assert "has not been looked at yet" in read(staff, "/jobs/new/?benchmark=stream")


def test_without_a_host_it_says_how_to_get_one(staff: Client, db: None) -> None:
    text = read(staff, "/jobs/new/?benchmark=stream")
    assert "No host takes jobs yet." in text
    assert "python manage.py worker" in text
    assert staff.post("/jobs/new/", GOOD).status_code == 400


def test_the_host_that_is_alive_is_chosen_and_closed_ones_are_not_offered(
    staff: Client, host: Host
) -> None:
    alive, closed = make_host("b-alive"), make_host("c-closed")
    Host.objects.filter(pk=alive.pk).update(seen_at=timezone.now())
    Host.objects.filter(pk=closed.pk).update(is_open=False)
    text = source_of(staff, "/jobs/new/?benchmark=stream")
    assert '<input type="hidden" name="host" value="b-alive">' in text
    assert "jobs wait until it runs" not in text
    assert "c-closed" not in text
    chosen = source_of(staff, "/jobs/new/?benchmark=stream&host=given-host")
    assert '<input type="hidden" name="host" value="given-host">' in chosen
    assert "Worker not started yet: jobs wait until it runs." in chosen
    Host.objects.filter(pk=alive.pk).update(seen_at=timezone.now() - timedelta(hours=1))
    text = source_of(staff, "/jobs/new/?benchmark=stream")
    assert '<input type="hidden" name="host" value="b-alive">' in text  # the first by its slug


def test_a_good_form_makes_a_job_and_leads_to_it(staff: Client, host: Host) -> None:
    run = run_with_log()
    sent = {**GOOD, "run": run.pk, "host": host.slug, "preset": "standard", "publish": "on"}
    response = staff.post("/jobs/new/", sent)
    job = Job.objects.get()
    assert (response.status_code, response["Location"]) == (303, f"/jobs/{job.pk}/")
    assert job.parameters == {"ms": 250, "way": "badly", "serial": 3}
    assert (job.host, job.reruns, job.publish, job.actor_name) == (host, run, True, "sam")
    assert job.attempts.get().state == "queued"


def test_what_is_left_out_is_as_the_preset_says(staff: Client, host: Host) -> None:
    assert staff.post("/jobs/new/", {"benchmark": "stream"}).status_code == 303
    job = Job.objects.get()
    assert job.parameters == {"ms": 100, "way": "well", "serial": 0}
    assert not job.publish


@pytest.mark.parametrize(
    "value", ["-1", "600001", "--help", "; reboot", "$(id)", "1\n2", "", "NaN", "1e3", "9" * 1000]
)
def test_a_value_that_cannot_be_is_refused_beside_its_field_and_kept(
    staff: Client, host: Host, value: str
) -> None:
    response = staff.post("/jobs/new/", {**GOOD, "p.ms": value})
    text = " ".join(response.content.decode().split())
    assert response.status_code == 400
    assert not Job.objects.exists()
    hints = text.split('id="h-ms"')[1].split("</p>")[0]
    assert '<b class="wrong">Milliseconds: found' in hints
    assert 'name="p.serial" value="3"' in text
    assert '<option value="badly" selected>' in text
    if value and value.isprintable():
        assert f'name="p.ms" value="{value[:200]}"' in text


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"host": "nowhere"}, "No host that takes jobs is called 'nowhere'."),
        ({"preset": "slow"}, "There is no preset 'slow'."),
        ({"p.colour": "red"}, "colour"),
    ],
)
def test_what_was_sent_wrongly_is_told_above_the_fields(
    staff: Client, host: Host, fields: dict[str, str], words: str
) -> None:
    response = staff.post("/jobs/new/", {**GOOD, **fields})
    assert response.status_code == 400
    text = response.content.decode().replace("&#x27;", "'")
    assert words in text.split('class="wrong" role="alert">')[1].split("</p>")[0]
    assert not Job.objects.exists()


@pytest.mark.parametrize("run", ["0", "999999999999999", "9" * 40, "-1", "x", "1%00"])
def test_a_run_that_is_not_there_is_not_found(staff: Client, host: Host, run: str) -> None:
    assert staff.get(f"/jobs/new/?run={run}").status_code == 404


def test_a_value_of_a_million_characters_is_refused(staff: Client, host: Host) -> None:
    response = staff.post("/jobs/new/", {**GOOD, "p.ms": "7" * 10**6})
    assert response.status_code == 400
    assert len(response.content) < 50_000
    assert not Job.objects.exists()


def test_the_form_takes_as_many_queries_however_many_hosts(
    staff: Client, host: Host, django_assert_max_num_queries: Any
) -> None:
    for number in range(9):
        make_host(f"more-{number}")
    with django_assert_max_num_queries(5):
        staff.get("/jobs/new/?benchmark=stream")
