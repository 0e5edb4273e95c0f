"""The list of jobs and the page of one: what is said in each state, to whom."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from results.models import Lab, Membership, Run
from runners.models import Host, Job
from tests.results.pages import read, run_with_log, source_of
from tests.runners.conftest import make_host
from tests.runners.jobs_made import job_in, signed_in

pytestmark = pytest.mark.usefixtures("given_runner")
HTMX = {"HX-Request": "true"}
RESTORED = {**HTMX, "HX-History-Restore-Request": "true"}


@pytest.fixture
def staff(db: None) -> Client:
    return signed_in("sam", is_staff=True)


def test_an_empty_list_says_so(client: Client, db: None) -> None:
    assert "No job was asked for yet." in read(client, "/jobs/")


def test_the_list_shows_the_newest_first_with_state_and_progress(
    client: Client, host: Host
) -> None:
    first = job_in(host, "failed", message="the step measure ended with exit code 3")
    second = job_in(host, "running")
    text = read(client, "/jobs/")
    assert text.index(f"job {second.pk}") < text.index(f"job {first.pk}")
    assert "running, 45 %" in text
    assert "The step measure ended with exit code 3." in text
    assert "1 min 15 s" in text
    assert "--v:45" in source_of(client, "/jobs/")


def test_only_the_staff_reads_who_asked_and_who_cancelled(
    client: Client, staff: Client, host: Host
) -> None:
    job = job_in(host, "cancelled", message="cancelled by sam")
    Job.objects.filter(pk=job.pk).update(cancel_requested_at=job.created_at)
    for address in ("/jobs/", f"/jobs/{job.pk}/"):
        assert "sam" not in read(client, address)
        assert "by sam" in read(staff, address)


def test_the_list_is_filtered_by_state_host_and_benchmark(client: Client, host: Host) -> None:
    other = make_host("other-host")
    jobs = {
        "queued": job_in(host, "queued"),
        "failed": job_in(host, "failed"),
        "elsewhere": job_in(other, "failed"),
        "latency": job_in(other, "finished", benchmark="tinymembench"),
    }

    def found(query: str) -> set[str]:
        text = source_of(client, f"/jobs/?{query}")
        return {name for name, job in jobs.items() if f'id="job-{job.pk}"' in text}

    assert found("state=failed") == {"failed", "elsewhere"}
    assert found("host=other-host") == {"elsewhere", "latency"}
    assert found("state=failed&host=given-host") == {"failed"}
    assert found("benchmark=stream&host=other-host") == {"elsewhere"}


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("state=late", "No state of a job is called 'late'."),
        ("host=%00%27%22", "No host is called"),
        ("benchmark=%3Cb%3E", "No runner measures '<b>'."),
    ],
)
def test_a_filter_that_cannot_be_is_named(
    client: Client, host: Host, query: str, words: str
) -> None:
    job_in(host, "queued")
    assert words in read(client, f"/jobs/?{query}", status=400)


def test_the_list_has_pages_that_keep_the_filter(client: Client, host: Host) -> None:
    for _ in range(27):
        job_in(host, "failed")
    assert 'href="?state=failed&amp;page=2"' in source_of(client, "/jobs/?state=failed")
    assert "Page 2 of 2" in read(client, "/jobs/?state=failed&page=2")
    assert "Page 2 of 2" in read(client, "/jobs/?page=9999999999999999999")


@pytest.mark.parametrize("count", [2, 50])
def test_a_list_takes_as_many_queries_however_long(
    staff: Client, host: Host, count: int, django_assert_num_queries: Any
) -> None:
    for _ in range(count):
        job_in(host, "failed", "lost", "failed")
    # session, account, hosts, count, jobs, attempts
    with django_assert_num_queries(6):
        staff.get("/jobs/")


def test_a_part_of_the_list_is_given_to_htmx_and_to_nobody_else(client: Client, host: Host) -> None:
    job_in(host, "running")
    part = client.get("/jobs/", headers=HTMX)
    assert part.content.strip().startswith(b'<div id="jobs"')
    assert b"every 2s" in part.content
    restored = client.get("/jobs/", headers=RESTORED)
    assert b"<!doctype html>" in restored.content
    assert {"HX-Request", "HX-History-Restore-Request"} <= set(part["Vary"].split(", "))
    assert part["Cache-Control"] == "private, no-store"


SAID = {
    "queued": ("STREAM waits at given-host", "It is the next one."),
    "running": ("STREAM is being measured on given-host", "stored as a draft"),
    "finished": ("STREAM was measured on given-host", "It took 1 min 15 s."),
    "failed": ("STREAM failed on given-host", "The step measure ended with exit code 3."),
    "cancelled": ("STREAM on given-host was cancelled", ""),
}


@pytest.mark.parametrize("state", SAID)
def test_the_page_of_a_job_says_how_it_stands(client: Client, host: Host, state: str) -> None:
    message = "the step measure ended with exit code 3" if state == "failed" else ""
    job = job_in(host, state, message=message)
    text = read(client, f"/jobs/{job.pk}/")
    for words in SAID[state]:
        assert words in text
    assert ("hx-get" in source_of(client, f"/jobs/{job.pk}/")) == (not job.is_over)


def test_what_waits_says_how_many_come_first_and_that_no_worker_is_heard(
    client: Client, host: Host
) -> None:
    job_in(host, "running")
    job_in(make_host("elsewhere"), "queued")
    waiting = job_in(host, "queued", "lost", "queued")
    text = read(client, f"/jobs/{waiting.pk}/")
    assert "1 job comes first." in text
    assert "The host's worker has not been heard lately" in text.replace("’", "'")
    assert "Attempt 2 of at most 3: the one before was lost." in text


def test_every_attempt_is_listed_with_its_end(client: Client, host: Host) -> None:
    job = job_in(host, "finished", "lost", "finished")
    text = read(client, f"/jobs/{job.pk}/")
    assert "Attempts" in text
    assert text.index("1 lost Nothing was heard of it.") < text.index("2 finished")


def test_the_parameters_have_the_runners_names(client: Client, host: Host) -> None:
    job = job_in(host, "queued")
    text = read(client, f"/jobs/{job.pk}/")
    assert "Milliseconds 100" in text
    assert "How it goes well" in text
    assert "Serial number 7" in text


def test_output_and_record_are_for_the_staff_and_the_hubs_lab(
    client: Client, staff: Client, host: Host
) -> None:
    job = job_in(host, "failed")
    member = signed_in("mia")
    local = Lab.objects.get(slug="local")
    Membership.objects.create(lab=local, user_id=int(member.session["_auth_user_id"]))
    secrets = ("pass 2 of 20", "./stream 'a b'", "OMP_NUM_THREADS")
    for reader, sees in (
        (client, False),
        (signed_in("stan"), False),
        (staff, True),
        (member, True),
    ):
        text = read(reader, f"/jobs/{job.pk}/")
        assert [secret in text for secret in secrets] == [sees] * 3


def test_output_is_shown_as_text_without_what_terminals_are_told(staff: Client, host: Host) -> None:
    job = job_in(host, "running")
    text = source_of(staff, f"/jobs/{job.pk}/")
    assert "&lt;script&gt;alert(1)" in text
    assert "<script>alert" not in text
    assert "\x1b" not in text


def finished_with(host: Host, state: str, **fields: Any) -> tuple[Job, Run]:
    run = run_with_log()
    Run.objects.filter(pk=run.pk).update(state=state)
    job = job_in(host, "finished", **fields)
    job.runs.add(run)
    job.attempts.update(flags=[{"word": "load", "text": "Others used 12 % of the host."}])
    return job, run


def test_a_draft_is_seen_by_the_staff_alone(client: Client, staff: Client, host: Host) -> None:
    job, run = finished_with(host, "draft")
    for reader in (client, signed_in("stan")):
        text = read(reader, f"/jobs/{job.pk}/")
        assert "What came of it is shown here once it is public." in text
        for secret in ("82.2", f"Run {run.pk}", "12 %", "Publish"):
            assert secret not in text
    text = read(staff, f"/jobs/{job.pk}/")
    assert f"Run {run.pk}, draft STREAM Triad 82.2 GB/s" in text
    assert "It stands in comparisons once it is published." in text
    assert "Publish the result" in text
    assert "Others used 12 % of the host." in text


def test_a_published_result_leads_to_comparisons(
    client: Client, staff: Client, host: Host, reference: None
) -> None:
    repeated = Run.objects.filter(system__slug="nvidia-mgx-vera-c2", benchmark__slug="stream")[0]
    job, run = finished_with(host, "published", reruns=repeated)
    text = source_of(client, f"/jobs/{job.pk}/")
    assert f'href="/runs/{run.pk}/"' in text
    pair = "system=nvidia-mgx-vera-c2&amp;system=logged&amp;benchmark=stream"
    assert f'href="/compare/?{pair}"' in text
    assert text.count("system=logged") == 2
    for link in (part.split('"')[0] for part in text.split('href="')[1:]):
        if link.startswith("/compare/?"):
            assert client.get(link.replace("&amp;", "&")).status_code == 200
    assert "Others used 12 % of the host." in read(client, f"/jobs/{job.pk}/")
    assert "Publish the result" not in read(staff, f"/jobs/{job.pk}/")


def test_the_run_that_is_repeated_is_named_to_who_may_see_it(
    client: Client, staff: Client, host: Host
) -> None:
    hidden = run_with_log()
    Run.objects.filter(pk=hidden.pk).update(state="draft")
    job = job_in(host, "queued", reruns=hidden)
    assert "Repeats" not in read(client, f"/jobs/{job.pk}/")
    assert f"Repeats run {hidden.pk} on" in read(staff, f"/jobs/{job.pk}/")


def test_buttons_are_shown_to_who_may_press_them(client: Client, staff: Client, host: Host) -> None:
    waiting, over = job_in(host, "queued"), job_in(host, "failed")
    for reader in (client, signed_in("stan")):
        for job in (waiting, over):
            assert 'method="post" action="/jobs/' not in source_of(reader, f"/jobs/{job.pk}/")
    assert f'action="/jobs/{waiting.pk}/cancel/"' in source_of(staff, f"/jobs/{waiting.pk}/")
    text = source_of(staff, f"/jobs/{over.pk}/")
    assert f'action="/jobs/{over.pk}/again/"' in text
    assert "/cancel/" not in text


def test_polling_gives_the_part_and_once_it_stands_otherwise_all_of_it(
    staff: Client, host: Host
) -> None:
    job = job_in(host, "running")
    address = f"/jobs/{job.pk}/?seen=running-1-on"
    part = staff.get(address, headers=HTMX)
    assert part.content.strip().startswith(b'<section id="live"')
    assert b"seen=running-1-on" in part.content
    assert "HX-Retarget" not in part
    job.attempts.update(state="finished", finished_at=job.created_at, ended_at=job.created_at)
    Job.objects.filter(pk=job.pk).update(state="finished")
    whole = staff.get(address, headers=HTMX)
    assert (whole["HX-Retarget"], whole["HX-Reswap"]) == ("#job", "outerHTML")
    assert b'<div id="job">' in whole.content
    assert b'hx-swap-oob="innerHTML">STREAM was measured on given-host' in whole.content
    assert b"hx-trigger" not in whole.content
    assert b"<!doctype" not in whole.content
    restored = staff.get(address, headers=RESTORED)
    assert b"<!doctype html>" in restored.content


def test_a_job_that_is_being_cancelled_says_so(staff: Client, host: Host) -> None:
    job = job_in(host, "running", cancel_requested_at="2026-12-01T00:00:00Z")
    text = read(staff, f"/jobs/{job.pk}/")
    assert f"Job {job.pk} · being cancelled" in text
    assert "STREAM on given-host is being cancelled" in text


@pytest.mark.parametrize("state", ["running", "finished"])
def test_a_job_takes_few_queries(
    staff: Client, host: Host, state: str, django_assert_max_num_queries: Any
) -> None:
    job = job_in(host, state, "lost", "lost", state)
    if state == "finished":
        job.runs.add(run_with_log())
    with django_assert_max_num_queries(9):
        staff.get(f"/jobs/{job.pk}/")
    # Asked each second: session, account, job, attempts.
    with django_assert_max_num_queries(4):
        staff.get(f"/jobs/{job.pk}/?seen={state}-3-on", headers=HTMX)


@pytest.mark.parametrize("number", ["0", "999999999999999999", "9" * 40])
def test_a_job_that_is_not_there_is_not_found(client: Client, db: None, number: str) -> None:
    assert client.get(f"/jobs/{number}/").status_code == 404


@pytest.mark.parametrize(
    "record", [[], "text", {"a": None}, {"deep": [[[{"b": [1, {}]}]]]}, {"steps": [{}]}]
)
def test_any_record_and_flags_can_be_shown(staff: Client, host: Host, record: Any) -> None:
    job = job_in(host, "failed")
    job.attempts.update(record=record, flags=["word", {}, {"text": "too short"}], tail="")
    assert staff.get(f"/jobs/{job.pk}/").status_code == 200


def test_a_benchmark_whose_runner_is_gone_is_shown_by_its_slug(client: Client, host: Host) -> None:
    job = job_in(host, "failed", benchmark="gone-away", preset="fast", parameters={"x": 1.5})
    text = read(client, f"/jobs/{job.pk}/")
    assert "gone-away failed on given-host" in text
    assert "x 1.5" in text
