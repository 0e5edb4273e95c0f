"""Jobs through the API: read by all, started and cancelled by who may, hostile bodies refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from results.models import Lab
from runners.jobs import local_lab
from runners.models import Attempt, Host, Job
from tests.results.api_data import ROOT, get, make_lab, make_run, queries_of, refused, signed_in
from tests.results.asking import make_token, with_token
from tests.runners.conftest import asked, make_host

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("given_runner")]
JOBS = f"{ROOT}jobs/"
NEVER = "2099-01-01T00:00:00Z"


@pytest.fixture
def program() -> Client:
    """A program of lab acme that may start jobs and nothing else."""
    return with_token(make_token("run", lab=make_lab("acme"))[1])


@pytest.fixture
def staff() -> Client:
    return signed_in(User.objects.create_user("sam", is_staff=True))


def post(client: Client, data: Any, status: int = 201, path: str = "") -> Any:
    """The JSON of a POST of JSON to jobs/, which must answer with `status`."""
    body = data if isinstance(data, str | bytes) else json.dumps(data)
    answer = client.post(JOBS + path, body, content_type="application/json")
    assert answer.status_code == status, (answer.status_code, answer.content[:2_000])
    assert answer["Content-Type"] == "application/json"
    return answer.json()


def fields_of(client: Client, data: Any, status: int = 400) -> dict[str, Any]:
    """What is wrong with a request, by field; nothing was started."""
    found = post(client, data, status)
    assert set(found) == {"message", "fields"}
    assert found["message"]
    assert not Job.objects.exists()
    fields: dict[str, Any] = found["fields"]
    return fields


def set_running(job: Job, **fields: Any) -> None:
    """As if a worker had claimed it."""
    job.attempts.update(state="running", owner="o", lease_until=NEVER, **fields)
    Job.objects.filter(pk=job.pk).update(state="running")


# Starting


def test_a_job_is_started_and_told(program: Client, host: Host) -> None:
    wanted = {"host": "given-host", "benchmark": "stream", "parameters": {"ms": 250}}
    found = post(program, wanted)
    job = Job.objects.get(pk=found["id"])
    assert (found["state"], found["progress"], found["run"], found["message"]) == (
        "queued",
        0.0,
        None,
        "",
    )
    assert (found["host"], found["benchmark"], found["preset"]) == (
        "given-host",
        "stream",
        "standard",
    )
    assert found["parameters"] == {"ms": 250, "way": "well", "serial": 0}
    assert [(one["number"], one["state"]) for one in found["attempts"]] == [(1, "queued")]
    assert (found["runs"], found["reruns"], found["remarks"], found["flags"]) == ([], None, [], [])
    assert found["url"] == f"http://testserver/jobs/{job.pk}/"
    assert job.lab is not None
    assert (job.lab.slug, job.actor_name) == ("acme", "token ci of Acme")


def test_the_answer_says_where_the_job_is(staff: Client, host: Host) -> None:
    answer = staff.post(JOBS, {"benchmark": "stream"}, content_type="application/json")
    place = answer["Location"].removeprefix("http://testserver")
    assert staff.get(place).json()["id"] == answer.json()["id"]


def test_a_form_is_taken_as_well(program: Client, host: Host) -> None:
    data = {"benchmark": "stream", "parameters.ms": "7", "parameters.way": "badly"}
    answer = program.post(JOBS, data)
    assert answer.status_code == 201, answer.content
    assert answer.json()["parameters"] == {"ms": 7, "way": "badly", "serial": 0}
    bad = program.post(JOBS, {"benchmark": "stream", "parameters": "ms=7"})
    assert set(bad.json()["fields"]) == {"parameters"}


def test_the_only_open_host_need_not_be_named(program: Client, host: Host) -> None:
    other = make_host("other-host")
    assert "given-host, other-host" in fields_of(program, {"benchmark": "stream"})["host"][0]
    Host.objects.filter(pk=other.pk).update(is_open=False)
    assert post(program, {"benchmark": "stream"})["host"] == "given-host"


def test_without_an_open_host_it_is_told(program: Client, host: Host) -> None:
    Host.objects.update(is_open=False)
    assert fields_of(program, {"benchmark": "stream"})["host"] == ["no host takes jobs"]
    closed = {"benchmark": "stream", "host": "given-host"}
    assert "takes no jobs" in post(program, closed, 409)["message"]


def test_a_runner_that_is_not_ready_is_a_conflict_in_words(program: Client, host: Host) -> None:
    Host.objects.update(runners={"stream": {"ready": False, "missing": "install gcc"}})
    assert "install gcc" in post(program, {"benchmark": "stream"}, 409)["message"]


def test_a_run_is_repeated_as_the_host_can_do_it(program: Client, host: Host) -> None:
    run = make_run(parameters={"placement": "all", "array_gib": 16})
    found = post(program, {"run": run.pk, "parameters": {"ms": 5}})
    assert (found["benchmark"], found["reruns"]) == ("stream", run.pk)
    # PostgreSQL keeps the names of a document in an order of its own.
    assert sorted(found["remarks"]) == ["array_gib: not here", "placement: not here"]
    assert found["parameters"]["ms"] == 5


def test_a_run_that_one_may_not_see_is_not_repeated(program: Client, host: Host) -> None:
    hidden = make_run(lab=make_lab("other"), state="draft")
    missing = fields_of(program, {"run": 10**9})["run"][0]
    assert fields_of(program, {"run": hidden.pk})["run"] == [
        missing.replace(str(10**9), str(hidden.pk))
    ]
    other = {"run": make_run().pk, "benchmark": "tinymembench"}
    assert set(fields_of(program, other)) == {"benchmark"}


def test_publishing_is_for_the_staff(program: Client, staff: Client, host: Host) -> None:
    post(program, {"benchmark": "stream", "publish": True}, 403)
    assert not Job.objects.exists()
    assert post(staff, {"benchmark": "stream", "publish": True})["publish"] is True


def test_who_may_not_run_is_refused_unread(host: Host, client: Client) -> None:
    post(client, b"{", 401)
    for scopes in (("upload",), ("publish",)):
        post(with_token(make_token(*scopes)[1]), b"{", 403)
    post(signed_in(User.objects.create_user("mia")), b"{", 403)
    assert not Job.objects.exists()


# What is wrong


@pytest.mark.parametrize(
    ("data", "names"),
    [
        ({}, {"benchmark"}),
        ({"benchmark": "streem"}, {"benchmark"}),
        ({"benchmark": "gromacs"}, {"benchmark"}),
        ({"benchmark": "stream", "host": "givn-host"}, {"host"}),
        ({"benchmark": "stream", "host": "-x"}, {"host"}),
        ({"benchmark": "stream", "preset": "standrad"}, {"preset"}),
        ({"benchmark": "stream", "thread": 1}, {"thread"}),
        ({"benchmark": "stream", "parameters": [1]}, {"parameters"}),
        ({"benchmark": "stream", "parameters": "ms=1"}, {"parameters"}),
        ({"benchmark": "stream", "parameters": {"mz": 1}}, {"parameters.mz"}),
        ({"benchmark": "stream", "parameters": {"ms": -1}}, {"parameters.ms"}),
        ({"benchmark": "stream", "parameters": {"ms": [1]}}, {"parameters.ms"}),
        ({"benchmark": "stream", "parameters": {"ms": {"a": 1}}}, {"parameters.ms"}),
        ({"benchmark": "stream", "parameters": {"ms": True}}, {"parameters.ms"}),
        (
            {"benchmark": "stream", "parameters": {"ms": "x", "way": "up"}},
            {"parameters.ms", "parameters.way"},
        ),
        ({"benchmark": "stream", "publish": "perhaps"}, {"publish"}),
        ({"benchmark": "stream", "run": "1; drop"}, {"run"}),
        ({"benchmark": ["stream", "stream"]}, {"benchmark"}),
        ({"benchmark": {"a": 1}}, {"benchmark"}),
        ([], set()),
        ("stream", set()),
        (None, set()),
    ],
)
def test_what_is_wrong_is_told_by_field(
    program: Client, host: Host, data: Any, names: set[str]
) -> None:
    assert set(fields_of(program, json.dumps(data))) == names


HOSTILE = (
    "-x",
    "--help",
    "—help",
    "; reboot",
    "$(reboot)",
    "`reboot`",
    "a\nb",
    "a\x00b",
    "../../etc/passwd",
    "9" * 400,
    "1e999",
    "nan",
    "x" * 10**6,
)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:12]))
def test_hostile_texts_are_refused_by_field(program: Client, host: Host, text: str) -> None:
    for name in ("ms", "way"):
        wanted = {"benchmark": "stream", "parameters": {name: text}}
        assert set(fields_of(program, wanted)) == {f"parameters.{name}"}
    for name in ("host", "benchmark", "preset", "run"):
        assert set(fields_of(program, {"benchmark": "stream", name: text})) == {name}
    (found,) = fields_of(program, {"benchmark": "stream", "parameters": {text: 1}})
    assert len(found) <= len("parameters.") + 60
    (found,) = fields_of(program, {"benchmark": "stream", text: 1})
    assert len(found) <= 60


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"\xff\xfe",
        b'{"benchmark": "stream", "parameters": {"ms": NaN}}',
        b'{"benchmark": "stream", "parameters": {"ms": ' + b"9" * 5_000 + b"}}",
        b'{"benchmark": "stream", "parameters": {"\\ud800": 1}}',
        b'{"\\ud800": 1}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"benchmark": "stream", "parameters": {' + b'"a": {' * 50_000 + b"}" * 50_002,
        json.dumps({"benchmark": "stream", "parameters": dict.fromkeys(map(str, range(9_999)), 1)}),
    ],
    ids=lambda body: repr(body[:40]),
)
def test_bodies_that_are_no_request_are_400(program: Client, host: Host, body: Any) -> None:
    fields_of(program, body)


def test_other_kinds_of_bodies_and_large_ones_are_not_read(program: Client, host: Host) -> None:
    assert program.post(JOBS, b"x", content_type="text/plain").status_code == 415
    answer = program.post(JOBS, b"[" * 3_000_000, content_type="application/json")
    assert (answer.status_code, set(answer.json())) == (413, {"message", "fields"})
    assert not Job.objects.exists()


# Reading


def test_progress_steps_and_attempts_are_read_by_all(client: Client, host: Host) -> None:
    job = asked(host)
    set_running(job, progress=0.4, step="measure", started_at="2026-12-01T00:00:00Z")
    found = get(client, f"jobs/{job.pk}/")
    assert (found["state"], found["progress"], found["step"]) == ("running", 0.4, "measure")
    assert found["attempts"] == [
        {
            "number": 1,
            "state": "running",
            "started_at": "2026-12-01T00:00:00Z",
            "finished_at": None,
            "message": "",
        }
    ]
    job.attempts.update(state="lost", message="its worker died")
    Attempt.objects.create(job=job, host=host, number=2)
    found = get(client, f"jobs/{job.pk}/")
    assert [one["state"] for one in found["attempts"]] == ["lost", "queued"]
    assert (found["attempts"][0]["message"], found["progress"]) == ("its worker died", 0.0)


def test_the_log_is_for_the_staff_the_hubs_lab_and_who_asked(
    program: Client, staff: Client, client: Client, host: Host
) -> None:
    job = Job.objects.get(pk=post(program, {"benchmark": "stream"})["id"])
    set_running(job, tail="Copy: 12345.6", flags=[{"word": "load", "text": "Others used it."}])
    other = with_token(make_token("run", lab=make_lab("other"))[1])
    hub = with_token(make_token("run", lab=local_lab())[1])
    tails = {
        who: get(asker, f"jobs/{job.pk}/")["tail"]
        for who, asker in {
            "staff": staff,
            "own": program,
            "hub": hub,
            "other": other,
            "anon": client,
        }.items()
    }
    told = "Copy: 12345.6"
    assert tails == {"staff": told, "own": told, "hub": told, "other": None, "anon": None}
    flags = [{"word": "load", "text": "Others used it."}]
    assert get(program, f"jobs/{job.pk}/")["flags"] == flags
    assert get(client, f"jobs/{job.pk}/")["flags"] is None
    job.runs.add(make_run())
    assert get(client, f"jobs/{job.pk}/")["flags"] == flags
    for asker in (staff, client):
        assert b"12345.6" not in asker.get(JOBS).content


def test_runs_that_one_may_not_see_are_left_out(client: Client, staff: Client, host: Host) -> None:
    drafts = [make_run(lab=local_lab(), state="draft") for _ in range(2)]
    hidden = make_run(lab=make_lab("acme"), state="draft")
    job = asked(host)
    Job.objects.update(state="finished", finished_at=NEVER, reruns=hidden)
    job.attempts.update(state="finished", progress=1.0)
    job.runs.set(drafts)
    path = f"jobs/{job.pk}/"
    assert [get(client, path)[name] for name in ("run", "runs", "reruns")] == [None, [], None]
    ids = [run.pk for run in drafts]
    told = get(staff, path)
    assert [told[name] for name in ("run", "runs", "reruns")] == [ids[0], ids, hidden.pk]
    type(hidden).objects.filter(pk=ids[1]).update(state="published", published_at=NEVER)
    assert get(client, path)["run"] == ids[1]
    assert (told["state"], told["progress"]) == ("finished", 1.0)


def test_jobs_are_found_by_state_host_and_benchmark(client: Client, host: Host) -> None:
    first, second = asked(host), asked(make_host("other-host"))
    set_running(second)

    def ids(**query: str) -> list[int]:
        return [one["id"] for one in get(client, "jobs/", query)["results"]]

    assert ids() == [second.pk, first.pk]
    assert ids(state="running") == [second.pk]
    assert ids(host="given-host") == [first.pk]
    assert ids(benchmark="stream", host="other-host", state="queued") == []
    assert ids(benchmark="gromacs") == []
    for name, value in {"state": "lost", "host": "nowhere", "benchmark": "streem"}.items():
        assert set(refused(client, "jobs/", {name: value})) == {name}


def test_a_list_takes_the_same_few_queries_whatever_is_stored(client: Client, host: Host) -> None:
    asked(host).runs.set([make_run()])
    few = queries_of(client, "jobs/"), queries_of(client, "hosts/")
    for number in range(5):
        job = asked(make_host(f"host-{number}"))
        job.runs.set([make_run(), make_run()])
        asked(host)
    assert (queries_of(client, "jobs/"), queries_of(client, "hosts/")) == few
    assert max(few) <= 4


# Cancelling


def test_a_waiting_job_is_cancelled_and_then_it_is_over(
    program: Client, staff: Client, host: Host
) -> None:
    number = post(program, {"benchmark": "stream"})["id"]
    found = post(program, {}, 202, f"{number}/cancel/")
    assert (found["state"], found["cancelling"]) == ("cancelled", False)
    assert found["message"] == ""
    assert get(staff, f"jobs/{number}/")["message"] == "cancelled by token ci of Acme"
    again = post(program, {}, 409, f"{number}/cancel/")
    assert "over" in again["message"]
    assert program.post(f"{JOBS}{number}/cancel/").status_code == 409


def test_a_running_job_is_told_to_be_cancelling(staff: Client, host: Host) -> None:
    job = asked(host)
    set_running(job)
    found = post(staff, {}, 202, f"{job.pk}/cancel/")
    assert (found["state"], found["cancelling"]) == ("running", True)
    assert post(staff, {}, 202, f"{job.pk}/cancel/")["cancelling"] is True


@pytest.mark.parametrize("number", ["0", "999999999999999999", "9" * 19, "-1", "x"])
def test_what_is_not_there_is_not_cancelled(staff: Client, host: Host, number: str) -> None:
    post(staff, {}, 404, f"{number}/cancel/")


def test_a_token_cancels_what_its_own_lab_asked_for(
    program: Client, client: Client, host: Host
) -> None:
    hubs = asked(host)
    post(program, {}, 403, f"{hubs.pk}/cancel/")
    post(client, {}, 401, f"{hubs.pk}/cancel/")
    post(
        with_token(make_token("publish", lab=Lab.objects.get(slug="acme"))[1]),
        {},
        403,
        f"{hubs.pk}/cancel/",
    )
    hubs.refresh_from_db()
    assert (hubs.state, hubs.cancel_requested_at) == ("queued", None)
