"""Uploads as rows: the same files once, answers, claims, failures, and what the sweep mends."""

from __future__ import annotations

import errno
import os
import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import OperationalError
from django.utils import timezone

from results import artefacts, export
from results.intake import previews, sweep, work
from results.intake.given import Given, GivenError, settings_of
from results.intake.standing import publish_upload
from results.intake.uploads import UploadError, answer, submit
from results.models import Processor, Run, System, Upload
from results.passing import passes
from tests.results.sent import (
    EPYC,
    VERA,
    bundle_of,
    kept,
    lab_of,
    lscpu,
    member,
    problems_of,
    publisher,
    sent,
    staff,
    stream_log,
    stream_with_threads,
)

pytestmark = pytest.mark.django_db


def waiting(system: str = "") -> Upload:
    """An upload that nobody has read yet."""
    lab = lab_of()
    files = kept({"s.log": stream_log("gcc_1t.txt")})
    upload, _made = submit(actor=member(lab), lab=lab, files=files, given=Given(system=system))
    return upload


def test_the_same_files_are_one_upload_whatever_their_names_and_order() -> None:
    lab = lab_of()
    one = kept({"a.log": b"one\n", "b.log": b"two\n"})
    other = kept({"y.log": b"two\n", "x.log": b"one\n"})
    first, made = submit(actor=member(lab), lab=lab, files=one, given=Given())
    again, made_again = submit(actor=publisher(lab), lab=lab, files=other, given=Given())
    assert (made, made_again) == (True, False)
    assert first.pk == again.pk


def test_the_same_files_of_another_lab_are_another_upload() -> None:
    one = sent({"s.log": stream_log()}, lab=lab_of("acme"))
    other = sent(
        {"s.log": stream_log()}, lab=lab_of("other"), actor=publisher(lab_of("other"), "o")
    )
    assert one.pk != other.pk


def test_a_refused_file_stays_refused_under_the_same_id() -> None:
    first = sent({"x.txt": b"nothing that is known\n"})
    again = sent({"x.txt": b"nothing that is known\n"})
    assert (first.pk, first.state) == (again.pk, again.state)
    assert again.state == "rejected"
    assert again.audit.filter(action="read").count() == 1, "it was not read twice"


def test_nobody_uploads_for_a_lab_that_is_not_theirs() -> None:
    files = kept({"a.log": b"one\n"})
    for asker in (AnonymousUser(), member(lab_of("other"), "otto")):
        with pytest.raises(UploadError):
            submit(actor=asker, lab=lab_of("acme"), files=files, given=Given())
    assert not Upload.objects.exists()


def test_without_a_lab_it_is_asked_and_answered() -> None:
    lab, other = lab_of("acme"), lab_of("other")
    mia = member(lab)
    member(other)
    upload, _made = submit(
        actor=mia,
        lab=None,
        files=kept({"s.log": stream_log("gcc_1t.txt")}),
        given=Given(system=EPYC),
    )
    work.process(upload.pk)
    upload.refresh_from_db()
    [question] = upload.report["questions"]
    assert question["field"] == "lab"
    assert {option["value"] for option in question["options"]} == {"acme", "other"}
    answer(upload=upload, given=Given(), actor=mia, lab=other)
    work.process(upload.pk)
    upload.refresh_from_db()
    assert upload.report["questions"] == []
    assert upload.runs.get().lab == other


def test_an_answer_for_a_lab_that_has_the_files_already_names_its_upload() -> None:
    lab = lab_of("acme")
    mia = member(lab)
    first = sent({"s.log": stream_log()}, lab=lab)
    other, _made = submit(actor=mia, lab=None, files=kept({"s.log": stream_log()}), given=Given())
    with pytest.raises(UploadError, match=f"upload {first.pk}"):
        answer(upload=other, given=Given(), actor=mia, lab=lab)


def test_replaced_files_are_read_in_place_of_the_old_ones() -> None:
    upload = sent({"s.log": b"no log\n"}, system=EPYC)
    assert upload.state == "rejected"
    files = kept({"s.log": stream_log("gcc_1t.txt")})
    answer(upload=upload, given=Given(), actor=staff(), files=files)
    work.process(upload.pk)
    upload.refresh_from_db()
    assert upload.state == "parsed"
    assert upload.runs.count() == 1


def test_one_process_reads_an_upload_at_a_time() -> None:
    upload = waiting(system=EPYC)
    Upload.objects.filter(pk=upload.pk).update(claim="x" * 32, claimed_at=timezone.now())
    work.process(upload.pk)
    upload.refresh_from_db()
    assert upload.state == "received"
    assert sweep.unread() == []


def test_what_a_dead_reader_held_is_read_after_its_lease() -> None:
    upload = waiting(system=EPYC)
    past = timezone.now() - work.LEASE - timedelta(seconds=1)
    Upload.objects.filter(pk=upload.pk).update(claim="x" * 32, claimed_at=past, attempts=1)
    assert sweep.unread() == [upload.pk]
    work.process(upload.pk)
    upload.refresh_from_db()
    assert upload.state == "parsed"


def test_a_starting_reader_lets_go_what_the_last_one_held() -> None:
    upload = waiting(system=EPYC)
    Upload.objects.filter(pk=upload.pk).update(claim="x" * 32, claimed_at=timezone.now())
    assert sweep.let_go() == 1
    assert sweep.unread() == [upload.pk]


def test_a_reader_without_children_lets_go_what_dead_ones_held() -> None:
    upload, moment = waiting(system=EPYC), timezone.now()
    Upload.objects.filter(pk=upload.pk).update(claim="x" * 32, claimed_at=moment)
    assert sweep.let_go(before=moment) == 0
    assert sweep.let_go(before=moment + timedelta(seconds=1)) == 1
    assert sweep.unread() == [upload.pk]


def test_files_that_end_three_readers_have_failed() -> None:
    upload = waiting()
    Upload.objects.filter(pk=upload.pk).update(attempts=work.MOST_ATTEMPTS)
    assert sweep.unread() == []
    assert sweep.give_up() == 1
    upload.refresh_from_db()
    assert upload.state == "failed"
    assert "three times" in problems_of(upload)[0]


def test_an_answer_during_reading_wins_over_the_outcome() -> None:
    upload = waiting(system=EPYC)
    claim = "c" * 32
    Upload.objects.filter(pk=upload.pk).update(claim=claim, claimed_at=timezone.now())
    outcome = work.read_upload(upload)
    answer(upload=upload, given=Given(system=VERA), actor=staff())
    work._finish(upload, claim, outcome)
    assert not Run.objects.filter(lab__slug="acme").exists()
    work.process(upload.pk)
    assert Run.objects.get(lab__slug="acme").system.slug == VERA


def test_a_full_disk_is_nobodys_mistake() -> None:
    assert passes(OSError(errno.ENOSPC, "No space left on device"))
    assert passes(OperationalError("database or disk is full"))
    assert not passes(OSError(errno.ENOENT, "No such file"))
    upload = waiting(system=EPYC)
    claim = "c" * 32
    Upload.objects.filter(pk=upload.pk).update(claim=claim, attempts=1)
    work.release(upload.pk, claim)
    upload.refresh_from_db()
    assert (upload.state, upload.attempts, upload.claim) == ("received", 0, "")


def test_stray_files_go_and_known_and_young_ones_stay() -> None:
    root = Path(settings.ARTEFACT_ROOT)
    upload = sent({"s.log": stream_log("clang_nt_2t.txt")}, system=EPYC)
    known = artefacts.path_of(upload.files.get().artefact.sha256)
    stray = artefacts.path_of(artefacts.save(b"of a request that died\n"))
    young = artefacts.path_of(artefacts.save(b"of a request that goes on\n"))
    half = root / "incoming" / "half"
    half.parent.mkdir(parents=True, exist_ok=True)
    half.write_bytes(b"half a file")
    hours_ago = time.time() - 7200
    for path in (known, stray, half):
        os.utime(path, (hours_ago, hours_ago))
    assert sweep.remove_strays() >= 2
    assert (known.exists(), stray.exists(), young.exists(), half.exists()) == (
        True,
        False,
        True,
        False,
    )


@pytest.mark.parametrize("words", [["placement"], ["=x"], ["a\u202eb=1"], ["k=" + "v" * 301]])
def test_settings_that_no_run_could_have_are_refused(words: list[str]) -> None:
    with pytest.raises(GivenError):
        settings_of(words)


def test_a_scope_is_one_of_the_known_ones() -> None:
    with pytest.raises(GivenError, match="system, socket"):
        settings_of(["scope=half"])
    assert settings_of(["scope=socket", "node=n1"]) == {"scope": "socket", "node": "n1"}


def test_a_preview_link_opens_its_upload_until_it_is_closed() -> None:
    upload, other = sent(), sent({"s.log": stream_log()})
    link = previews.make_link(upload=upload, actor=staff(), days=7)
    key = link.partition("?key=")[2]
    upload.refresh_from_db()
    until = previews.opens_until(upload, key)
    assert until is not None
    assert timedelta(days=6) < until - timezone.now() <= timedelta(days=7)
    previews.make_link(upload=other, actor=staff(), days=7)
    other.refresh_from_db()
    assert previews.opens_until(other, key) is None
    assert previews.opens_until(upload, key[:-1] + ("A" if key[-1] != "A" else "B")) is None
    previews.close_links(upload=upload, actor=staff())
    upload.refresh_from_db()
    assert previews.opens_until(upload, key) is None


def test_a_preview_link_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    upload = sent()
    key = previews.make_link(upload=upload, actor=staff(), days=1).partition("?key=")[2]
    upload.refresh_from_db()
    later = timezone.now() + timedelta(days=1, seconds=1)
    monkeypatch.setattr(timezone, "now", lambda: later)
    assert previews.opens_until(upload, key) is None


def test_sent_with_publish_it_is_published_as_soon_as_nothing_is_open() -> None:
    lab = lab_of()
    upload = sent({"s.log": stream_log("gcc_1t.txt")}, lab=lab, publish=True)
    assert upload.state == "parsed"
    upload = sent({"s.log": stream_log("gcc_1t.txt")}, lab=lab, publish=True, system=EPYC)
    assert upload.state == "published"
    assert upload.report["state"] == "published"


def test_publish_without_the_right_leaves_it_understood_and_says_so() -> None:
    lab = lab_of()
    upload = sent({"a.json": bundle_of(lab)}, lab=lab, actor=member(lab), publish=True)
    assert upload.state == "parsed"
    assert "may not" in upload.report["remarks"][-1]["text"]


NAPLES = {
    "lscpu.json": lscpu("AMD EPYC 7451 24-Core Processor", changes={"Core(s) per socket": 24}),
    "s.log": stream_with_threads(48),
}


def test_a_new_system_is_made_once_however_often_its_files_are_read() -> None:
    before = System.objects.count()
    upload = sent(NAPLES, system="new")
    slug = upload.runs.get().system.slug
    assert upload.given["system"] == slug
    again = sent(NAPLES, system="new", settings={"smt": "off"})
    assert again.pk == upload.pk
    assert again.runs.get().system.slug == slug
    assert System.objects.count() == before + 1


def test_a_hidden_system_without_runs_is_forgotten() -> None:
    upload = sent(NAPLES, system="new")
    slug = upload.runs.get().system.slug
    assert sweep.forget_systems() == 0
    answer(upload=upload, given=Given(system=EPYC), actor=staff(), files=kept({"x": b"x"}))
    assert sweep.forget_systems() == 1
    assert not System.objects.filter(slug=slug).exists()
    assert not Processor.objects.filter(is_public=False).exists()


def test_only_the_sender_changes_an_upload_whose_lab_is_open() -> None:
    lab = lab_of()
    files = kept({"s.log": stream_log("gcc_1t.txt")})
    upload, _made = submit(actor=member(lab), lab=None, files=files, given=Given())
    for stranger in (publisher(lab), member(lab_of("other"), "otto"), AnonymousUser()):
        with pytest.raises(UploadError):
            answer(upload=upload, given=Given(system=EPYC), actor=stranger, lab=None)
    answer(upload=upload, given=Given(system=EPYC), actor=staff())
    again, made = submit(actor=member(lab), lab=None, files=files, given=Given())
    assert (again.pk, made) == (upload.pk, False), "still the sender's"


def test_an_exported_run_is_the_stored_run_again() -> None:
    lab = lab_of()
    upload = sent({"t.csv": b"system,benchmark,scope,metric,value,unit\n" + ROW}, lab=lab)
    publish_upload(upload=upload, actor=staff())
    stored = upload.runs.get()
    text = export.to_json(export.export_runs([stored.pk])).encode()
    assert b"t.csv" in text, "the evidence is exported"
    again = sent({"exported.json": text}, lab=lab)
    assert [(run["known"], run["run"]) for run in again.report["runs"]] == [(True, stored.pk)]
    assert Run.objects.filter(lab=lab).count() == 1


ROW = f"{EPYC},stream,system,triad.bandwidth,100,GB/s\n".encode()
