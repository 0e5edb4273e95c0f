"""Reading one upload: claimed by one process at a time, its outcome stored whole or not at all."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AnonymousUser
from django.db import Error, connection, transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from results import actors, artefacts, formats, ingest
from results.bundle import BundleError, Problem
from results.bundle.document import OPEN
from results.bundle.model import Artefact as Named
from results.bundle.model import Lab as LabPart
from results.bundle.model import System as SystemPart
from results.chunks import chunks
from results.formats.base import File
from results.ingest import Prepared
from results.ingest.corrections import make_way
from results.ingest.store import known_runs
from results.intake.given import Given
from results.intake.named import leave_out
from results.intake.questions import NEW
from results.intake.report import Listed, Report, report_of
from results.intake.standing import publish_upload, trust_of
from results.intake.understand import understand
from results.intake.understood import Around, Understood
from results.intake.uploads import drop_drafts, note
from results.models import Run, Token, Upload
from results.passing import database_is_away, passes
from results.queries import visible_systems
from results.services import ServiceError

State = Upload.State
LEASE = timedelta(minutes=4)
MOST_ATTEMPTS = 3
BACK_S = 30.0  # how long a database that is started again is waited for
LOOK_S = 0.3


@dataclass
class Outcome:
    """What reading came to, before anything is stored."""

    understood: Understood
    prepared: list[Prepared] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def process(pk: int) -> None:
    """Read upload `pk` if it waits and nobody reads it; on a full disk it goes on waiting."""
    claim = secrets.token_hex(16)
    try:
        if _claim(pk, claim):
            upload = Upload.objects.select_related("lab", "created_by", "token__lab").get(pk=pk)
            _finish(upload, claim, read_upload(upload))
    except (OSError, Error) as error:
        if not passes(error):
            raise
        _let_wait(pk, claim, patience_s=BACK_S if database_is_away(error) else 0.0)


def _let_wait(pk: int, claim: str, *, patience_s: float) -> None:
    """Let another process read it, as soon as the database can be told so.

    Where it cannot, the reader's sweep lets go of it, and this attempt counts.
    """
    until = time.monotonic() + patience_s
    while True:
        try:
            release(pk, claim)
        except Error as error:
            if not passes(error) or time.monotonic() >= until:
                return
            # A connection that was lost is not made anew by itself.
            connection.close()
            time.sleep(LOOK_S)
        else:
            return


def _claim(pk: int, claim: str) -> bool:
    now = timezone.now()
    free = Q(claim="") | Q(claimed_at__lt=now - LEASE)
    waiting = Upload.objects.filter(free, pk=pk, state=State.RECEIVED, attempts__lt=MOST_ATTEMPTS)
    return bool(waiting.update(claim=claim, claimed_at=now, attempts=F("attempts") + 1))


def release(pk: int, claim: str) -> None:
    """Let another process read it; this attempt does not count."""
    held = Upload.objects.filter(pk=pk, claim=claim, state=State.RECEIVED)
    held.update(claim="", claimed_at=None, attempts=F("attempts") - 1)


def fail(pk: int, why: str, *, claim: str | None = None) -> None:
    """Reading ended without an outcome: a state of the upload, with the reason."""
    held = Upload.objects.filter(pk=pk, state=State.RECEIVED)
    if claim is not None:
        held = held.filter(claim=claim)
    held.update(state=State.FAILED, claim="", parsed_at=timezone.now(), report=failed(why))


def failed(why: str) -> Report:
    """The report of files whose reading ended without an outcome."""
    return {"state": str(State.FAILED), "problems": [Problem(why).as_dict()]}


def files_of(upload: Upload) -> list[File]:
    """The upload's files with their bytes."""
    rows = upload.files.select_related("artefact").order_by("position")
    return [File(r.name, artefacts.path_of(r.artefact.sha256).read_bytes()) for r in rows]


def actor_of(upload: Upload) -> Any:
    """Who sent it: the account, or the token while it lives."""
    if upload.token is not None:
        return actors.TokenUser(upload.token)
    return upload.created_by


def wisher_of(upload: Upload) -> Any:
    """Who asked for it to be published: the account or token of `given`, while it is there."""
    kind, _space, number = Given.of(upload.given).wisher.partition(" ")
    if kind == "token":
        token = Token.objects.select_related("lab").filter(pk=number).first()
        return actors.TokenUser(token) if token else None
    if kind == "account":
        return get_user_model().objects.filter(pk=number).first()
    return actor_of(upload)


def read_upload(upload: Upload) -> Outcome:
    """Understand and check an upload's files."""
    about = around(upload.lab, actor_of(upload), corrects=upload.corrects)
    return read(files_of(upload), Given.of(upload.given), about)


def around(lab: Any, actor: Any, *, corrects: Upload | None = None) -> Around:
    """What understanding depends on, for files that an actor sends for a lab."""
    labs = [] if lab else list(actors.labs_for_upload(actor).order_by("name")[:200])
    corrected = set(corrects.runs.values_list("pk", flat=True)) if corrects else set()
    # None: the account or token that sent it was deleted; what is public is there all the same.
    return Around(lab, labs, visible_systems(actor or AnonymousUser()), corrected)


def read(
    files: Sequence[File],
    given: Given,
    about: Around,
    *,
    operator: bool = False,
    beside: Mapping[str, bytes] | None = None,
) -> Outcome:
    """Understand files and check what they say against the catalogue and what is stored.

    `operator`: the hub's own command brings them; it may bring new labs and name any file that
    is kept, and what a bundle in JSON gives no evidence for stays without. `beside` are files
    that a bundle names and that are kept, but not understood.
    """
    understood = understand(files, given, about)
    outcome = Outcome(understood, problems=list(understood.problems))
    by_name = {**(beside or {}), **{file.name: file.data for file in understood.files}}
    # A table says nothing of where its values stand, so it is their evidence, whoever brings it.
    bundles = {f.name for f in understood.files if formats.detect(f) == "bundle"}
    for document in understood.documents:
        _add_parts(document, understood)
        if not operator:
            understood.remarks += leave_out(document, by_name, about)
        own = {a.name: by_name[a.name] for a in document.bundle.artefacts if a.name in by_name}
        try:
            prepared = ingest.prepare(
                document,
                files=own,
                origin="" if operator and document.name in bundles else document.name,
                allow_new_labs=operator or document.bundle.lab == OPEN,
            )
            make_way(prepared.ready, about.corrected)
            ingest.look(prepared)
            outcome.prepared.append(prepared)
        except BundleError as error:
            outcome.problems += error.problems
    return outcome


def _add_parts(document: Any, understood: Understood) -> None:
    """The file itself is evidence; what is open has a stand-in, so that the rest is checked."""
    bundle = document.bundle
    changes: dict[str, Any] = {}
    file = next((f for f in understood.files if f.name == document.name), None)
    if file is not None and all(a.name != file.name for a in bundle.artefacts):
        own = Named(name=file.name, sha256=artefacts.digest(file.data), size=len(file.data))
        changes["artefacts"] = [*bundle.artefacts, own]
    if bundle.lab == OPEN:
        changes["labs"] = [*bundle.labs, LabPart.model_construct(slug=OPEN, name=OPEN)]
    if any(run.system == OPEN for run in bundle.runs):
        stand_in = SystemPart.model_construct(slug=OPEN, name=OPEN)
        changes["systems"] = [*bundle.systems, stand_in]
    if changes:
        document.bundle = bundle.model_copy(update=changes)


def look(outcome: Outcome) -> Report:
    """The report of what would be stored; nothing is."""
    if outcome.problems:
        outcome.prepared.clear()
    runs = [
        Listed(ready, p.document.name, known.get(ready.identity), ready.identity in known)
        for p in outcome.prepared
        for known in (known_runs(p.ready),)
        for ready in p.ready
    ]
    state = State.REJECTED if outcome.problems else State.PARSED
    return report_of(outcome.understood, runs, state=str(state), problems=outcome.problems)


def _finish(upload: Upload, claim: str, outcome: Outcome) -> None:
    """Store the outcome, unless an answer has come in while the files were read."""
    with transaction.atomic():
        held = Upload.objects.select_for_update(of=("self",)).filter(
            pk=upload.pk, claim=claim, state=State.RECEIVED
        )
        if not held.exists():
            return
        drop_drafts(upload, None)
        is_open = outcome.understood.is_open
        report = look(outcome) if outcome.problems or is_open else _store(upload, outcome)
        Upload.objects.filter(pk=upload.pk).update(
            state=report["state"], report=report, claim="", parsed_at=timezone.now()
        )
        note(upload, None, "read", after={"state": report["state"]})
        if report["state"] == State.PARSED and not is_open and Given.of(upload.given).publish:
            _publish_as_wished(upload)


def _store(upload: Upload, outcome: Outcome) -> Report:
    """Store the runs as drafts, all or none, and say which they are."""
    listed: list[Listed] = []
    warnings: list[str] = []
    try:
        with transaction.atomic():
            for prepared in outcome.prepared:
                before = known_runs(prepared.ready)
                result = ingest.store(
                    prepared,
                    actor=actor_of(upload),
                    state=Run.State.DRAFT,
                    trust=trust_of(upload.lab),
                )
                warnings += result.warnings
                after = known_runs(prepared.ready)
                listed += [
                    Listed(r, prepared.document.name, after[r.identity], r.identity in before)
                    for r in prepared.ready
                ]
    except BundleError as error:
        outcome.problems += error.problems
        return look(outcome)
    _attach(upload, listed)
    _keep_name(upload, listed)
    return report_of(outcome.understood, listed, state=str(State.PARSED), warnings=warnings)


def _attach(upload: Upload, listed: Sequence[Listed]) -> None:
    """The runs that the upload made, drafts of the lab that it repeats, and of the upload that
    it corrects those that stay as they were."""
    ids = sorted({run.stored for run in listed if run.stored})
    stays = Q(pk__in=upload.corrects.runs.values("pk")) if upload.corrects else Q(pk=None)
    for part in chunks(ids):
        runs = Run.objects.filter(Q(published_at=None) | stays, pk__in=part, lab=upload.lab)
        upload.runs.add(*runs.values_list("pk", flat=True))


def _keep_name(upload: Upload, listed: Sequence[Listed]) -> None:
    """What was made as 'a new system' has a name now: read again, it is not made once more."""
    given, names = Given.of(upload.given), {run.ready.given.system for run in listed}
    if given.system == NEW and len(names) == 1:
        kept = given.answered(Given(system=names.pop()))
        Upload.objects.filter(pk=upload.pk).update(given=kept.as_json())


def _publish_as_wished(upload: Upload) -> None:
    """Publish at once what was sent with `publish`; what forbids it is told in the report."""
    actor = wisher_of(upload)
    try:
        # None is the hub itself, which may; here it is somebody who is not there any more.
        if actor is None:
            raise ServiceError(_("Who wished it to be published is not known here any more."))
        publish_upload(upload=upload, actor=actor)
    except ServiceError as error:
        fresh = Upload.objects.get(pk=upload.pk)
        fresh.report["remarks"] = [
            *fresh.report.get("remarks", []),
            {"file": "", "line": None, "text": str(error)},
        ]
        fresh.save(update_fields=["report"])
