"""The admin: runs are repeated on a host after a page in between; jobs are read and cancelled."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from results.models import Run
from runners.models import Host, Job
from tests.results.pages import run_with_log
from tests.runners.conftest import make_host
from tests.runners.jobs_made import job_in, signed_in

pytestmark = pytest.mark.usefixtures("given_runner")
RUNS = "/admin/results/run/"


@pytest.fixture
def staff(db: None) -> Client:
    return signed_in("root", is_staff=True, is_superuser=True)


def text_of(response: Any) -> str:
    assert response.status_code == 200
    return " ".join(response.content.decode().replace("&#x27;", "'").split())


def asked(staff: Client, *runs: Run, **fields: str) -> Any:
    sent = {"action": "rerun", "_selected_action": [run.pk for run in runs], **fields}
    return staff.post(RUNS, sent)


def start(run: Run, **fields: str) -> dict[str, str]:
    """What the page in between sends when it is left as it is."""
    mark = f"r{run.pk}."
    return {
        "apply": "Start",
        "host": "given-host",
        "host.shown": "given-host",
        f"{mark}preset": "standard",
        f"{mark}preset.shown": "standard",
        **{f"{mark}p.{name}": value for name, value in fields.items()},
    }


@pytest.fixture
def vera(reference: None) -> Run:
    return Run.objects.filter(system__slug="nvidia-mgx-vera-c2", benchmark__slug="stream")[0]


def test_the_action_is_offered(staff: Client, vera: Run) -> None:
    assert '<option value="rerun">Re-run on a host…</option>' in text_of(staff.get(RUNS))


def test_the_page_in_between_names_what_the_host_cannot_do(
    staff: Client, host: Host, vera: Run
) -> None:
    text = text_of(asked(staff, vera))
    assert f"STREAM, as in run {vera.pk} on" in text
    assert "What this host cannot do" in text
    for name in vera.parameters:
        assert f"<div>{name}: not here</div>" in text
    assert f'name="r{vera.pk}.p.ms" value="100"' in text
    assert not Job.objects.exists()


def test_the_run_is_repeated_and_changes_nothing(staff: Client, host: Host, vera: Run) -> None:
    before = Run.objects.filter(pk=vera.pk).values().get()
    response = asked(staff, vera, **start(vera, ms="5", way="badly"), publish="on")
    job = Job.objects.get()
    assert (response.status_code, response["Location"]) == (302, f"/jobs/{job.pk}/")
    assert job.parameters == {"ms": 5, "way": "badly", "serial": 0}
    assert (job.reruns, job.publish, job.host, job.actor_name) == (vera, True, host, "root")
    assert Run.objects.filter(pk=vera.pk).values().get() == before


def test_several_runs_become_several_jobs(staff: Client, host: Host, vera: Run) -> None:
    other = run_with_log()
    fields = {**start(vera, serial="1"), **start(other, serial="2")}
    response = asked(staff, vera, other, **fields)
    assert response["Location"] == "/jobs/?host=given-host"
    found = {job.reruns_id: job.parameters["serial"] for job in Job.objects.all()}
    assert found == {vera.pk: 1, other.pk: 2}


def test_a_wrong_value_of_one_starts_none_and_is_named_there(
    staff: Client, host: Host, vera: Run
) -> None:
    other = run_with_log()
    fields = {**start(vera, serial="1"), **start(other, serial="-2")}
    text = text_of(asked(staff, vera, other, **fields))
    assert not Job.objects.exists()
    assert "Serial number: found" in text
    assert f'name="r{other.pk}.p.serial" value="-2"' in text
    assert f'name="r{vera.pk}.p.serial" value="1"' in text


def test_a_run_without_a_runner_is_named_and_left_out(staff: Client, host: Host, vera: Run) -> None:
    other = Run.objects.filter(benchmark__slug="hpl")[0]
    text = text_of(asked(staff, vera, other))
    assert "This hub has no runner for HPL" in text
    assert f'name="r{other.pk}.' not in text
    asked(staff, vera, other, **start(vera))
    assert [job.reruns_id for job in Job.objects.all()] == [vera.pk]


def test_runs_without_a_runner_alone_have_no_button(
    staff: Client, host: Host, reference: None
) -> None:
    other = Run.objects.filter(benchmark__slug="hpl")[0]
    text = text_of(asked(staff, other))
    assert 'name="apply"' not in text
    text_of(asked(staff, other, **start(other)))
    assert not Job.objects.exists()


def test_another_host_is_shown_before_it_is_started_on(
    staff: Client, host: Host, vera: Run
) -> None:
    make_host("other-host")
    text = text_of(asked(staff, vera, **{**start(vera), "host": "other-host"}))
    assert "The host or preset was changed: look at the values, then start." in text
    assert 'name="host.shown" value="other-host"' in text
    assert not Job.objects.exists()
    changed = {**start(vera), "host": "other-host", "host.shown": "other-host"}
    asked(staff, vera, **changed)
    assert Job.objects.get().host.slug == "other-host"


def test_more_runs_than_can_be_looked_through_are_refused(
    staff: Client, host: Host, reference: None
) -> None:
    runs = Run.objects.order_by("pk")[:21]
    response = asked(staff, *runs)
    assert response.status_code == 302
    assert "At most 20 runs are repeated at once." in text_of(staff.get(RUNS))


@pytest.mark.parametrize("count", [1, 10])
def test_the_page_in_between_takes_as_many_queries_however_many_runs(
    staff: Client, host: Host, reference: None, count: int, django_assert_max_num_queries: Any
) -> None:
    runs = Run.objects.filter(benchmark__slug="stream").order_by("pk")[:count]
    with django_assert_max_num_queries(12):
        text = text_of(asked(staff, *runs))
    assert text.count("STREAM, as in run") == count


def test_without_a_host_the_page_says_how_to_get_one(staff: Client, vera: Run) -> None:
    assert "No host takes jobs yet." in text_of(asked(staff, vera))


def test_jobs_and_attempts_are_read_and_not_changed(staff: Client, host: Host) -> None:
    job = job_in(host, "failed", "lost", "failed")
    attempt = job.attempts.latest("pk")
    for name, pk in (("job", job.pk), ("attempt", attempt.pk)):
        listed = f"/admin/runners/{name}/"
        assert text_of(staff.get(listed))
        page = text_of(staff.get(f"{listed}{pk}/change/"))
        assert 'name="_save"' not in page
        assert staff.get(f"{listed}add/").status_code == 403
        assert staff.post(f"{listed}{pk}/delete/", {"post": "yes"}).status_code == 403
    assert "given-host" in text_of(staff.get("/admin/runners/job/?q=given"))


def test_jobs_are_cancelled_and_those_that_are_over_are_named(staff: Client, host: Host) -> None:
    waiting, over = job_in(host, "queued"), job_in(host, "finished")
    sent = {"action": "cancel", "_selected_action": [waiting.pk, over.pk]}
    text = text_of(staff.post("/admin/runners/job/", sent, follow=True))
    assert "Cancelled: 1 job." in text
    assert f"Job {over.pk}: The job is over" in text
    waiting.refresh_from_db()
    over.refresh_from_db()
    assert (waiting.state, over.state) == ("cancelled", "finished")


@pytest.mark.parametrize("count", [2, 50])
def test_the_admins_lists_take_as_many_queries_however_long(
    staff: Client, host: Host, count: int, django_assert_max_num_queries: Any
) -> None:
    for _ in range(count):
        job_in(host, "failed")
    for name in ("job", "attempt"):
        with django_assert_max_num_queries(7):
            staff.get(f"/admin/runners/{name}/")
