"""What is done with an upload on its page: what each act does, and who may."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, NamedTuple

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from results.intake import previews, standing, work
from results.intake.given import Given
from results.intake.uploads import submit
from results.models import Run, Trust, Upload
from tests.results.bundles import run
from tests.results.pages import read
from tests.results.sent import (
    VERA,
    bundle_of,
    kept,
    lab_of,
    member,
    publisher,
    sent,
    staff,
    stream_log,
)

pytestmark = pytest.mark.usefixtures("reference")
LATER = "2028-05-01T10:30"


def ready() -> Upload:
    return sent(actor=publisher(lab_of()))


def in_review() -> Upload:
    return standing.send(upload=ready(), actor=publisher(lab_of()))


def scheduled() -> Upload:
    moment = timezone.now() + timedelta(days=3)
    return standing.schedule_upload(upload=ready(), actor=publisher(lab_of()), publish_at=moment)


def asked() -> Upload:
    return sent({"stream.log": stream_log()}, actor=publisher(lab_of()))


def failed() -> Upload:
    lab = lab_of()
    files = kept({"r.json": bundle_of(lab)})
    upload, _ = submit(actor=publisher(lab), lab=lab, files=files, given=Given())
    work.fail(upload.pk, "it took too long")
    return upload


def linked() -> Upload:
    upload = ready()
    previews.make_link(upload=upload, actor=publisher(lab_of()), days=1)
    return upload


def published() -> Upload:
    return standing.publish_upload(upload=ready(), actor=publisher(lab_of()))


class Act(NamedTuple):
    """An act on an upload made ready for it, what is posted, who may, what it leads to."""

    made: Callable[[], Upload]
    posted: Mapping[str, Any]
    who: str
    leads_to: Callable[[Upload], bool]


ALL, SOME, JUDGES = "member publisher staff", "publisher staff", "staff"
ACTS = {
    "answer": Act(asked, {"system": VERA}, ALL, lambda u: not u.report["questions"]),
    "replace": Act(
        ready, {"file": b"something else"}, ALL, lambda u: u.state == Upload.State.REJECTED
    ),
    "again": Act(failed, {}, ALL, lambda u: u.state == Upload.State.PARSED),
    "send": Act(ready, {"publish_at": LATER}, ALL, lambda u: u.is_in_review),
    "return": Act(in_review, {"why": "say the node"}, SOME, lambda u: u.note == "say the node"),
    "label": Act(
        in_review,
        {"trust": "1", "not_ranked_because": "a shared machine"},
        JUDGES,
        lambda u: (u.trust, u.not_ranked_because) == (Trust.VERIFIED, "a shared machine"),
    ),
    "publish": Act(ready, {}, SOME, lambda u: u.state == Upload.State.PUBLISHED),
    "schedule": Act(
        ready,
        {"publish_at": LATER},
        SOME,
        lambda u: f"{u.publish_at:%Y-%m-%dT%H:%M}" == LATER if u.publish_at else False,
    ),
    "unschedule": Act(scheduled, {}, SOME, lambda u: u.publish_at is None),
    "withdraw": Act(
        published, {"reason": "wrong host"}, ALL, lambda u: u.state == Upload.State.WITHDRAWN
    ),
    "link": Act(ready, {"days": "7"}, ALL, lambda u: bool(u.preview_key)),
    "close-links": Act(linked, {}, ALL, lambda u: not u.preview_key),
}
ROLES = ("nobody", "other", "member", "publisher", "staff")


def client_of(role: str) -> Client:
    """A client of that role towards lab acme."""
    client = Client()
    if role == "nobody":
        return client
    made: dict[str, Callable[[], User]] = {
        "other": lambda: publisher(lab_of("other"), "otto"),
        "member": lambda: member(lab_of(), "moe"),
        "publisher": lambda: publisher(lab_of()),
        "staff": staff,
    }
    client.force_login(made[role]())
    return client


def post(client: Client, upload: Upload, act: str, posted: Mapping[str, Any]) -> Any:
    data = {
        name: SimpleUploadedFile("new.log", value) if isinstance(value, bytes) else value
        for name, value in posted.items()
    }
    return client.post(f"/uploads/{upload.pk}/{act}/", data)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", ACTS)
def test_each_act_is_done_for_who_may_and_for_nobody_else(name: str, role: str) -> None:
    act = ACTS[name]
    upload = act.made()
    answer = post(client_of(role), upload, name, act.posted)
    upload.refresh_from_db()
    assert act.leads_to(upload) is (role in act.who)
    if role in ("member", "publisher", "staff"):
        assert (answer.status_code, answer["Location"]) == (303, f"/uploads/{upload.pk}/")
    elif role == "nobody" and name == "replace":
        assert answer["Location"].startswith("/accounts/login/")
    else:
        assert answer.status_code == 404


@pytest.mark.parametrize("name", ACTS)
def test_acts_are_posted_never_fetched(name: str) -> None:
    upload = ready()
    answer = client_of("staff").get(f"/uploads/{upload.pk}/{name}/")
    assert answer.status_code == 405


@pytest.mark.parametrize("name", ACTS)
@pytest.mark.parametrize("made", [ready, asked, failed, scheduled, published])
def test_an_act_at_the_wrong_time_is_answered_in_words(
    name: str, made: Callable[[], Upload]
) -> None:
    upload = made()
    client = client_of("staff")
    answer = post(client, upload, name, ACTS[name].posted)
    assert answer.status_code == 303
    assert client.get(answer["Location"]).status_code == 200


@pytest.mark.parametrize(
    ("name", "posted", "words"),
    [
        ("withdraw", {"reason": "  "}, "A withdrawal needs a reason."),
        ("withdraw", {"reason": "x" * 1001}, "At most 1,000 characters are expected here."),
        ("return", {"why": ""}, "Say in a note what is to be mended."),
        ("schedule", {"publish_at": ""}, "Say when it is to be published."),
        ("schedule", {"publish_at": "tomorrow"}, "A date and time is expected"),
        ("schedule", {"publish_at": "2020-01-01T10:00"}, "The date must lie in the future."),
        ("schedule", {"publish_at": "9998-01-01T10:00"}, "A date and time is expected"),
        ("schedule", {"publish_at": "2090-01-01T10:00"}, "within three years"),
        ("send", {"publish_at": "0001-01-01T00:00+14:00"}, "The date must lie in the future."),
        ("link", {"days": "365"}, "A link lasts 1, 7 or 30 days."),
        ("link", {"days": "²"}, "A choice of the list is expected here."),
        ("label", {"trust": "9"}, "A choice of the list is expected here."),
        ("replace", {}, "Choose at least one file."),
        ("again", {}, "Only an upload whose reading failed is read again."),
        ("unschedule", {}, "This upload has no date."),
    ],
)
def test_what_cannot_be_done_is_told(name: str, posted: dict[str, str], words: str) -> None:
    upload = in_review()
    client = client_of("staff")
    assert post(client, upload, name, posted).status_code == 303
    assert words in read(client, f"/uploads/{upload.pk}/")


def test_an_upload_goes_from_the_member_to_review_back_and_to_publication() -> None:
    upload = ready()
    address = f"/uploads/{upload.pk}/"
    moe, sam = client_of("member"), client_of("staff")
    assert "Send for review" in read(moe, address)
    assert "Publish now" not in read(moe, address)
    post(moe, upload, "send", {"publish_at": LATER})
    assert "1 run in review" in read(moe, address)
    assert "1 May 2028, 10:30 UTC" in read(sam, "/review/")
    post(sam, upload, "return", {"why": "which node?"})
    assert "Returned with a note: which node?" in read(moe, address)
    post(moe, upload, "answer", {"set": "node=n7"})
    post(moe, upload, "send", {})
    post(sam, upload, "publish", {})
    assert "1 run published" in read(moe, address)
    made = Run.objects.get(uploads=upload)
    assert (made.state, made.node) == (Run.State.PUBLISHED, "n7")


def test_a_date_is_shown_and_taken_back() -> None:
    upload = ready()
    pia = client_of("publisher")
    post(pia, upload, "schedule", {"publish_at": LATER})
    assert "To be published on 1 May 2028, 10:30 UTC" in read(pia, f"/uploads/{upload.pk}/")
    assert "public from 1 May 2028, 10:30 UTC" in read(pia, "/uploads/")
    post(pia, upload, "unschedule", {})
    assert "1 run in review" in read(pia, f"/uploads/{upload.pk}/")


def test_a_link_is_shown_once_and_opens_the_preview_to_anybody() -> None:
    upload = ready()
    pia = client_of("publisher")
    post(pia, upload, "link", {"days": "7"})
    address = f"/uploads/{upload.pk}/"
    page = pia.get(address).content.decode()
    found = re.search(r'class="address" href="http://testserver([^"]+)"', page)
    assert found
    assert "?key=" in found[1]
    assert "?key=" not in pia.get(address).content.decode()
    assert "Preview until" in read(Client(), found[1])
    post(pia, upload, "close-links", {})
    assert Client().get(found[1]).status_code == 404


def test_files_are_replaced_and_answers_stay() -> None:
    upload = asked()
    pia = client_of("publisher")
    post(pia, upload, "answer", {"system": VERA, "set.placement": "local"})
    changed = stream_log().replace(b"82150.6", b"82150.7")
    post(pia, upload, "replace", {"file": changed})
    upload.refresh_from_db()
    assert [file.name for file in upload.files.all()] == ["new.log"]
    made = upload.runs.get()
    assert (made.system.slug, made.parameters["placement"]) == (VERA, "local")


def test_a_form_that_answers_nothing_is_told_at_its_question() -> None:
    upload = asked()
    answer = post(client_of("publisher"), upload, "answer", {"system": "", "set.placement": ""})
    assert answer.status_code == 400
    assert "This needs an answer" in answer.content.decode()


def test_words_that_name_no_system_are_told_where_they_were_typed() -> None:
    upload = asked()
    answer = post(client_of("publisher"), upload, "answer", {"system_other": "my big box"})
    assert answer.status_code == 400
    assert "No system here is called my big box." in answer.content.decode()


def test_a_system_that_was_named_is_taken_back() -> None:
    upload = sent({"stream.log": stream_log()}, actor=publisher(lab_of()), system="no-such-one")
    pia = client_of("publisher")
    page = read(pia, f"/uploads/{upload.pk}/")
    assert "Change what was said beside them" in page
    post(pia, upload, "answer", {"system": "", "set": ""})
    upload.refresh_from_db()
    assert (upload.state, upload.given["system"]) == (Upload.State.PARSED, "")
    assert [one["field"] for one in upload.report["questions"]] == ["system"]


def test_what_was_published_keeps_its_files() -> None:
    upload = published()
    pia = client_of("publisher")
    post(pia, upload, "replace", {"file": b"other"})
    assert "What was published is changed by a correction." in read(pia, f"/uploads/{upload.pk}/")
    assert [file.name for file in upload.files.all()] == ["runs.json"]


def test_replacing_by_the_files_of_another_upload_is_told() -> None:
    lab = lab_of()
    second = bundle_of(lab, run(node="n2"))
    other, upload = sent({"new.log": second}), ready()
    pia = client_of("publisher")
    post(pia, upload, "replace", {"file": second})
    assert f"upload {other.pk}" in read(pia, f"/uploads/{upload.pk}/")
