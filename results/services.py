"""What changes the standing of stored runs: each in one transaction, with an audit row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from results import actors
from results.actors import Actor
from results.chunks import chunks
from results.freshness import hold, touch
from results.models import AuditEntry, Lab, Processor, Run, System
from results.passing import retried
from results.summaries import add_runs, rebuild, rework_runs

DRAFT, PENDING = Run.State.DRAFT, Run.State.PENDING
SCHEDULED, PUBLISHED, WITHDRAWN = Run.State.SCHEDULED, Run.State.PUBLISHED, Run.State.WITHDRAWN
KEPT = (
    "state",
    "publish_at",
    "published_at",
    "reason",
    "not_ranked_because",
    "trust",
    "supersedes_id",
)


class ServiceError(ValueError):
    """A change that the runs' standing does not allow; the message may be shown."""


class NotAllowed(ServiceError):  # noqa: N818 - a refusal, no failure
    """A change that is not for this account or token to make; the message may be shown."""


@retried
def publish(*, runs: Sequence[int], actor: Actor | None, reason: str = "") -> int:
    """Publish runs (ids); how many were not published before. A withdrawn run may return.

    What they were measured on is public from then on. ServiceError for a run that a
    correction has replaced; NotAllowed for who may not publish for its lab.
    """
    found = _locked(runs)
    _require(actors.may_publish, actor, found)
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
    reveal(systems=[run.system_id for run in new])
    add_runs([run.pk for run in new])
    return len(new)


@retried
def withdraw(*, runs: Sequence[int], actor: Actor | None, reason: str) -> int:
    """Withdraw runs (ids), with the reason that is shown; how many were not withdrawn before.

    NotAllowed for who is not of the runs' lab.
    """
    if not reason.strip():
        raise ServiceError(_("A withdrawal needs a reason."))
    locked = _locked(runs)
    _require(actors.may_upload, actor, locked)
    found = [run for run in locked if run.state != WITHDRAWN]
    public = [run.pk for run in found if run.state == PUBLISHED]

    def change(run: Run) -> None:
        run.state, run.publish_at, run.reason = WITHDRAWN, None, reason.strip()

    _change(found, change, actor=actor, action="withdraw", reason=reason)
    rework_runs(public)
    return len(found)


@retried
def supersede(*, old: int, new: int, actor: Actor | None, reason: str) -> None:
    """Let run `new` correct run `old` (ids): it is published, the old one is struck through.

    ServiceError if they are not of the same lab, system and benchmark, or one is taken;
    NotAllowed for who may not publish for that lab.
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


@retried
def edit_not_ranked(
    *, runs: Sequence[int], because: str, actor: Actor | None, reason: str = ""
) -> int:
    """Keep runs (ids) out of ranks and say why; an empty `because` lets them in again.

    NotAllowed for anyone but the staff.
    """
    if actor is not None and not actors.may_review(actor):
        raise NotAllowed(_("Only the staff keeps runs out of ranks."))
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


@retried
def set_trust(*, runs: Sequence[int], trust: int, actor: Actor | None, reason: str = "") -> int:
    """Say who stands behind runs (ids), a level of `Trust`; how many had another."""
    found = [run for run in _locked(runs) if run.trust != trust]
    _require(lambda asking, _lab: actors.may_review(asking), actor, found)
    public = [run.pk for run in found if run.state == PUBLISHED]

    def change(run: Run) -> None:
        run.trust = trust

    _change(found, change, actor=actor, action="set trust", reason=reason)
    rework_runs(public)
    return len(found)


@retried
def discard(*, runs: Sequence[int], actor: Actor | None, reason: str) -> int:
    """Delete runs (ids) that were never public; one audit row says which. ServiceError else."""
    found = _locked(runs)
    if any(run.state in (PUBLISHED, WITHDRAWN) or run.published_at for run in found):
        raise ServiceError(_("What was public is withdrawn, not deleted."))
    if not found:
        return 0
    _require(actors.may_upload, actor, found)
    ids = [run.pk for run in found]
    AuditEntry.objects.create(
        actor=actors.account(actor),
        actor_name=actors.name_of(actor),
        action="discard",
        before={"runs": ids},
        reason=reason,
    )
    for part in chunks(ids):
        Run.objects.filter(pk__in=part).delete()
    return len(ids)


@retried
def schedule(
    *, runs: Sequence[int], publish_at: datetime, actor: Actor | None, reason: str = ""
) -> int:
    """Publish runs (ids) by themselves at a moment in the future; drafts and reviewed only.

    NotAllowed for who may not publish for their lab.
    """
    if publish_at <= timezone.now():
        raise ServiceError(_("The date lies in the past: publish the runs instead."))
    found = _locked(runs)
    _require(actors.may_publish, actor, found)
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


@retried
def refresh_systems(*, systems: Sequence[int]) -> int:
    """Work out the summaries of systems (ids) anew after their facts were edited."""
    return rebuild(systems=systems)


def reveal(*, systems: Iterable[int]) -> int:
    """Let all know of systems (ids), those that they quote together, and their processors.

    How many rows were not public before. Part of the transaction that publishes.
    """
    changed = 0
    for part in chunks(sorted(set(systems))):
        quoted = System.members.through.objects.filter(from_system__in=part).values("to_system")
        found = System.objects.order_by().filter(Q(pk__in=part) | Q(pk__in=quoted))
        used = Processor.objects.filter(pk__in=found.values("processor"))
        changed += used.filter(is_public=False).update(is_public=True)
        changed += found.filter(is_public=False).update(is_public=True)
    return changed


def _require(may: Callable[[Actor, Lab], bool], actor: Actor | None, runs: Iterable[Run]) -> None:
    """Refuse who may not do this to a run of each of the labs; None is the hub itself."""
    if actor is None or actors.is_staff(actor):
        return
    for lab in {run.lab for run in runs}:
        if not may(actor, lab):
            raise NotAllowed(_("This is for those who may do it for %(lab)s.") % {"lab": lab})


def _locked(ids: Sequence[int]) -> list[Run]:
    """The runs, in the order of their ids, held until the transaction ends."""
    hold()
    wanted = sorted(set(ids))
    runs: list[Run] = []
    for part in chunks(wanted):
        # Others may go on pointing to them.
        rows = Run.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=part)
        runs += rows.select_related("superseded_by", "lab").order_by("pk")
    if len(runs) != len(wanted):
        missing = set(wanted) - {run.pk for run in runs}
        raise ServiceError(_("There is no run %(run)s.") % {"run": min(missing)})
    return runs


def _change(
    runs: Sequence[Run],
    change: Callable[[Run], None],
    *,
    actor: Actor | None,
    action: str,
    reason: str,
) -> None:
    """Change runs, save them and leave an audit row for each."""
    account, name = actors.account(actor), actors.name_of(actor)
    audit = []
    for run in runs:
        before = _standing(run)
        change(run)
        after = _standing(run)
        differing = [key for key in KEPT if before[key] != after[key]]
        audit.append(
            AuditEntry(
                actor=account,
                actor_name=name,
                action=action,
                run=run,
                before={key: before[key] for key in differing},
                after={key: after[key] for key in differing},
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
