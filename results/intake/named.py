"""Files that a bundle names as evidence and that did not come with it."""

from __future__ import annotations

from collections.abc import Collection

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q
from django.utils.translation import gettext as _

from results.bundle import Document, model
from results.chunks import chunks
from results.formats.base import Remark
from results.intake.understood import Around
from results.models import Artefact
from results.queries import visible_runs


def leave_out(document: Document, here: Collection[str], about: Around) -> list[Remark]:
    """Take files from the bundle that are not among those `here` and that the lab cannot see.

    Whether or not such a file lies here, for another lab: naming a digest must neither tell
    that it does nor open it, now or once somebody keeps it. Values stay, evidenced by the
    bundle's own lines.
    """
    named = {a.sha256: a.name for a in document.bundle.artefacts if a.name not in here}
    strange = {name for digest, name in named.items() if digest not in _seen(list(named), about)}
    if not strange:
        return []
    document.bundle = document.bundle.model_copy(
        update={
            "artefacts": [a for a in document.bundle.artefacts if a.name not in strange],
            "runs": [_without(run, strange) for run in document.bundle.runs],
        }
    )
    text = _("%(name)s is named as evidence and did not come with it: its lines are not shown.")
    return [Remark(text % {"name": name}, file=document.name) for name in sorted(strange)]


def _seen(digests: list[str], about: Around) -> set[str]:
    """Those that are kept here and that the lab may see: of public runs, or its own."""
    may = Q(runs__in=visible_runs(AnonymousUser()))
    if about.lab is not None:
        may |= Q(runs__lab=about.lab) | Q(upload_files__upload__lab=about.lab)
    found: set[str] = set()
    for part in chunks(digests):
        rows = Artefact.objects.filter(may, sha256__in=part, stored=True)
        found.update(rows.values_list("sha256", flat=True))
    return found


def _without(run: model.Run, strange: Collection[str]) -> model.Run:
    kept = [
        m.model_copy(update={"evidence": None})
        if m.evidence and m.evidence.artefact in strange
        else m
        for m in run.measurements
    ]
    return run.model_copy(update={"measurements": kept})
