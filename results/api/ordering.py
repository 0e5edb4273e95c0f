"""What a request with files asks for, and whether who asks may: before anything is stored."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError
from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException, PermissionDenied, ValidationError
from rest_framework.request import Request

from results import actors, catalogue
from results.api.fields import Fields
from results.hints import hint
from results.intake import uploads
from results.intake.given import Given
from results.intake.uploads import Correction, identity_of
from results.models import Lab, Upload
from results.queries.uploads import visible_uploads
from results.receiving import Received

ANSWERS = ("lab", "system", "benchmark", "set", "publish", "publish_at")
ORDERS = (*ANSWERS, "dry_run", "corrects", "reason")
ID = re.compile(r"[0-9]{1,18}", re.ASCII)
LONGEST_SLUG = 80


class Conflict(APIException):
    """Something that the standing of what is stored does not allow."""

    status_code = 409
    default_code = "conflict"


@dataclass(frozen=True)
class Order:
    """Files with all that is said beside them; `lab` None: it is asked for.

    `clear` names settings that are taken back, `publish_at` is when to publish by itself.
    """

    actor: Any
    lab: Lab | None
    given: Given
    clear: tuple[str, ...] = ()
    publish_at: datetime | None = None
    correction: Correction | None = None
    dry_run: bool = False


def read_order(request: Request, files: Sequence[Received]) -> Order:
    """What is to be done with new files. Raises ValidationError, PermissionDenied, Conflict."""
    fields = Fields(request, ORDERS)
    if not files:
        fields.refuse("file", _("no file came: send a form with files, multipart/form-data"))
    given, clear = _given(fields)
    publish_at, dry_run = fields.moment("publish_at"), fields.flag("dry_run")
    slug, number, reason = fields.word("lab"), fields.word("corrects"), fields.prose("reason")
    fields.check()
    correction = _correction(request.user, number, reason, files)
    lab = _lab(request.user, slug, correction)
    if given.publish or publish_at:
        require_right_to_publish(request.user, lab)
    return Order(
        request.user, lab, _wish(given, publish_at), clear, publish_at, correction, dry_run
    )


def read_answers(request: Request, upload: Upload) -> Order:
    """What is said beside files that came before. Raises as `read_order`."""
    fields = Fields(request, ANSWERS)
    given, clear = _given(fields)
    slug, publish_at = fields.word("lab"), fields.moment("publish_at")
    fields.check()
    lab = _named_lab(request.user, slug) if slug else upload.lab
    if given.publish or publish_at:
        require_right_to_publish(request.user, lab)
    return Order(request.user, lab, _wish(given, publish_at), clear, publish_at)


def _given(fields: Fields) -> tuple[Given, tuple[str, ...]]:
    settings = fields.settings()
    benchmark = fields.choice("benchmark", list(catalogue.benchmarks()))
    system = fields.word("system")
    if len(system) > LONGEST_SLUG:
        fields.refuse("system", _("expected at most %d characters") % LONGEST_SLUG)
    said = {key: value for key, value in settings.items() if value}
    given = Given(system, benchmark, said, fields.flag("publish"))
    return given, tuple(key for key in settings if key not in said)


def _wish(given: Given, publish_at: datetime | None) -> Given:
    """With a date to publish at, nothing is published before it."""
    return Given(given.system, given.benchmark, given.settings) if publish_at else given


def _correction(
    actor: Any, number: str, reason: str, files: Sequence[Received]
) -> Correction | None:
    """What is corrected, and why. The same correction again is known, whatever came of it."""
    if not number:
        if reason:
            raise ValidationError({"reason": [_("is of a correction: give corrects too")]})
        return None
    seen = visible_uploads(actor).select_related("lab")
    upload = seen.filter(pk=int(number)).first() if ID.fullmatch(number) else None
    if upload is None:
        text = _("there is no upload %s that you may correct") % number[:20]
        raise ValidationError({"corrects": [text]})
    identity = identity_of(upload.lab, (f.sha256 for f in files), actor=actor, corrects=upload)
    is_known = Upload.objects.filter(identity=identity).exists()
    if upload.state != Upload.State.PUBLISHED and not is_known:
        words = {"number": upload.pk, "state": upload.get_state_display()}
        text = _("Upload %(number)d is %(state)s; only what is published is corrected.")
        raise Conflict(text % words)
    if not reason:
        raise ValidationError({"reason": [_("a correction needs one; readers will see it")]})
    return Correction(upload, reason)


def _lab(actor: Any, slug: str, correction: Correction | None) -> Lab | None:
    """Whose results they are: as said, the corrected upload's, or the only one it can be."""
    corrected = correction.upload.lab if correction else None
    if corrected is not None and slug not in ("", corrected.slug):
        text = _("the upload that is corrected is of lab %s") % corrected.slug
        raise ValidationError({"lab": [text]})
    if corrected is not None:
        return corrected
    if slug:
        return _named_lab(actor, slug)
    labs = list(actors.labs_for_upload(actor)[:2])
    return labs[0] if len(labs) == 1 else None


def _named_lab(actor: Any, slug: str) -> Lab:
    """The lab of that slug, if it may be uploaded for.

    To all but the staff a lab that is not there and one of others are answered alike.
    """
    mine = actors.labs_for_upload(actor)
    found = mine.filter(slug=slug).first()
    if found is not None:
        return found
    if actors.is_staff(actor):
        known = list(mine.order_by("slug").values_list("slug", flat=True)[:5_000])
        words = {"value": slug[:80], "hint": hint(slug, known)}
        raise ValidationError({"lab": [_("%(value)r is not known; %(hint)s") % words]})
    raise PermissionDenied({"lab": [_("you may not upload for a lab %r") % slug[:80]]})


def require_right_to_publish(actor: Any, lab: Lab | None) -> None:
    """Raises PermissionDenied for who may not publish for the lab."""
    if actors.may_publish(actor, lab):
        return
    if lab is None:
        text = _("say whose results they are: to publish is each lab's own right")
        raise ValidationError({"lab": [text]})
    raise PermissionDenied(_("You may not publish for this lab."))


def take(order: Order, files: Sequence[Received]) -> tuple[Upload, bool]:
    """The stored upload of an order, and whether it is new. Raises ServiceError."""
    kept = [uploads.Kept(file.name, file.sha256, file.size) for file in files]
    waiting = _waiting(order, kept)
    if waiting is not None:
        return change(waiting, order), False
    return uploads.submit(
        actor=order.actor,
        lab=order.lab,
        files=kept,
        given=order.given,
        correction=order.correction,
        clear=order.clear,
    )


def _waiting(order: Order, files: Sequence[uploads.Kept]) -> Upload | None:
    """The same files, sent before by the same account without saying whose they are."""
    if order.lab is None or order.correction is not None:
        return None
    digests = [file.sha256 for file in files]
    known = {lab: identity_of(lab, digests, actor=order.actor) for lab in (None, order.lab)}
    found = {one.identity: one for one in Upload.objects.filter(identity__in=known.values())}
    waiting = found.get(known[None])
    return waiting if waiting and waiting.is_open and known[order.lab] not in found else None


def change(upload: Upload, order: Order, files: Sequence[Received] = ()) -> Upload:
    """Answer an upload's questions, or replace its files. Raises ServiceError, Conflict."""
    try:
        return uploads.answer(
            upload=upload,
            given=order.given,
            actor=order.actor,
            lab=order.lab,
            files=[uploads.Kept(file.name, file.sha256, file.size) for file in files],
            clear=order.clear,
        )
    except IntegrityError:
        # Another request has just made the lab an upload of the same files.
        raise Conflict(_("The lab has uploaded these files already.")) from None
