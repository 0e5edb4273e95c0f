"""What the pages of uploads read: who may see which, and lists of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from results import actors
from results.actors import Actor
from results.models import AuditEntry, Run, System, Upload, UploadFile
from results.queries import visible_systems

State = Upload.State
MOST_SUGGESTED = 1_000
MOST_AUDITED = 50

_UNSENT = Q(state=State.PARSED, sent_at=None)
_SENT = Q(state=State.PARSED, sent_at__isnull=False)
# The words in which lists are filtered, and what they find.
STANDINGS: Mapping[str, Q] = {
    "reading": Q(state=State.RECEIVED),
    "failed": Q(state=State.FAILED),
    "refused": Q(state=State.REJECTED),
    "open": _UNSENT,
    "review": _SENT & Q(publish_at=None),
    "scheduled": _SENT & Q(publish_at__isnull=False),
    "published": Q(state=State.PUBLISHED),
    "withdrawn": Q(state=State.WITHDRAWN),
}


def visible_uploads(user: Actor) -> QuerySet[Upload]:
    """The uploads that `user` may see: of their labs, own ones without a lab, all for the staff."""
    if actors.is_staff(user):
        return Upload.objects.all()
    if not user.is_authenticated:
        return Upload.objects.none()
    own = Q(token=user.token) if isinstance(user, actors.TokenUser) else Q(created_by=user.pk)
    return Upload.objects.filter(Q(lab__in=actors.reads_labs(user)) | own & Q(lab=None))


def upload_page(pk: int, user: Actor) -> Upload | None:
    """An upload with its files, or None where `user` may not see it. Two queries."""
    return prepared(visible_uploads(user)).filter(pk=pk).first()


def prepared(found: QuerySet[Upload]) -> QuerySet[Upload]:
    """Uploads with all that a page says of who sent them and what."""
    return found.select_related("lab", "created_by", "token__lab", "corrects").prefetch_related(
        "files__artefact"
    )


def listed(found: QuerySet[Upload]) -> QuerySet[Upload]:
    """Uploads with what a list says of them; their reports, which may be long, stay behind."""
    runs = Upload.runs.through.objects.filter(upload=OuterRef("pk"))
    return (
        found.defer("report", "given")
        .select_related("lab", "created_by", "token__lab")
        .prefetch_related("files")
        .annotate(
            said_systems=F("report__systems"),
            said_runs=F("report__run_count"),
            said_questions=F("report__questions"),
            wished=F("given__wished_date"),
            has_runs=Exists(runs),
        )
    )


def review_queue() -> QuerySet[Upload]:
    """What is in review and has no date yet, the longest waiting first."""
    return listed(Upload.objects.filter(STANDINGS["review"])).order_by("sent_at", "pk")


def file_of(pk: int, sha256: str, user: Actor) -> UploadFile | None:
    """A file of an upload that `user` may see, by its digest."""
    found = UploadFile.objects.filter(
        upload__in=visible_uploads(user).filter(pk=pk), artefact__sha256=sha256
    )
    return found.select_related("artefact").first()


def history_of(upload: Upload) -> list[AuditEntry]:
    """Who did what with an upload, newest first."""
    return list(AuditEntry.objects.filter(upload_id=upload.pk).order_by("-id")[:MOST_AUDITED])


def corrections_of(upload: Upload) -> list[Upload]:
    """The uploads that correct this one, newest first."""
    return list(Upload.objects.filter(corrects_id=upload.pk).defer("report").order_by("-pk"))


def runs_of_upload(upload: Upload) -> list[Run]:
    """The runs that it made, with their benchmarks."""
    return list(upload.runs.select_related("benchmark", "system").order_by("pk")[:200])


def upload_of(run: Run) -> Upload | None:
    """The newest upload that a run came with."""
    return run.uploads.defer("report").order_by("-pk").first()


def names_of_systems(slugs: Collection[str], user: Actor) -> dict[str, System]:
    """The systems of those slugs that `user` may know of. One query, none without slugs."""
    if not slugs:
        return {}
    return {one.slug: one for one in visible_systems(user).filter(slug__in=set(slugs))}


def systems_to_name(user: Actor) -> list[System]:
    """Systems to suggest to whoever says which was measured."""
    return list(visible_systems(user).order_by("name", "slug")[:MOST_SUGGESTED])
