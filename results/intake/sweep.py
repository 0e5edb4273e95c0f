"""What is put right from time to time: uploads left unread, dates that came, stray files."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from results import artefacts, services
from results.chunks import chunks
from results.intake import standing
from results.intake.work import LEASE, MOST_ATTEMPTS, fail
from results.models import Artefact, Processor, System, Upload

AT_ONCE = 200
STRAY_S = 3600.0


def unread() -> list[int]:
    """Ids of uploads that wait and that nobody reads; the oldest first, some at a time."""
    return list(_left().filter(attempts__lt=MOST_ATTEMPTS).values_list("pk", flat=True)[:AT_ONCE])


def give_up() -> int:
    """Uploads whose every reading ended without an outcome have failed; how many."""
    ids = list(_left().filter(attempts__gte=MOST_ATTEMPTS).values_list("pk", flat=True)[:AT_ONCE])
    for pk in ids:
        fail(pk, _("Reading these files ended three times without a result."))
    return len(ids)


def let_go(*, before: datetime | None = None) -> int:
    """When the reader has no child, whoever held an upload is dead; how many are free again.

    `before`: claims of a later moment may be those of children that it has since then. A reader
    of another machine may still live: its outcome then finds its claim gone.
    """
    held = Upload.objects.filter(state=Upload.State.RECEIVED).exclude(claim="")
    if before is not None:
        held = held.filter(claimed_at__lt=before)
    return held.update(claim="", claimed_at=None) if held.exists() else 0


def _left() -> QuerySet[Upload]:
    """Waiting, and not held by a reader that may still live."""
    free = Q(claim="") | Q(claimed_at__lt=timezone.now() - LEASE)
    return Upload.objects.filter(free, state=Upload.State.RECEIVED).order_by("pk")


def publish_due() -> int:
    """Publish uploads and single runs whose date has come; how many of both."""
    return standing.publish_due() + services.publish_due()


def forget_systems() -> int:
    """Remove systems that came with an upload and that nothing points to any more; how many.

    What points to them another app may add: a host is a system before it has measured anything.
    """
    pointing = dict.fromkeys(relation.name for relation in System._meta.related_objects)
    lonely = System.objects.filter(is_public=False, **pointing)
    count = lonely.delete()[1].get("results.System", 0)
    Processor.objects.filter(is_public=False, systems=None).delete()
    return count


def remove_strays(*, older_than_s: float = STRAY_S) -> int:
    """Remove files that no row knows: of requests that ended half way. How many.

    `older_than_s`: a younger file may belong to a request that is about to write its row.
    """
    removed = artefacts.clear_incoming(older_than_s)
    for part in chunks(list(artefacts.stored())):
        known = set(Artefact.objects.filter(sha256__in=part).values_list("sha256", flat=True))
        strays = [digest for digest in part if digest not in known]
        removed += sum(artefacts.remove_older(digest, older_than_s) for digest in strays)
    return removed
