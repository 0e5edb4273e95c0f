"""What is done with an upload: each address takes a form, calls one function and leads back."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from results.intake import previews, standing
from results.intake.client import have_read
from results.intake.given import Given, GivenError
from results.intake.uploads import UploadError, answer, read_again
from results.models import Upload
from results.pages.uploadforms import (
    Answers,
    answers_of,
    moment_of,
    number_of,
    trust_of,
    words_of,
)
from results.receiving import receives
from results.services import ServiceError
from results.views.private import SeeOther, for_uploaders, private, seen_upload
from results.views.uploads import PATIENCE_S, sent_files, upload_page

Act = Callable[[HttpRequest, Upload], Any]


def act(change: Act) -> Callable[..., HttpResponseBase]:
    """An address for a change that returns what to tell of it; what it refuses is told too."""

    @private
    @require_POST
    @wraps(change)
    def view(request: HttpRequest, pk: int) -> HttpResponse:
        upload = seen_upload(request, pk)
        try:
            messages.success(request, change(request, upload))
        except (ServiceError, GivenError) as error:
            messages.error(request, str(error))
        return SeeOther(upload.get_absolute_url())

    return view


def _need_an_answer(request: HttpRequest, upload: Upload, said: Answers) -> None:
    """Raise GivenError where something is needed, and the form came back as it was."""
    needed = upload.report.get("questions") if upload.is_open else None
    changes = said.given.system, said.given.settings, said.lab, request.POST.getlist("clear")
    if needed and not any(changes):
        raise GivenError(needed[0]["field"], _("This needs an answer: choose one, or type it."))


@private
@require_POST
def give_answer(request: HttpRequest, pk: int) -> HttpResponse:
    """Answer the questions; what cannot be meant is told at its question."""
    upload = seen_upload(request, pk)
    try:
        said = answers_of(request.POST, request.user)
        _need_an_answer(request, upload, said)
        answer(upload=upload, given=said.given, actor=request.user, lab=said.lab, clear=said.clear)
    except GivenError as error:
        return upload_page(request, upload, error=error)
    except ServiceError as error:
        messages.error(request, str(error))
        return SeeOther(upload.get_absolute_url())
    have_read(pk, patience_s=PATIENCE_S)
    return SeeOther(upload.get_absolute_url())


@private
@for_uploaders
@receives
@require_POST
def replace(request: HttpRequest, pk: int) -> HttpResponse:
    """Other files in place of those that came; the answers stay."""
    upload = seen_upload(request, pk)
    files = sent_files(request)
    try:
        if not files:
            raise UploadError(_("Choose at least one file."))
        answer(upload=upload, given=Given(), actor=request.user, files=files)
    except ServiceError as error:
        messages.error(request, str(error))
        return SeeOther(upload.get_absolute_url())
    have_read(pk, patience_s=PATIENCE_S)
    return SeeOther(upload.get_absolute_url())


@act
def again(request: HttpRequest, upload: Upload) -> Any:
    """Read it once more after a failure."""
    if upload.state != Upload.State.FAILED:
        raise UploadError(_("Only an upload whose reading failed is read again."))
    read_again(upload=upload, actor=request.user)
    have_read(upload.pk, patience_s=PATIENCE_S)
    return _("It was given to the reader again.")


@act
def send(request: HttpRequest, upload: Upload) -> Any:
    """Send it for review, with the date that is wished."""
    moment = moment_of(request.POST, "publish_at")
    standing.send(upload=upload, actor=request.user, publish_at=moment)
    return _("Sent for review.")


@act
def give_back(request: HttpRequest, upload: Upload) -> Any:
    """Return it with a note."""
    standing.give_back(upload=upload, actor=request.user, why=words_of(request.POST, "why"))
    return _("Returned to its lab.")


@act
def label(request: HttpRequest, upload: Upload) -> Any:
    """Say who stands behind its values, and why they are kept out of ranks."""
    because = words_of(request.POST, "not_ranked_because")
    standing.judge(
        upload=upload,
        actor=request.user,
        trust=trust_of(request.POST),
        not_ranked_because=because,
    )
    return _("Labelled.")


@act
def publish(request: HttpRequest, upload: Upload) -> Any:
    """Publish it now."""
    standing.publish_upload(upload=upload, actor=request.user)
    return _("Published.")


@act
def schedule(request: HttpRequest, upload: Upload) -> Any:
    """Publish it at a moment to come."""
    moment = moment_of(request.POST, "publish_at")
    if moment is None:
        raise UploadError(_("Say when it is to be published."))
    standing.schedule_upload(upload=upload, actor=request.user, publish_at=moment)
    return _("It will be published by itself.")


@act
def unschedule(request: HttpRequest, upload: Upload) -> Any:
    """Take the date back."""
    standing.unschedule_upload(upload=upload, actor=request.user)
    return _("The date was taken back; it is in review.")


@act
def withdraw(request: HttpRequest, upload: Upload) -> Any:
    """Withdraw all of it, with the reason."""
    reason = words_of(request.POST, "reason")
    standing.withdraw_upload(upload=upload, actor=request.user, reason=reason)
    return _("Withdrawn.")


@act
def link(request: HttpRequest, upload: Upload) -> Any:
    """Make a link for somebody without an account. It is shown once."""
    days = number_of(request.POST, "days") or 0
    address = previews.make_link(upload=upload, actor=request.user, days=days)
    whole = request.build_absolute_uri(address)
    text = _("Whoever has this link sees the preview. Copy it now, it is not shown again:")
    return format_html('{} <a class="address" href="{}">{}</a>', text, whole, whole)


@act
def close_links(request: HttpRequest, upload: Upload) -> Any:
    """Let the links that were made stop working."""
    previews.close_links(upload=upload, actor=request.user)
    return _("All links to the preview are closed.")
