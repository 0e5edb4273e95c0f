"""What becomes of an upload once it is understood: review, publication, correction, withdrawal.

Each change is one transaction with an audit row; the runs change through `results.services`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from results import actors, services
from results.intake.uploads import UploadError, locked, may_change, note
from results.models import Lab, Run, Trust, Upload
from results.passing import retried

State = Upload.State
LONGEST_EMBARGO = timedelta(days=3 * 366)


def trust_of(lab: Lab | None) -> Trust:
    """What a lab's runs start with: the hub measured them, a vendor did, or anyone."""
    if lab is not None and lab.kind == Lab.Kind.LOCAL:
        return Trust.VERIFIED
    return Trust.VENDOR if lab is not None and lab.kind == Lab.Kind.VENDOR else Trust.COMMUNITY


@retried
def send(*, upload: Upload, actor: Any, publish_at: datetime | None = None) -> Upload:
    """Put an upload before those who may publish it, with the date that its lab wishes.

    The runs that it corrects are withdrawn at once: what is known to be wrong stays in no
    comparison until somebody has looked.
    """
    upload = _ready(upload)
    _require(actors.may_upload(actor, upload.lab))
    if publish_at is not None:
        _check_date(publish_at)
    upload.sent_at, upload.returned_at, upload.note = timezone.now(), None, ""
    upload.given["wished_date"] = publish_at.isoformat() if publish_at else None
    upload.save()
    upload.runs.filter(state=Run.State.DRAFT).update(state=Run.State.PENDING)
    if upload.corrects is not None:
        _withdraw_corrected(upload, actor)
    note(upload, actor, "send for review", after={"wished_date": upload.given["wished_date"]})
    return upload


@retried
def give_back(*, upload: Upload, actor: Any, why: str) -> Upload:
    """Return an upload to its lab with a note of what is to be mended."""
    upload = locked(upload)
    _require(actors.may_review(actor) or actors.may_publish(actor, upload.lab))
    if not upload.is_in_review:
        raise UploadError(_("This upload is not in review."))
    if not why.strip():
        raise UploadError(_("Say in a note what is to be mended."))
    upload.sent_at, upload.returned_at, upload.note = None, timezone.now(), why.strip()
    upload.publish_at = None
    upload.save()
    pending = upload.runs.filter(state__in=(Run.State.PENDING, Run.State.SCHEDULED))
    pending.update(state=Run.State.DRAFT, publish_at=None)
    note(upload, actor, "return", reason=why.strip())
    return upload


@retried
def judge(
    *, upload: Upload, actor: Any, trust: int | None = None, not_ranked_because: str | None = None
) -> Upload:
    """Label an upload's runs: who stands behind them, and why they are kept out of ranks."""
    upload = locked(upload)
    _require(actors.may_review(actor))
    before = {"trust": upload.trust, "not_ranked_because": upload.not_ranked_because}
    ids = _ids(upload)
    if trust is not None:
        upload.trust = trust
        services.set_trust(runs=ids, trust=trust, actor=actor)
    if not_ranked_because is not None:
        upload.not_ranked_because = not_ranked_because.strip()[:300]
        services.edit_not_ranked(runs=ids, because=upload.not_ranked_because, actor=actor)
    upload.save()
    after = {"trust": upload.trust, "not_ranked_because": upload.not_ranked_because}
    note(upload, actor, "label", before=before, after=after)
    return upload


@retried
def publish_upload(*, upload: Upload, actor: Any) -> Upload:
    """Publish an upload's runs; those that it corrects are struck through with the reason."""
    upload = _ready(upload)
    _require(actor is None or actors.may_publish(actor, upload.lab))
    if upload.corrects is not None:
        _supersede(upload, actor)
    services.publish(runs=_ids(upload), actor=actor, reason=upload.reason)
    upload.state, upload.publish_at = State.PUBLISHED, None
    upload.published_at = timezone.now()
    upload.report["state"] = str(State.PUBLISHED)
    upload.save()
    note(upload, actor, "publish", reason=upload.reason)
    return upload


@retried
def schedule_upload(*, upload: Upload, actor: Any, publish_at: datetime) -> Upload:
    """Publish an upload by itself at a moment to come."""
    upload = _ready(upload)
    _require(actors.may_publish(actor, upload.lab))
    _check_date(publish_at)
    services.schedule(runs=_ids(upload), publish_at=publish_at, actor=actor)
    upload.publish_at, upload.sent_at = publish_at, upload.sent_at or timezone.now()
    upload.save()
    note(upload, actor, "schedule", after={"publish_at": publish_at.isoformat()})
    return upload


def _check_date(publish_at: datetime) -> None:
    now = timezone.now()
    if not now < publish_at < now + LONGEST_EMBARGO:
        raise UploadError(_("The date must lie in the future, within three years."))


@retried
def unschedule_upload(*, upload: Upload, actor: Any) -> Upload:
    """Take the date back: the upload is in review again."""
    upload = locked(upload)
    _require(actors.may_publish(actor, upload.lab))
    if upload.publish_at is None or upload.state != State.PARSED:
        raise UploadError(_("This upload has no date."))
    note(upload, actor, "take date back", before={"publish_at": upload.publish_at.isoformat()})
    _without_date(upload, "")
    return locked(upload)


def _without_date(upload: Upload, why: str) -> None:
    scheduled = upload.runs.filter(state=Run.State.SCHEDULED)
    scheduled.update(state=Run.State.PENDING, publish_at=None)
    Upload.objects.filter(pk=upload.pk).update(publish_at=None, note=why)


@retried
def withdraw_upload(*, upload: Upload, actor: Any, reason: str) -> Upload:
    """Withdraw all of an upload, with the reason that readers of its runs will see."""
    upload = locked(upload)
    _require(may_change(actor, upload))
    if not reason.strip():
        raise UploadError(_("A withdrawal needs a reason."))
    if upload.state == State.WITHDRAWN:
        raise UploadError(_("This upload is withdrawn already."))
    services.withdraw(runs=_ids(upload), actor=actor, reason=reason.strip())
    before = {"state": upload.state}
    upload.state, upload.reason = State.WITHDRAWN, reason.strip()
    upload.publish_at = upload.sent_at = None
    upload.claim, upload.claimed_at = "", None
    upload.report["state"] = str(State.WITHDRAWN)
    upload.save()
    note(upload, actor, "withdraw", before=before, reason=reason.strip())
    return upload


def publish_due(now: datetime | None = None) -> int:
    """Publish the uploads whose moment has come; how many. One that cannot be loses its date."""
    due = Upload.objects.filter(state=State.PARSED, publish_at__lte=now or timezone.now())
    done = 0
    for upload in due.order_by("publish_at", "pk"):
        try:
            publish_upload(upload=upload, actor=None)
            done += 1
        except services.ServiceError as error:
            _without_date(upload, str(error))
            note(upload, None, "could not be published", reason=str(error))
    return done


def _ready(upload: Upload) -> Upload:
    """The row, held; understood, nothing open, and with runs to publish."""
    upload = locked(upload)
    if upload.state != State.PARSED:
        raise UploadError(
            _("This upload is %(state)s: it cannot be published.")
            % {"state": upload.get_state_display()}
        )
    if upload.report.get("questions"):
        raise UploadError(_("Questions are open: answer them first."))
    if not upload.runs.exists():
        raise UploadError(_("Nothing in it is new: all its runs are stored already."))
    return upload


def _require(allowed: bool) -> None:
    if not allowed:
        raise services.NotAllowed(_("You may not do this for this lab."))


def _ids(upload: Upload) -> list[int]:
    return list(upload.runs.order_by("pk").values_list("pk", flat=True))


# Corrections


def corrected_runs(upload: Upload) -> list[tuple[Run, Run | None]]:
    """Each run of the corrected upload with the run that takes its place, if there is one.

    First itself, where the correction has it too; then one of the same scope and parameters,
    then of the same benchmark and system.
    """
    if upload.corrects is None:
        return []
    new = list(upload.runs.order_by("pk"))
    pairs: list[tuple[Run, Run | None]] = []
    for old in upload.corrects.runs.order_by("pk"):
        heir = old if old in new else _heir(old, new)
        if heir is not None:
            new.remove(heir)
        pairs.append((old, heir))
    return pairs


def _heir(old: Run, new: Sequence[Run]) -> Run | None:
    same = [run for run in new if _kind(run) == _kind(old)]
    exact = [run for run in same if run.scope == old.scope and run.parameters == old.parameters]
    return next(iter(exact or same), None)


def _kind(run: Run) -> tuple[int, int, int]:
    return run.lab_id, run.system_id, run.benchmark_id


def _supersede(upload: Upload, actor: Any) -> None:
    for old, heir in corrected_runs(upload):
        if heir is not None and heir.pk != old.pk:
            services.supersede(old=old.pk, new=heir.pk, actor=actor, reason=upload.reason)
        elif heir is None and old.state != Run.State.WITHDRAWN:
            services.withdraw(runs=[old.pk], actor=actor, reason=upload.reason)
    _close_corrected(upload, actor)


def _withdraw_corrected(upload: Upload, actor: Any) -> None:
    old = [run.pk for run, heir in corrected_runs(upload) if run != heir]
    services.withdraw(runs=old, actor=actor, reason=upload.reason)
    _close_corrected(upload, actor)


def _close_corrected(upload: Upload, actor: Any) -> None:
    former = upload.corrects
    if former is None or former.state == State.WITHDRAWN:
        return
    former.report["state"] = str(State.WITHDRAWN)
    former.state, former.reason = State.WITHDRAWN, upload.reason
    former.save()
    note(former, actor, "corrected", after={"by": upload.pk}, reason=upload.reason)
