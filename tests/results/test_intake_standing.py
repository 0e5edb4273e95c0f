"""What becomes of an upload: review, publication, embargo, correction, withdrawal, audit."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from results.compare import compare_systems
from results.intake import standing, sweep
from results.intake.given import Given
from results.intake.uploads import Correction, UploadError, answer
from results.models import AuditEntry, Lab, Run, Summary, System, Trust, Upload
from results.services import NotAllowed, ServiceError
from tests.results.bundles import measurement, run
from tests.results.sent import (
    EPYC,
    bundle_of,
    lab_of,
    lscpu,
    member,
    publisher,
    sent,
    staff,
    stream_log,
    stream_with_threads,
)

pytestmark = pytest.mark.django_db


def actions(upload: Upload) -> list[str]:
    return list(upload.audit.order_by("id").values_list("action", flat=True))


def actors_of(upload: Upload) -> list[str]:
    return list(upload.audit.order_by("id").values_list("actor_name", flat=True))


def states(upload: Upload) -> set[str]:
    return set(upload.runs.values_list("state", flat=True))


def test_published_by_a_publisher_it_stands_in_the_comparison() -> None:
    lab = lab_of()
    upload = sent({"s.log": stream_with_threads(384)}, lab=lab, actor=member(lab), system=EPYC)
    assert not Summary.objects.filter(lab=lab).exists()
    standing.send(upload=upload, actor=member(lab))
    assert states(upload) == {"pending"}
    standing.publish_upload(upload=upload, actor=publisher(lab))
    assert states(upload) == {"published"}
    cell = Summary.objects.get(lab=lab, metric__workload="triad")
    assert cell.median == 82.1506
    assert actions(upload) == ["upload", "read", "send for review", "publish"]
    assert actors_of(upload) == ["mia", "the hub", "mia", "pia"]


def test_a_new_system_is_public_with_its_first_result_only() -> None:
    files = {
        "lscpu.json": lscpu("AMD EPYC 7451 24-Core Processor", changes={"Core(s) per socket": 24}),
        "s.log": stream_with_threads(48),
    }
    upload = sent(files, system="naples-box")
    box = System.objects.select_related("processor").get(slug="naples-box")
    assert not box.is_public
    standing.publish_upload(upload=upload, actor=staff())
    box = System.objects.select_related("processor").get(slug="naples-box")
    assert box.is_public
    assert box.processor is not None
    assert box.processor.is_public
    table = compare_systems(systems=["naples-box", EPYC])
    assert "naples-box" in {column.system.slug for column in table.columns}


@pytest.mark.parametrize("who", ["member", "stranger"])
def test_only_publishers_and_staff_publish(who: str) -> None:
    lab = lab_of()
    upload = sent(lab=lab)
    asker = member(lab) if who == "member" else publisher(lab_of("other"), "otto")
    with pytest.raises(NotAllowed):
        standing.publish_upload(upload=upload, actor=asker)
    assert states(upload) == {"draft"}


def test_open_questions_keep_an_upload_from_being_sent_or_published() -> None:
    upload = sent({"s.log": stream_log()})
    for change in (standing.send, standing.publish_upload):
        with pytest.raises(UploadError, match="Questions are open"):
            change(upload=upload, actor=staff())


def test_the_staff_returns_with_a_note_and_the_lab_mends_it() -> None:
    lab = lab_of()
    upload = sent(lab=lab)
    standing.send(upload=upload, actor=member(lab))
    with pytest.raises(UploadError, match="note"):
        standing.give_back(upload=upload, actor=staff(), why=" ")
    standing.give_back(upload=upload, actor=staff(), why="Which BIOS profile?")
    upload.refresh_from_db()
    assert (upload.is_in_review, upload.note) == (False, "Which BIOS profile?")
    assert states(upload) == {"draft"}
    standing.send(upload=upload, actor=member(lab))
    upload.refresh_from_db()
    assert upload.note == ""
    assert actions(upload)[-2:] == ["return", "send for review"]


def test_labels_reach_runs_and_summaries() -> None:
    lab = lab_of(kind=Lab.Kind.VENDOR)
    upload = sent(lab=lab)
    assert upload.runs.get().trust == Trust.VENDOR
    standing.judge(
        upload=upload, actor=staff(), trust=Trust.VERIFIED, not_ranked_because="engineering sample"
    )
    standing.publish_upload(upload=upload, actor=staff())
    cell = Summary.objects.get(lab=lab)
    assert (cell.trust, cell.ranked) == (Trust.VERIFIED, False)
    assert upload.runs.get().not_ranked_because == "engineering sample"
    with pytest.raises(NotAllowed):
        standing.judge(upload=upload, actor=publisher(lab), trust=Trust.VERIFIED)


def test_the_sweep_publishes_what_is_due_and_nothing_before() -> None:
    lab = lab_of()
    upload = sent(lab=lab)
    at = timezone.now() + timedelta(days=2)
    standing.schedule_upload(upload=upload, actor=publisher(lab), publish_at=at)
    assert states(upload) == {"scheduled"}
    assert standing.publish_due(at - timedelta(seconds=1)) == 0
    assert standing.publish_due(at + timedelta(seconds=1)) == 1
    upload.refresh_from_db()
    assert (upload.state, upload.publish_at) == ("published", None)
    assert states(upload) == {"published"}
    assert upload.audit.filter(action="publish", actor_name="the hub").exists()


def test_a_date_in_the_past_or_far_away_is_refused() -> None:
    upload = sent()
    for days in (-1, 0, 5000):
        with pytest.raises(UploadError, match="future"):
            standing.schedule_upload(
                upload=upload, actor=staff(), publish_at=timezone.now() + timedelta(days=days)
            )


def test_a_date_can_be_taken_back() -> None:
    upload = sent()
    at = timezone.now() + timedelta(days=2)
    standing.schedule_upload(upload=upload, actor=staff(), publish_at=at)
    standing.unschedule_upload(upload=upload, actor=staff())
    assert states(upload) == {"pending"}
    assert sweep.publish_due() == 0
    assert standing.publish_due(at + timedelta(days=1)) == 0


def test_what_cannot_be_published_when_due_loses_its_date_and_says_why() -> None:
    lab = lab_of()
    upload = sent(lab=lab)
    at = timezone.now() + timedelta(days=1)
    standing.schedule_upload(upload=upload, actor=staff(), publish_at=at)
    Upload.objects.filter(pk=upload.pk).update(report={**upload.report, "questions": [{}]})
    assert standing.publish_due(at + timedelta(days=1)) == 0
    upload.refresh_from_db()
    assert upload.publish_at is None
    assert "Questions are open" in upload.note
    assert states(upload) == {"pending"}
    assert actions(upload)[-1] == "could not be published"


def test_withdrawn_with_a_reason_it_leaves_the_comparison() -> None:
    lab = lab_of()
    upload = sent(lab=lab)
    standing.publish_upload(upload=upload, actor=staff())
    with pytest.raises(UploadError, match="reason"):
        standing.withdraw_upload(upload=upload, actor=member(lab), reason="")
    standing.withdraw_upload(upload=upload, actor=member(lab), reason="wrong DIMMs")
    assert states(upload) == {"withdrawn"}
    assert not Summary.objects.filter(lab=lab).exists()
    assert upload.runs.get().reason == "wrong DIMMs"


def correction_of(upload: Upload, actor: Any, files: dict[str, bytes], **given: Any) -> Upload:
    return sent(
        files,
        lab=upload.lab,
        actor=actor,
        correction=Correction(upload, "it was local memory"),
        **given,
    )


def test_a_correction_of_the_same_file_supersedes_its_run() -> None:
    lab = lab_of()
    log = {"s.log": stream_with_threads(384)}
    upload = sent(log, lab=lab, system=EPYC)
    standing.publish_upload(upload=upload, actor=staff())
    mended = correction_of(
        upload, publisher(lab), log, system=EPYC, settings={"placement": "local"}
    )
    assert mended.pk != upload.pk
    standing.publish_upload(upload=mended, actor=publisher(lab))
    upload.refresh_from_db()
    old, new = upload.runs.get(), mended.runs.get()
    assert (upload.state, old.state, old.reason) == (
        "withdrawn",
        "withdrawn",
        "it was local memory",
    )
    assert new.supersedes_id == old.pk
    assert new.state == "published"
    [variant] = Summary.objects.filter(lab=lab, metric__workload="triad")
    assert variant.variant == {"placement": "local"}


def test_a_members_correction_strikes_the_old_run_through_at_once() -> None:
    lab = lab_of()
    log = {"s.log": stream_with_threads(384)}
    upload = sent(log, lab=lab, system=EPYC)
    standing.publish_upload(upload=upload, actor=publisher(lab))
    mended = correction_of(upload, member(lab), log, system=EPYC, settings={"placement": "local"})
    standing.send(upload=mended, actor=member(lab))
    old = upload.runs.get()
    assert (old.state, old.reason) == ("withdrawn", "it was local memory")
    assert not Summary.objects.filter(lab=lab).exists()
    with pytest.raises(NotAllowed):
        standing.publish_upload(upload=mended, actor=member(lab))
    standing.publish_upload(upload=mended, actor=publisher(lab))
    assert mended.runs.get().supersedes_id == old.pk


def test_what_a_correction_leaves_as_it_was_stays_published() -> None:
    lab = lab_of()
    stays, wrong = run(node="n1"), run(measurement(100.0), node="n2")
    right = run(measurement(200.0), node="n2", ordinal=1)
    upload = sent({"a.json": bundle_of(lab, stays, wrong)}, lab=lab)
    standing.publish_upload(upload=upload, actor=staff())
    mended = correction_of(upload, publisher(lab), {"b.json": bundle_of(lab, stays, right)})
    standing.publish_upload(upload=mended, actor=publisher(lab))
    by_node = {r.node: r for r in upload.runs.all()}
    assert (by_node["n1"].state, by_node["n2"].state) == ("published", "withdrawn")
    assert mended.runs.get(ordinal=1).supersedes_id == by_node["n2"].pk


def test_a_run_that_the_correction_lacks_is_withdrawn() -> None:
    lab = lab_of()
    upload = sent({"a.json": bundle_of(lab, run(node="n1"), run(node="n2"))}, lab=lab)
    standing.publish_upload(upload=upload, actor=staff())
    mended = correction_of(upload, staff(), {"b.json": bundle_of(lab, run(node="n1"))})
    standing.publish_upload(upload=mended, actor=staff())
    by_node = {r.node: r.state for r in upload.runs.all()}
    assert by_node == {"n1": "published", "n2": "withdrawn"}


def test_what_was_published_takes_no_answers() -> None:
    upload = sent()
    standing.publish_upload(upload=upload, actor=staff())
    with pytest.raises(UploadError, match="correction"):
        answer(upload=upload, given=Given(system=EPYC), actor=staff())


def test_a_discarded_draft_was_never_public() -> None:
    lab = lab_of()
    upload = sent({"s.log": stream_log("gcc_1t.txt")}, lab=lab, system=EPYC)
    first = upload.runs.get().pk
    answer(upload=upload, given=Given(settings={"smt": "off"}), actor=member(lab))
    assert not Run.objects.filter(pk=first).exists()
    assert AuditEntry.objects.filter(action="discard", before={"runs": [first]}).exists()


def test_an_audit_row_cannot_be_changed_or_deleted() -> None:
    upload = sent()
    row = upload.audit.latest("id")
    for change in (row.save, row.delete):
        with pytest.raises(RuntimeError, match="never"):
            change()


def test_errors_of_standing_are_errors_of_services() -> None:
    assert issubclass(UploadError, ServiceError)
    assert issubclass(NotAllowed, ServiceError)


def test_a_correction_may_differ_by_its_values_alone() -> None:
    lab = lab_of()
    upload = sent({"a.json": bundle_of(lab, run(measurement(100.0)))}, lab=lab)
    standing.publish_upload(upload=upload, actor=staff())
    mended = correction_of(
        upload, publisher(lab), {"a.json": bundle_of(lab, run(measurement(200.0)))}
    )
    assert mended.state == "parsed", mended.report["problems"]
    standing.publish_upload(upload=mended, actor=publisher(lab))
    old, new = upload.runs.get(), mended.runs.get()
    assert (old.state, new.supersedes_id, new.ordinal) == ("withdrawn", old.pk, 1)
    assert Summary.objects.get(lab=lab).median == 200.0


def test_the_same_correction_read_again_is_no_third_run() -> None:
    lab = lab_of()
    upload = sent({"a.json": bundle_of(lab, run(measurement(100.0)))}, lab=lab)
    standing.publish_upload(upload=upload, actor=staff())
    files = {"a.json": bundle_of(lab, run(measurement(200.0)))}
    mended = correction_of(upload, publisher(lab), files)
    correction_of(upload, publisher(lab), files, settings={"setup.governor": "performance"})
    assert mended.runs.count() == 1
    assert Run.objects.filter(lab=lab).count() == 2


def test_only_what_the_lab_published_is_corrected() -> None:
    lab, other = lab_of(), lab_of("other")
    upload = sent(lab=lab)
    with pytest.raises(UploadError, match="published"):
        correction_of(upload, publisher(lab), {"b.json": bundle_of(lab, run(node="n1"))})
    standing.publish_upload(upload=upload, actor=staff())
    with pytest.raises(UploadError, match="published"):
        sent(
            {"b.json": bundle_of(other)},
            lab=other,
            actor=publisher(other, "otto"),
            correction=Correction(upload, "mine now"),
        )


def test_a_wished_date_lies_in_the_future() -> None:
    upload = sent()
    with pytest.raises(UploadError, match="future"):
        standing.send(upload=upload, actor=staff(), publish_at=timezone.now())
