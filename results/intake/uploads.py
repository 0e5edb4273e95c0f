"""Uploads as rows: made once for the same files, answered, their files replaced."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from results import actors
from results.intake.given import Given
from results.models import Artefact, AuditEntry, Lab, Run, Upload, UploadFile
from results.passing import retried
from results.roles import canonical
from results.services import ServiceError, discard

ATTEMPTS = 5
RECEIVED = Upload.State.RECEIVED


class UploadError(ServiceError):
    """Something that an upload's standing does not allow; the message may be shown."""


class Kept(NamedTuple):
    """A file that lies in the artefact store already."""

    name: str
    sha256: str
    size: int


@dataclass(frozen=True)
class Correction:
    """The published upload that is corrected, and why; readers will see the reason."""

    upload: Upload
    reason: str


def identity_of(
    lab: Lab | None, digests: Iterable[str], *, actor: Any, corrects: Upload | None = None
) -> str:
    """What makes files this upload and no other. Without a lab yet, whose account sends them."""
    owner = lab.slug if lab else f"?{sender(actor)}"
    parts = [owner, sorted(digests), corrects.pk if corrects else 0]
    return sha256(canonical(parts).encode()).hexdigest()


def sender(actor: Any) -> str:
    """Who asks, in a word that can be kept: 'token 3' or 'account 5'."""
    token = getattr(actor, "token", None)
    return f"token {token.pk}" if token else f"account {getattr(actor, 'pk', None)}"


def submit(
    *,
    actor: Any,
    lab: Lab | None,
    files: Sequence[Kept],
    given: Given,
    correction: Correction | None = None,
    clear: Iterable[str] = (),
) -> tuple[Upload, bool]:
    """The upload of these files, and whether it is new. The same files are one upload.

    Answers that come with known files go to their upload, unless it was published; `clear`
    names those that are taken back. Raises UploadError for an account or token that may not
    upload for the lab.
    """
    if not actors.may_upload(actor, lab):
        raise UploadError(_("You may not upload for this lab."))
    if not files:
        raise UploadError(_("There is no file."))
    given = given.wished_by(sender(actor))
    corrects = correction.upload if correction else None
    identity = identity_of(lab, (f.sha256 for f in files), actor=actor, corrects=corrects)
    for attempt in range(ATTEMPTS):
        known = Upload.objects.filter(identity=identity).first()
        if known is not None:
            return _again(known, given, actor, clear), False
        if correction:
            _check_correction(correction, lab)
        try:
            with transaction.atomic():
                made = _make(identity, actor, lab, files=files, given=given, correction=correction)
            return made, True
        except IntegrityError:
            if attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("not reached")


def _check_correction(correction: Correction, lab: Lab | None) -> None:
    published = Upload.objects.filter(state=Upload.State.PUBLISHED, lab=lab)
    if lab is None or not published.filter(pk=correction.upload.pk).exists():
        raise UploadError(_("Only what the lab has published is corrected."))
    if not correction.reason.strip():
        raise UploadError(_("A correction needs a reason."))


def _make(
    identity: str,
    actor: Any,
    lab: Lab | None,
    *,
    files: Sequence[Kept],
    given: Given,
    correction: Correction | None,
) -> Upload:
    upload = Upload.objects.create(
        identity=identity,
        lab=lab,
        created_by=actors.account(actor),
        token=getattr(actor, "token", None),
        given=given.as_json(),
        corrects=correction.upload if correction else None,
        reason=correction.reason if correction else "",
    )
    _set_files(upload, files)
    after = {"files": [f"{f.name} {f.sha256}" for f in files], "given": given.as_json()}
    note(upload, actor, "upload", after=after)
    return upload


def _set_files(upload: Upload, files: Sequence[Kept]) -> None:
    upload.files.all().delete()
    for position, file in enumerate(files):
        artefact, _made = Artefact.objects.get_or_create(
            sha256=file.sha256, defaults={"name": file.name, "size": file.size, "stored": True}
        )
        if not artefact.stored:
            Artefact.objects.filter(pk=artefact.pk).update(stored=True)
        UploadFile.objects.create(
            upload=upload, artefact=artefact, name=file.name, position=position
        )


def _again(known: Upload, given: Given, actor: Any, clear: Iterable[str]) -> Upload:
    """Known files with what is said beside them now.

    What was refused keeps no answers: whoever leaves out the wrong one is to find it gone.
    """
    before = Given.of(known.given)
    gone = before.names if known.state == Upload.State.REJECTED else tuple(clear)
    if known.is_open and before.answered(given, clear=gone) != before:
        return answer(upload=known, given=given, actor=actor, clear=gone)
    return known


@retried
def answer(
    *,
    upload: Upload,
    given: Given,
    actor: Any,
    lab: Lab | None = None,
    files: Sequence[Kept] = (),
    clear: Iterable[str] = (),
) -> Upload:
    """Answer the questions of an upload, or replace its files; it is then read anew.

    `clear` names settings that are taken back. Raises UploadError where it was published,
    where the actor may not, or where the lab has an upload of the same files already.
    """
    upload = locked(upload)
    if not upload.is_open:
        raise UploadError(_("What was published is changed by a correction."))
    if not may_change(actor, upload) or not actors.may_upload(actor, lab or upload.lab):
        raise UploadError(_("You may not upload for this lab."))
    before = {"given": upload.given, "lab": upload.lab.slug if upload.lab else None}
    if files:
        _set_files(upload, files)
    upload.lab = lab or upload.lab
    upload.given = _answered(upload, given, actor, clear).as_json()
    _identify(upload)
    drop_drafts(upload, actor)
    _read_anew(upload)
    after = {"given": upload.given, "lab": upload.lab.slug if upload.lab else None}
    if files:
        after["files"] = [f"{f.name} {f.sha256}" for f in files]
    note(upload, actor, "replace files" if files else "answer", before=before, after=after)
    return upload


def _answered(upload: Upload, given: Given, actor: Any, clear: Iterable[str]) -> Given:
    """The answers with the new ones over them.

    What somebody else changes is no longer what a publisher wished to see published: from who
    may not publish, the wish goes.
    """
    wished = given.wished_by(sender(actor))
    answered = Given.of(upload.given).answered(wished, clear=clear)
    return answered if actors.may_publish(actor, upload.lab) else answered.unwished()


def may_change(actor: Any, upload: Upload) -> bool:
    """Whether they may answer, replace and withdraw: its lab's; whose lab is open, its sender."""
    if upload.lab is not None or actors.is_staff(actor):
        return actors.may_upload(actor, upload.lab)
    token = getattr(actor, "token", None)
    if token is not None:
        return bool(token.is_live and upload.token_id == token.pk)
    sender = actors.account(actor)
    is_theirs = sender is not None and sender.is_active and upload.created_by_id == sender.pk
    return is_theirs and upload.token_id is None


def _identify(upload: Upload) -> None:
    digests = [f.artefact.sha256 for f in upload.files.select_related("artefact")]
    sender = actors.TokenUser(upload.token) if upload.token else upload.created_by
    identity = identity_of(upload.lab, digests, actor=sender, corrects=upload.corrects)
    other = Upload.objects.filter(identity=identity).exclude(pk=upload.pk).first()
    if other is not None:
        raise UploadError(
            _("The lab has uploaded these files already: upload %(number)s.") % {"number": other.pk}
        )
    upload.identity = identity


def _read_anew(upload: Upload) -> None:
    upload.state, upload.report, upload.attempts = RECEIVED, {}, 0
    upload.claim, upload.claimed_at = "", None
    upload.sent_at = upload.publish_at = None
    upload.save()


def read_again(*, upload: Upload, actor: Any) -> Upload:
    """Read an upload that failed once more. Raises UploadError for another one."""
    if upload.state != Upload.State.FAILED:
        raise UploadError(_("Only an upload whose reading failed is read again."))
    return answer(upload=upload, given=Given.of(upload.given), actor=actor)


def drop_drafts(upload: Upload, actor: Any) -> None:
    """Take back the drafts that an earlier reading made and no other upload names."""
    drafts = upload.runs.filter(state__in=(Run.State.DRAFT, Run.State.PENDING))
    own = [run.pk for run in drafts if run.uploads.count() == 1]
    upload.runs.clear()
    discard(runs=own, actor=actor, reason=_("read anew"))


def locked(upload: Upload) -> Upload:
    """The row as it is now, held until the transaction ends."""
    return Upload.objects.select_for_update(of=("self",)).select_related("lab").get(pk=upload.pk)


def note(
    upload: Upload,
    actor: Any,
    action: str,
    *,
    before: Any = None,
    after: Any = None,
    reason: str = "",
) -> None:
    """Leave an audit row of an upload."""
    AuditEntry.objects.create(
        actor=actors.account(actor),
        actor_name=actors.name_of(actor),
        action=action,
        upload=upload,
        before=before or {},
        after=after or {},
        reason=reason,
    )
