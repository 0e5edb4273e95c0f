"""Publishing, withdrawing, correcting: who may see a number, and the trace it leaves."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from results import services
from results.models import AuditEntry, AuditError, Measurement, Run, Summary
from results.services import ServiceError
from tests.results.bundles import OTHER, bundle, ingest, measurement, run

pytestmark = pytest.mark.django_db


def drafts(*values: float) -> list[int]:
    runs = [run(measurement(value), node=f"n{n}") for n, value in enumerate(values)]
    return ingest(bundle(*runs), state="draft").created


def shown(pk: int) -> Summary | None:
    return Measurement.objects.get(run=pk).summary


def trace(pk: int) -> list[tuple[str, str, str]]:
    entries = AuditEntry.objects.filter(run=pk).order_by("pk")
    return [(entry.actor_name, entry.action, entry.reason) for entry in entries]


@pytest.fixture
def ada(django_user_model: Any) -> Any:
    return django_user_model.objects.create_user("ada", is_staff=True)


def test_publishing_dates_a_run_enters_its_cell_and_leaves_a_trace(ada: Any) -> None:
    first, second = drafts(10, 20)
    assert services.publish(runs=[first, second], actor=ada) == 2
    summary = shown(first)
    assert summary is not None
    assert (summary.n, summary.median) == (2, 15.0)
    assert Run.objects.get(pk=first).published_at is not None
    assert trace(first) == [("ada", "publish", "")]
    assert services.publish(runs=[first], actor=ada) == 0
    assert len(trace(first)) == 1


def test_withdrawing_needs_a_reason_and_takes_the_number_away(ada: Any) -> None:
    (pk,) = drafts(10)
    services.publish(runs=[pk], actor=ada)
    with pytest.raises(ServiceError, match="reason"):
        services.withdraw(runs=[pk], actor=ada, reason=" ")
    assert services.withdraw(runs=[pk], actor=ada, reason="wrong clock") == 1
    stored = Run.objects.get(pk=pk)
    assert (stored.state, stored.reason, shown(pk)) == ("withdrawn", "wrong clock", None)
    assert trace(pk)[-1] == ("ada", "withdraw", "wrong clock")
    entry = AuditEntry.objects.filter(run=pk).latest("pk")
    assert (entry.before["state"], entry.after["state"]) == ("published", "withdrawn")
    assert services.withdraw(runs=[pk], actor=ada, reason="again") == 0


def test_a_withdrawn_run_may_return() -> None:
    (pk,) = drafts(10)
    services.withdraw(runs=[pk], actor=None, reason="doubt")
    services.publish(runs=[pk], actor=None, reason="doubt removed")
    assert Run.objects.get(pk=pk).reason == ""
    assert shown(pk) is not None
    assert trace(pk)[-1] == ("the hub", "publish", "doubt removed")


def test_a_correction_replaces_what_it_corrects(ada: Any) -> None:
    (old,) = ingest(bundle(run(measurement(10)))).created
    (new,) = ingest(bundle(run(measurement(12), ordinal=1)), state="draft").created
    services.supersede(old=old, new=new, actor=ada, reason="wrong unit")
    former, correction = Run.objects.get(pk=old), Run.objects.get(pk=new)
    assert (former.state, former.reason) == ("withdrawn", "wrong unit")
    assert (correction.state, correction.supersedes_id) == ("published", old)
    summary = shown(new)
    assert summary is not None
    assert (summary.n, summary.median) == (1, 12.0)
    assert [action for _, action, _ in trace(new)] == ["supersede", "publish"]
    with pytest.raises(ServiceError, match="replaced"):
        services.publish(runs=[old], actor=ada)


def test_a_correction_is_of_the_same_kind_and_only_once() -> None:
    made = ingest(
        bundle(run(), run(system=OTHER), run(ordinal=1), run(ordinal=2)), state="draft"
    ).created
    for pair, words in (((0, 0), "itself"), ((0, 1), "same lab")):
        with pytest.raises(ServiceError, match=words):
            services.supersede(old=made[pair[0]], new=made[pair[1]], actor=None, reason="x")
    with pytest.raises(ServiceError, match="reason"):
        services.supersede(old=made[0], new=made[2], actor=None, reason="")
    services.supersede(old=made[0], new=made[2], actor=None, reason="x")
    with pytest.raises(ServiceError, match="already"):
        services.supersede(old=made[0], new=made[3], actor=None, reason="x")


def test_not_ranked_is_told_traced_and_bounded(ada: Any) -> None:
    (pk,) = ingest(bundle(run())).created
    assert services.edit_not_ranked(runs=[pk], because="throttled", actor=ada) == 1
    summary = shown(pk)
    assert summary is not None
    assert not summary.ranked
    assert trace(pk) == [("ada", "edit not ranked", "")]
    assert services.edit_not_ranked(runs=[pk], because="throttled", actor=ada) == 0
    with pytest.raises(ServiceError, match="300"):
        services.edit_not_ranked(runs=[pk], because="x" * 301, actor=ada)


def test_a_draft_that_is_not_ranked_stays_out_of_summaries() -> None:
    (pk,) = drafts(10)
    services.edit_not_ranked(runs=[pk], because="throttled", actor=None)
    assert shown(pk) is None


def test_a_scheduled_run_appears_when_its_moment_comes() -> None:
    (pk,) = drafts(10)
    moment = timezone.now() + timedelta(days=3)
    services.schedule(runs=[pk], publish_at=moment, actor=None)
    assert services.publish_due() == 0
    assert (Run.objects.get(pk=pk).state, shown(pk)) == ("scheduled", None)
    assert services.publish_due(now=moment) == 1
    stored = Run.objects.get(pk=pk)
    assert (stored.state, stored.publish_at) == ("published", None)
    assert shown(pk) is not None


def test_scheduling_is_for_the_future_and_for_what_was_never_public() -> None:
    (pk,) = drafts(10)
    with pytest.raises(ServiceError, match="past"):
        services.schedule(runs=[pk], publish_at=timezone.now(), actor=None)
    services.publish(runs=[pk], actor=None)
    with pytest.raises(ServiceError, match="never published"):
        services.schedule(runs=[pk], publish_at=timezone.now() + timedelta(1), actor=None)


def test_an_unknown_run_is_named_and_nothing_changes() -> None:
    (pk,) = drafts(10)
    with pytest.raises(ServiceError, match="999999999"):
        services.publish(runs=[pk, 999_999_999], actor=None)
    assert Run.objects.get(pk=pk).state == "draft"


def test_a_failure_half_way_changes_nothing() -> None:
    (pk,) = drafts(10)
    with transaction.atomic():
        services.publish(runs=[pk], actor=None)
        transaction.set_rollback(True)
    assert (Run.objects.get(pk=pk).state, shown(pk), trace(pk)) == ("draft", None, [])


@pytest.mark.parametrize(
    "statement",
    ["UPDATE results_auditentry SET reason = 'nicer'", "DELETE FROM results_auditentry"],
)
def test_the_database_refuses_to_change_an_audit_row(statement: str) -> None:
    (pk,) = drafts(10)
    services.publish(runs=[pk], actor=None)
    with (
        pytest.raises(DatabaseError, match="never changed"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
    assert len(trace(pk)) == 1


def test_the_model_refuses_to_change_an_audit_row() -> None:
    (pk,) = drafts(10)
    services.publish(runs=[pk], actor=None)
    entry = AuditEntry.objects.get(run=pk)
    for change in (entry.save, entry.delete, AuditEntry.objects.all().delete):
        with pytest.raises(AuditError):
            change()
    with pytest.raises(AuditError):
        AuditEntry.objects.update(reason="x")
