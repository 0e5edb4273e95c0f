"""`POST uploads/` and what follows, by the contract: every status, and nothing left behind."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from results import artefacts
from results.api.views.uploads import forget
from results.intake.work import fail
from results.models import Artefact, Lab, Membership, Run, Token, Upload
from results.receiving import MOST_BYTES, Received, gate
from tests.results.api_data import get, make_lab, refused, signed_in
from tests.results.bundles import SYSTEM
from tests.results.uploading import (
    LSCPU,
    STREAM_LOG,
    UPLOADS,
    a_bundle,
    a_log,
    bad,
    kept_files,
    member,
    post,
    sent,
    with_token,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("store")]
CONTRACT = {"id", "state", "systems", "runs", "questions", "problems"}
PROBLEM = {"file", "line", "found", "expected", "message"}
SOON = timedelta(days=3)


def nothing_stored(store: Path) -> bool:
    """No row and no file."""
    rows = (Upload.objects.exists(), Artefact.objects.filter(stored=True).exists())
    return rows == (False, False) and kept_files(store) == []


# 201: stored


def test_a_bundle_is_stored_and_understood(uploader: Client) -> None:
    answer = uploader.post(UPLOADS, {"file": a_bundle()})
    assert answer.status_code == 201
    found = answer.json()
    assert set(found) >= CONTRACT
    assert answer["Location"] == f"http://testserver{UPLOADS}{found['id']}/"
    assert (found["state"], found["systems"], found["lab"]) == ("parsed", [SYSTEM], "acme")
    (one,) = found["runs"]
    assert (one["system"], one["benchmark"], one["scope"]) == (SYSTEM, "stream", "system")
    assert one["parameters"] == {"placement": "all", "threads": 64, "smt": "off"}
    (value,) = one["measurements"]
    assert (value["metric"], value["value"], value["unit"]) == ("triad.bandwidth", 100.0, "GB/s")
    assert value["evidence"]["artefact"] == "b.json"
    assert (found["questions"], found["problems"]) == ([], [])
    stored = Run.objects.get(pk=one["run"])
    assert (stored.state, stored.lab.slug, one["known"]) == ("draft", "acme", False)
    assert get(uploader, f"uploads/{found['id']}/") == found


def test_a_log_asks_for_its_system_and_set_answers_the_rest(uploader: Client) -> None:
    answer = {"file": a_log(), "set": ["placement=local", "node=n1", "scope=socket"]}
    found = post(uploader, "", answer, 201)
    assert (found["state"], [q["field"] for q in found["questions"]]) == ("parsed", ["system"])
    assert Run.objects.filter(lab__slug="acme").count() == 0
    found = post(uploader, f"{found['id']}/", {"system": SYSTEM})
    (one,) = found["runs"]
    assert found["questions"] == []
    assert (one["parameters"]["placement"], one["node"], one["scope"]) == ("local", "n1", "socket")
    triad = one["measurements"][-1]
    assert (triad["metric"], triad["value"]) == ("triad.bandwidth", 82.1506)
    assert triad["evidence"] == {"artefact": "gcc_2t.txt", "lines": [30, 30]}


def test_several_files_are_understood_together(uploader: Client) -> None:
    files = [a_log(), sent(LSCPU.name, LSCPU.read_bytes())]
    found = post(uploader, "", {"file": files, "system": "new", "set": "scope=system"}, 201)
    assert [(f["name"], f["kind"]) for f in found["files"]] == [
        ("gcc_2t.txt", "STREAM"),
        ("lscpu.json", "lscpu -J"),
    ]
    assert found["files"][0]["sha256"] == sha256(STREAM_LOG.read_bytes()).hexdigest()
    assert found["machine"]["proposed"]["slug"] == found["systems"][0]
    assert found["questions"] == []


def test_what_is_sent_to_be_published_is_public_at_once(publisher: Client) -> None:
    found = post(publisher, "", {"file": a_bundle(), "publish": "1"}, 201)
    assert found["state"] == "published"
    assert get(Client(), f"runs/{found['runs'][0]['run']}/")["state"] == "published"


def test_what_is_to_be_published_but_open_is_published_with_the_answer(publisher: Client) -> None:
    found = post(publisher, "", {"file": a_log(), "publish": "true"}, 201)
    assert (found["state"], len(found["questions"])) == ("parsed", 1)
    answer = {"system": SYSTEM, "set": "scope=system"}
    assert post(publisher, f"{found['id']}/", answer)["state"] == "published"


def test_an_embargo_publishes_by_itself_and_not_before(publisher: Client) -> None:
    moment = (timezone.now() + SOON).replace(microsecond=0)
    data = {"file": a_bundle(), "publish": "1", "publish_at": moment.isoformat()}
    found = post(publisher, "", data, 201)
    assert (found["state"], datetime.fromisoformat(found["publish_at"])) == ("parsed", moment)
    assert Run.objects.get(pk=found["runs"][0]["run"]).state == "scheduled"
    refused(Client(), f"runs/{found['runs'][0]['run']}/", status=404)


def test_a_date_for_what_is_still_open_is_told_not_taken(publisher: Client) -> None:
    moment = (timezone.now() + SOON).isoformat()
    found = post(publisher, "", {"file": a_log(), "publish_at": moment}, 201)
    assert found["publish_at"] is None
    assert "no date" in found["remarks"][-1]["text"]
    answer = {"system": SYSTEM, "set": "scope=system", "publish_at": moment}
    assert post(publisher, f"{found['id']}/", answer)["publish_at"] is not None


def test_what_nobody_has_read_yet_is_received(
    uploader: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("results.intake.client.have_read", lambda pk: None)
    found = post(uploader, "", {"file": a_bundle()}, 201)
    assert (found["state"], found["runs"], found["machine"]) == ("received", [], None)
    assert [(f["name"], f["kind"]) for f in found["files"]] == [("b.json", "")]


# 200: known, or a dry run


def test_the_same_files_are_the_same_upload(uploader: Client, store: Path) -> None:
    first = post(uploader, "", {"file": a_bundle()}, 201)
    files = kept_files(store)
    assert post(uploader, "", {"file": a_bundle()}, 200) == first
    assert (Upload.objects.count(), kept_files(store)) == (1, files)


def test_the_same_files_with_other_fields_answer_the_questions(uploader: Client) -> None:
    first = post(uploader, "", {"file": a_log()}, 201)
    assert first["questions"]
    data = {"file": a_log(), "system": SYSTEM, "set": "scope=system"}
    found = post(uploader, "", data, 200)
    assert (found["id"], found["questions"], found["systems"]) == (first["id"], [], [SYSTEM])


def test_known_files_that_are_published_stay_as_they_are(publisher: Client) -> None:
    first = post(publisher, "", {"file": a_bundle(), "publish": "1"}, 201)
    again = post(publisher, "", {"file": a_bundle(), "publish": "1"}, 200)
    assert (again["id"], again["state"], again["remarks"]) == (first["id"], "published", [])
    other = post(publisher, "", {"file": a_bundle(), "set": "node=n2"}, 200)
    assert "not taken" in other["remarks"][-1]["text"]


def test_a_dry_run_tells_the_same_and_stores_nothing(uploader: Client, store: Path) -> None:
    dry = post(uploader, "", {"file": a_bundle(), "dry_run": "1"}, 200)
    assert nothing_stored(store)
    real = post(uploader, "", {"file": a_bundle()}, 201)
    assert (dry["id"], dry["url"], dry["state"], dry["lab"]) == (None, None, "parsed", "acme")
    assert set(dry) == set(real)
    for name in ("systems", "files", "questions", "problems", "machine"):
        assert dry[name] == real[name]
    assert dry["runs"][0]["measurements"] == real["runs"][0]["measurements"]


def test_a_dry_run_of_stored_files_leaves_them(uploader: Client, store: Path) -> None:
    post(uploader, "", {"file": a_bundle()}, 201)
    files = kept_files(store)
    found = post(uploader, "", {"file": a_bundle(), "dry_run": "1"}, 200)
    assert (found["id"], found["runs"][0]["known"]) == (None, True)
    assert kept_files(store) == files


def test_a_dry_run_publishes_nothing(publisher: Client, store: Path) -> None:
    data = {"file": a_bundle(), "dry_run": "1", "publish": "1"}
    assert post(publisher, "", data, 200)["state"] == "parsed"
    assert nothing_stored(store)


def test_a_file_that_somebody_keeps_meanwhile_is_not_taken_back(store: Path) -> None:
    with artefacts.Writer() as writer:
        writer.write(b"x")
        digest = writer.keep()
    mine = Received("a", digest, 1, writer.made_ns)
    artefacts.save(b"x")
    forget([mine])
    assert kept_files(store) == [digest]


def test_a_file_that_a_row_names_is_not_taken_back(store: Path) -> None:
    with artefacts.Writer() as writer:
        writer.write(b"x")
        digest = writer.keep()
    Artefact.objects.create(sha256=digest, name="a", size=1)
    forget([Received("a", digest, 1, writer.made_ns)])
    assert kept_files(store) == [digest]


# 400: refused


def test_a_refused_file_is_400_with_its_problems_again_under_the_same_id(uploader: Client) -> None:
    first = post(uploader, "", {"file": bad()}, 400)
    assert (first["state"], first["runs"]) == ("rejected", [])
    (problem,) = first["problems"]
    assert set(problem) >= PROBLEM
    assert (problem["file"], problem["line"]) == ("b.json", 24)
    assert post(uploader, "", {"file": bad()}, 400) == first
    assert get(uploader, f"uploads/{first['id']}/") == first
    assert Upload.objects.count() == 1


def test_a_dry_run_of_a_refused_file_is_400_too(uploader: Client, store: Path) -> None:
    found = post(uploader, "", {"file": bad(), "dry_run": "yes"}, 400)
    assert (found["id"], found["state"], len(found["problems"])) == (None, "rejected", 1)
    assert nothing_stored(store)


def test_a_dry_run_that_takes_too_long_is_400(
    uploader: Client, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("results.intake.client.have_looked_at", lambda *_, **__: None)
    found = post(uploader, "", {"file": a_bundle(), "dry_run": "1"}, 400)
    assert (found["state"], found["problems"][0]["message"]) == (
        "failed",
        "These files could not be read in time.",
    )
    assert nothing_stored(store)


def test_reading_that_failed_is_400_and_can_be_tried_again(
    uploader: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("results.intake.client.have_read", lambda pk: fail(pk, "it broke"))
        found = post(uploader, "", {"file": a_bundle()}, 400)
    assert (found["state"], found["problems"][0]["message"]) == ("failed", "it broke")
    assert post(uploader, "", {"file": a_bundle()}, 400)["id"] == found["id"]
    again = post(uploader, f"{found['id']}/")
    assert (again["id"], again["state"]) == (found["id"], "parsed")


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"set": "smt"}, "set"),
        ({"set": "scope=galaxy"}, "set"),
        ({"set": f"{'k' * 61}=1"}, "set"),
        ({"sytem": "x"}, "sytem"),
        ({"benchmark": "streem"}, "benchmark"),
        ({"system": "s" * 81}, "system"),
        ({"lab": "a\x00b"}, "lab"),
        ({"publish": "maybe"}, "publish"),
        ({"dry_run": "2"}, "dry_run"),
        ({"lab": ["acme", "acme"]}, "lab"),
        ({"publish_at": "tomorrow"}, "publish_at"),
        ({"publish_at": "2099-01-01T00:00:00"}, "publish_at"),
        ({"publish_at": "2001-01-01T00:00:00Z"}, "publish_at"),
        ({"corrects": "x", "reason": "y"}, "corrects"),
        ({"corrects": "9" * 18, "reason": "y"}, "corrects"),
        ({"reason": "y"}, "reason"),
        ({"reason": "\x1b", "corrects": "1"}, "reason"),
    ],
)
def test_what_is_wrong_with_the_request_is_told_by_field_and_nothing_stored(
    publisher: Client, store: Path, data: Mapping[str, Any], field: str
) -> None:
    found = post(publisher, "", {"file": a_bundle(), **data}, 400)
    assert set(found) == {"message", "fields"}
    assert set(found["fields"]) == {field}
    assert nothing_stored(store)


def test_a_request_without_a_file_is_told_so(uploader: Client) -> None:
    assert set(post(uploader, "", {"lab": "acme"}, 400)["fields"]) == {"file"}


def test_a_system_that_is_not_known_is_a_problem_of_the_upload(uploader: Client) -> None:
    found = post(uploader, "", {"file": a_log(), "system": "nowhere"}, 400)
    assert (found["state"], found["problems"][0]["field"]) == ("rejected", "system")


# Whose they are


def test_one_lab_is_taken_and_several_are_asked_for(lab: Lab) -> None:
    mia = member(lab, "mia")
    client = signed_in(mia)
    assert post(client, "", {"file": a_bundle()}, 201)["lab"] == "acme"
    member(make_lab("other"), "mia")
    found = post(client, "", {"file": a_log(), "system": SYSTEM}, 201)
    assert found["lab"] is None
    question = found["questions"][0]
    assert (question["field"], [o["value"] for o in question["options"]]) == (
        "lab",
        ["acme", "other"],
    )
    found = post(client, f"{found['id']}/", {"lab": "other", "set": "scope=system"})
    assert (found["lab"], found["questions"]) == ("other", [])


def test_the_same_files_with_a_lab_answer_which_lab(lab: Lab) -> None:
    member(make_lab("other"), "mia")
    client = signed_in(member(lab, "mia"))
    first = post(client, "", {"file": a_log()}, 201)
    found = post(client, "", {"file": a_log(), "lab": "acme"}, 200)
    assert (found["id"], found["lab"]) == (first["id"], "acme")
    assert post(client, "", {"file": a_log(), "lab": "acme"}, 200)["id"] == first["id"]


def test_a_foreign_lab_and_one_that_is_not_there_are_refused_alike(
    uploader: Client, lab: Lab, store: Path
) -> None:
    make_lab("other")
    clients = (uploader, signed_in(member(lab, "mia")))
    for client in clients:
        said = [
            post(client, "", {"file": a_bundle(), "lab": slug}, 403) for slug in ("other", "nope")
        ]
        assert [set(one["fields"]) for one in said] == [{"lab"}, {"lab"}]
        assert said[0]["message"].replace("other", "nope") == said[1]["message"]
    assert nothing_stored(store)


def test_the_staff_uploads_for_any_lab_and_is_told_of_one_that_is_not_there(
    staff: Client, lab: Lab
) -> None:
    assert post(staff, "", {"file": a_bundle(), "lab": "acme"}, 201)["lab"] == "acme"
    found = post(staff, "", {"file": a_log(), "lab": "acmee"}, 400)
    assert "did you mean acme" in found["fields"]["lab"][0]


# 401 and 403


def test_without_a_key_nothing_is_read(client: Client, store: Path) -> None:
    answer = client.post(UPLOADS, {"file": a_bundle()})
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Token")
    assert set(answer.json()) == {"message", "fields"}
    assert nothing_stored(store)
    wrong = Client(headers={"authorization": "Token nonsense"})
    post(wrong, "", {"file": a_bundle()}, 401)
    assert nothing_stored(store)


def test_who_may_upload_for_no_lab_is_refused_unread(lab: Lab, store: Path) -> None:
    runner = with_token(lab, "run")
    stranger = signed_in(User.objects.create_user("otto"))
    for client in (runner, stranger):
        post(client, "", {"file": a_bundle()}, 403)
    assert nothing_stored(store)


def test_a_revoked_token_is_no_key(uploader: Client) -> None:
    Token.objects.update(revoked_at=timezone.now())
    post(uploader, "", {"file": a_bundle()}, 401)


def test_a_session_needs_its_csrf_token_and_a_lab_token_does_not(lab: Lab) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(member(lab, "mia"))
    post(client, "", {"file": a_bundle()}, 403)
    client.get("/accounts/login/")
    key = {"x-csrftoken": client.cookies["csrftoken"].value}
    assert post(client, "", {"file": a_bundle()}, 201, headers=key)["state"] == "parsed"


@pytest.mark.parametrize("data", [{"publish": "1"}, {"publish_at": "2099-01-01T00:00:00Z"}])
def test_publishing_without_the_right_is_refused_before_anything_is_stored(
    uploader: Client, lab: Lab, store: Path, data: Mapping[str, str]
) -> None:
    for client in (uploader, signed_in(member(lab, "mia"))):
        post(client, "", {"file": a_bundle(), **data}, 403)
    assert nothing_stored(store)


def test_publishing_for_a_lab_that_is_open_asks_for_it(lab: Lab, store: Path) -> None:
    member(make_lab("other"), "pia", Membership.Role.PUBLISHER)
    client = signed_in(member(lab, "pia", Membership.Role.PUBLISHER))
    found = post(client, "", {"file": a_bundle(), "publish": "1"}, 400)
    assert set(found["fields"]) == {"lab"}
    assert nothing_stored(store)
    data = {"file": a_bundle(), "publish": "1", "lab": "acme"}
    assert post(client, "", data, 201)["state"] == "published"


# 404


def test_what_is_not_ones_own_is_not_there(uploader: Client, client: Client) -> None:
    pk = post(uploader, "", {"file": a_bundle(), "system": SYSTEM}, 201)["id"]
    stranger = with_token(make_lab("other"))
    for path in ("", "publish/", "send/", "withdraw/", "return/", "label/"):
        post(stranger, f"{pk}/{path}", {"reason": "x"}, 404)
        post(client, f"{pk}/{path}", {"reason": "x"}, 401)
    for asker in (client, stranger):
        refused(asker, f"uploads/{pk}/", status=404)
        assert get(asker, "uploads/")["results"] == []
        assert get(asker, "uploads/", {"lab": "acme"})["count"] == 0
    post(uploader, "999999/", {}, 404)


# Other refusals of a body


def test_a_body_of_unknown_length_is_411_and_a_large_one_413(uploader: Client) -> None:
    kind = "multipart/form-data; boundary=b"
    for more, status in (
        ({"HTTP_TRANSFER_ENCODING": "chunked"}, 411),
        ({"CONTENT_LENGTH": str(MOST_BYTES * 2)}, 413),
    ):
        answer = uploader.generic("POST", UPLOADS, b"--b--", content_type=kind, **more)  # type: ignore[arg-type]
        assert (answer.status_code, set(answer.json())) == (status, {"message", "fields"})


def test_a_full_disk_is_507(uploader: Client, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(artefacts.Writer, "write", full)
    answer = uploader.post(UPLOADS, {"file": a_bundle()})
    assert (answer.status_code, set(answer.json())) == (507, {"message", "fields"})
    assert nothing_stored(store)


def test_too_many_at_once_are_503(uploader: Client, settings: Settings) -> None:
    settings.UPLOADS_AT_ONCE = 0
    gate._places.cache_clear()
    try:
        answer = uploader.post(UPLOADS, {"file": a_bundle()})
    finally:
        gate._places.cache_clear()
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")


def test_a_body_that_is_no_form_is_415(uploader: Client) -> None:
    answer = uploader.generic("POST", UPLOADS, b"x", content_type="text/plain")
    assert (answer.status_code, set(answer.json())) == (415, {"message", "fields"})
