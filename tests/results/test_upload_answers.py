"""Answers that come after the files: whose wish to publish holds, and what a refusal keeps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from results.intake.systems import described
from results.models import AuditEntry, Lab, Run, System, Upload
from tests.results.api_data import signed_in
from tests.results.bundles import SYSTEM
from tests.results.uploading import (
    STREAM_LOG,
    UPLOADS,
    a_bundle,
    a_log,
    kept_files,
    member,
    post,
)
from tests.results.uploading import sent as file_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("store")]
ANSWER = {"system": SYSTEM, "set": "scope=system"}


# Whose wish it is that something is published


@pytest.mark.parametrize("files", [False, True])
def test_what_others_change_is_not_what_a_publisher_wished_to_publish(
    uploader: Client, publisher: Client, files: bool
) -> None:
    first = post(publisher, "", {"file": a_log(), "publish": "true"}, 201)
    more = {"file": file_of("other.log", STREAM_LOG.read_bytes() + b"\n")} if files else {}
    found = post(uploader, f"{first['id']}/", {**ANSWER, **more})
    assert (found["state"], found["questions"]) == ("parsed", [])
    assert Run.objects.get(pk=found["runs"][0]["run"]).state == "draft"
    again = post(publisher, f"{first['id']}/", {"publish": "true"})
    assert again["state"] == "published"


def test_a_publisher_publishes_what_a_member_sent_by_an_answer(lab: Lab, uploader: Client) -> None:
    first = post(uploader, "", {"file": a_log(), **ANSWER}, 201)
    pia = signed_in(member(lab, "pia", "publisher"))
    found = post(pia, f"{first['id']}/", {"publish": "true"})
    assert (found["state"], found["remarks"]) == ("published", [])
    assert AuditEntry.objects.get(upload=first["id"], action="publish").actor_name == "pia"


def test_a_publisher_publishes_what_a_member_sent_by_sending_it_again(
    uploader: Client, publisher: Client
) -> None:
    first = post(uploader, "", {"file": a_log(), **ANSWER}, 201)
    found = post(publisher, "", {"file": a_log(), "publish": "true"}, 200)
    assert (found["id"], found["state"]) == (first["id"], "published")


def test_the_wish_of_who_is_not_there_any_more_publishes_nothing(lab: Lab) -> None:
    pia = member(lab, "pia", "publisher")
    first = post(signed_in(pia), "", {"file": a_log(), "publish": "true"}, 201)
    max_ = signed_in(member(lab, "max", "publisher"))
    pia.delete()
    found = post(max_, f"{first['id']}/", ANSWER)
    assert found["state"] == "parsed"
    assert "not known here any more" in found["remarks"][-1]["text"]


# What a refusal keeps


def test_what_was_refused_keeps_no_answer_when_its_files_come_again(uploader: Client) -> None:
    wrong = {**ANSWER, "set": ["colour=red", "smt=on"], "benchmark": "hpl"}
    first = post(uploader, "", {"file": a_log(), **wrong}, 400)
    assert post(uploader, "", {"file": a_log(), **wrong}, 400)["id"] == first["id"]
    found = post(uploader, "", {"file": a_log(), **ANSWER}, 200)
    assert (found["id"], found["state"]) == (first["id"], "parsed")
    assert "smt" not in found["runs"][0]["parameters"]


def test_an_answer_is_taken_back_by_sending_the_files_again_too(uploader: Client) -> None:
    sent = {"file": a_log(), "system": SYSTEM, "set": ["scope=system", "smt=on"]}
    assert post(uploader, "", sent, 201)["runs"][0]["parameters"]["smt"] == "on"
    found = post(uploader, "", {"file": a_log(), "set": "smt="}, 200)
    assert (found["systems"], found["runs"][0]["scope"]) == ([SYSTEM], "system")
    assert "smt" not in found["runs"][0]["parameters"]


# What is no answer


def test_brackets_without_end_are_refused_in_words(uploader: Client) -> None:
    first = post(uploader, "", {"file": a_log()}, 201)
    found = post(uploader, f"{first['id']}/", "[" * 100_000, 400, content_type="application/json")
    assert found["message"] == "The JSON is nested too deeply."


def test_text_in_place_of_a_file_is_told_how_to_send_one(uploader: Client) -> None:
    found = post(uploader, "", {"file": "stream.log", "system": SYSTEM}, 400)
    assert found["fields"]["file"][0].endswith("curl sends one by file=@NAME")


def part(disposition: bytes, data: bytes) -> bytes:
    """A part of a form with that header."""
    return b"--cut\r\nContent-Disposition: form-data; " + disposition + b"\r\n\r\n" + data + b"\r\n"


@pytest.mark.parametrize(
    "names",
    [
        [b'name="file"; filename="m\xfcnchen.log"'],
        [b'name="file"; filename="a.log"', b'name="file"; filename="m\xfcnchen.log"'],
        [b'name="file"; filename="a.log"', b'filename="b.log"'],
    ],
)
def test_no_file_is_lost_for_a_name_that_cannot_be_read(
    uploader: Client, store: Path, names: Sequence[bytes]
) -> None:
    body = (
        b"".join(part(name, b"%d" % number) for number, name in enumerate(names)) + b"--cut--\r\n"
    )
    answer: Any = uploader.post(UPLOADS, body, content_type="multipart/form-data; boundary=cut")
    assert answer.status_code == 400
    assert "no name, or one that is not UTF-8" in answer.json()["message"]
    assert (Upload.objects.count(), kept_files(store)) == (0, [])


# What contradicts the files


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"set": "scope=socket"}, "scope"),
        ({"benchmark": "hpl"}, "benchmark"),
        ({"set": "smt=on"}, "smt"),
        ({"set": "setup.compiler=GCC 9"}, "compiler"),
    ],
)
def test_what_is_said_against_a_bundle_is_refused_not_ignored(
    uploader: Client, said: dict[str, str], field: str
) -> None:
    found = post(uploader, "", {"file": a_bundle(setup={"compiler": "GCC 14"}), **said}, 400)
    (problem,) = found["problems"]
    assert problem["field"].endswith(field)
    assert problem["expected"].endswith("which was given beside the file")


def test_a_correction_that_was_published_is_known_when_it_comes_again(publisher: Client) -> None:
    first = post(publisher, "", {"file": a_bundle(), "publish": "1"}, 201)

    def correct(node: str, status: int) -> Any:
        more = {"corrects": first["id"], "reason": "SMT was on", "publish": "1"}
        return post(publisher, "", {"file": a_bundle(node=node), **more}, status)

    made = correct("n2", 201)
    assert made["state"] == "published"
    assert correct("n2", 200)["id"] == made["id"]
    assert "only what is published" in correct("n3", 409)["message"]


@pytest.mark.parametrize(("sockets", "words"), [(1, "1 socket,"), (2, "2 sockets,")])
def test_a_system_to_choose_is_described_in_words(sockets: int, words: str) -> None:
    assert words in described(System(name="x", slug="x", sockets=sockets, memory_gb=64))
