"""What changes the standing of stored runs: each in one transaction, with an audit row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from results.chunks import chunks
from results.freshness import touch
from results.models import AuditEntry, Run
from results.summaries import add_runs, rebuild, rework_runs

DRAFT, PENDING = Run.State.DRAFT, Run.State.PENDING
SCHEDULED, PUBLISHED, WITHDRAWN = Run.State.SCHEDULED, Run.State.PUBLISHED, Run.State.WITHDRAWN
KEPT = ("state", "publish_at", "published_at", "reason", "not_ranked_because", "supersedes_id")


class ServiceError(ValueError):
    """A change that the runs' standing does not allow; the message may be shown."""


@transaction.atomic
def publish(*, runs: Sequence[int], actor: Any, reason: str = "") -> int:
    """Publish runs (ids); how many were not published before. A withdrawn run may return.

    ServiceError for one that a correction has replaced.
    """
    found = _locked(runs)
    replaced = [run.pk for run in found if hasattr(run, "superseded_by")]
    if replaced:
        raise ServiceError(
            _("Run %(run)s has been replaced by a correction.") % {"run": replaced[0]}
        )
    new = [run for run in found if run.state != PUBLISHED]
    now = timezone.now()

    def change(run: Run) -> None:
        run.state, run.publish_at, run.reason = PUBLISHED, None, ""
        run.published_at = now

    _change(new, change, actor=actor, action="publish", reason=reason)
    add_runs([run.pk for run in new])
    return len(new)


@transaction.atomic
def withdraw(*, runs: Sequence[int], actor: Any, reason: str) -> int:
    """Withdraw runs (ids), with the reason that is shown; how many were not withdrawn before."""
    if not reason.strip():
        raise ServiceError(_("A withdrawal needs a reason."))
    found = [run for run in _locked(runs) if run.state != WITHDRAWN]
    public = [run.pk for run in found if run.state == PUBLISHED]

    def change(run: Run) -> None:
        run.state, run.publish_at, run.reason = WITHDRAWN, None, reason.strip()

    _change(found, change, actor=actor, action="withdraw", reason=reason)
    rework_runs(public)
    return len(found)


@transaction.atomic
def supersede(*, old: int, new: int, actor: Any, reason: str) -> None:
    """Let run `new` correct run `old` (ids): it is published, the old one is struck through.

    ServiceError if they are not of the same lab, system and benchmark, or one is taken.
    """
    if not reason.strip():
        raise ServiceError(_("A correction needs a reason."))
    if old == new:
        raise ServiceError(_("A run cannot correct itself."))
    former, correction = _locked([old])[0], _locked([new])[0]
    same = ("lab_id", "system_id", "benchmark_id")
    if any(getattr(former, name) != getattr(correction, name) for name in same):
        raise ServiceError(_("A correction is of the same lab, system and benchmark."))
    if hasattr(former, "superseded_by") or correction.supersedes_id:
        raise ServiceError(_("One of the runs is part of a correction already."))
    withdraw(runs=[old], actor=actor, reason=reason)

    def change(run: Run) -> None:
        run.supersedes_id = old

    _change([correction], change, actor=actor, action="supersede", reason=reason)
    publish(runs=[new], actor=actor, reason=reason)


@transaction.atomic
def edit_not_ranked(*, runs: Sequence[int], because: str, actor: Any, reason: str = "") -> int:
    """Keep runs (ids) out of ranks and say why; an empty `because` lets them in again."""
    because = because.strip()
    if len(because) > 300:
        raise ServiceError(_("The reason is longer than 300 characters."))
    found = [run for run in _locked(runs) if run.not_ranked_because != because]
    public = [run.pk for run in found if run.state == PUBLISHED]

    def change(run: Run) -> None:
        run.not_ranked_because = because

    _change(found, change, actor=actor, action="edit not ranked", reason=reason)
    rework_runs(public)
    return len(found)


@transaction.atomic
def schedule(*, runs: Sequence[int], publish_at: datetime, actor: Any, reason: str = "") -> int:
    """Publish runs (ids) by themselves at a moment in the future; drafts and reviewed only."""
    if publish_at <= timezone.now():
        raise ServiceError(_("The date lies in the past: publish the runs instead."))
    found = _locked(runs)
    if any(run.state not in (DRAFT, PENDING, SCHEDULED) for run in found):
        raise ServiceError(_("Only a run that was never published can be scheduled."))

    def change(run: Run) -> None:
        run.state, run.publish_at = SCHEDULED, publish_at

    _change(found, change, actor=actor, action="schedule", reason=reason)
    return len(found)


def publish_due(*, now: datetime | None = None) -> int:
    """Publish the scheduled runs whose moment has come; how many."""
    due = Run.objects.filter(state=SCHEDULED, publish_at__lte=now or timezone.now())
    ids = list(due.order_by("pk").values_list("pk", flat=True))
    return publish(runs=ids, actor=None, reason="scheduled") if ids else 0


@transaction.atomic
def refresh_systems(*, systems: Sequence[int]) -> int:
    """Work out the summaries of systems (ids) anew after their facts were edited."""
    return rebuild(systems=systems)


def _locked(ids: Sequence[int]) -> list[Run]:
    """The runs, in the order of their ids, held until the transaction ends."""
    wanted = sorted(set(ids))
    runs: list[Run] = []
    for part in chunks(wanted):
        rows = Run.objects.select_for_update(of=("self",)).filter(pk__in=part)
        runs += rows.select_related("superseded_by").order_by("pk")
    if len(runs) != len(wanted):
        missing = set(wanted) - {run.pk for run in runs}
        raise ServiceError(_("There is no run %(run)s.") % {"run": min(missing)})
    return runs


def _change(
    runs: Sequence[Run], change: Callable[[Run], None], *, actor: Any, action: str, reason: str
) -> None:
    """Change runs, save them and leave an audit row for each."""
    audit = []
    for run in runs:
        before = _standing(run)
        change(run)
        after = _standing(run)
        differing = [name for name in KEPT if before[name] != after[name]]
        audit.append(
            AuditEntry(
                actor=actor,
                actor_name=str(actor or "system"),
                action=action,
                run=run,
                before={name: before[name] for name in differing},
                after={name: after[name] for name in differing},
                reason=reason,
            )
        )
    fields = [name.removesuffix("_id") for name in KEPT]
    Run.objects.bulk_update(runs, fields, batch_size=100)
    AuditEntry.objects.bulk_create(audit)
    touch()


def _standing(run: Run) -> dict[str, Any]:
    values = {name: getattr(run, name) for name in KEPT}
    return {n: v.isoformat() if isinstance(v, datetime) else v for n, v in values.items()}
