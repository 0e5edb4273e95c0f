"""The only writer of runs: a bundle is checked once and stored whole, or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db import IntegrityError, OperationalError, transaction
from django.utils import timezone

from results import actors, artefacts, sync
from results.actors import Actor
from results.bundle import Bundle, BundleError, Document, Problem
from results.bundle.document import OPEN
from results.bundle.problems import Finding, show
from results.freshness import hold, touch
from results.ingest.aside import set_aside
from results.ingest.check import Checker, Ready
from results.ingest.curated import check_curated, store_curated
from results.ingest.known import Known, Sight, stored
from results.ingest.origin import add_origin, recognise
from results.ingest.parts import Parts, ensure_parts, ensure_setups
from results.ingest.room import room_for
from results.ingest.store import Standing, Writer, contradictions, known_runs
from results.models import AuditEntry, Lab, Run, Trust
from results.passing import got_in_the_way
from results.services import reveal
from results.summaries import rebuild

# Another writer may make the same lab, system, cell or run at the same time; the unique
# constraint lets one win, and the other reads what the winner wrote.
ATTEMPTS = 5
STATES = (Run.State.DRAFT, Run.State.PENDING, Run.State.PUBLISHED)
# Rows built and written at a time: bounds memory, whatever the bundle's size.
AT_ONCE = 5_000


@dataclass
class IngestResult:
    """What became of a bundle: ids of runs made now, and of those known before, in its order.

    `drafts` are those of the known that were published by this. `changed` counts other
    rows that were made or changed: systems, sources, lists …
    """

    created: list[int] = field(default_factory=list)
    known: list[int] = field(default_factory=list)
    drafts: list[int] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    ready: Sequence[Ready] = ()
    changed: int = 0


def ingest_bundle(
    given: Bundle | Document,
    *,
    actor: Actor | None = None,
    state: str = Run.State.DRAFT,
    trust: int = Trust.COMMUNITY,
    allow_new_labs: bool = False,
    files: Mapping[str, bytes] | None = None,
    curated: bool = False,
    dry_run: bool = False,
    origin: str = "",
) -> IngestResult:
    """Store a bundle in one transaction; the same bundle again adds nothing.

    `state` is draft, pending or published. `files` are the bundle's artefacts by name, as
    far as they are at hand; they are kept. `curated`: the bundle is the hub's own text, so
    it may bring lists and comparisons, and what it says of known systems wins. `dry_run`
    writes nothing. `origin`: see `prepare`. Raises BundleError with every problem of the document.
    """
    prepared = prepare(
        given, files=files, allow_new_labs=allow_new_labs, curated=curated, origin=origin
    )
    if dry_run:
        return look(prepared)
    return store(prepared, actor=actor, state=state, trust=trust)


@dataclass(frozen=True)
class Prepared:
    """A document that was checked and may be stored, with its files by name."""

    document: Document
    ready: list[Ready]
    files: Mapping[str, bytes]
    curated: bool
    sight: Sight


def prepare(
    given: Bundle | Document,
    *,
    files: Mapping[str, bytes] | None = None,
    allow_new_labs: bool = False,
    curated: bool = False,
    origin: str = "",
) -> Prepared:
    """Check a bundle, as `ingest_bundle` does first. Writes nothing.

    `origin` is the artefact that the document itself was read from: evidence of the values
    that name none. It is no part of a run's identity. A system or processor that is not
    public yet is known to its labs only; to an operator's bundle (`curated`,
    `allow_new_labs`) all are.
    """
    document = given if isinstance(given, Document) else Document(given)
    sync.ensure()
    kept = files or {}
    lab = document.bundle.lab
    sight = Sight(lab, curated or (allow_new_labs and lab != OPEN))
    document = set_aside(document, sight)
    known = Known.of(document.bundle, kept, sight)
    ready = _check(document, kept, known, allow_new_labs=allow_new_labs, curated=curated)
    recognise(ready)
    if origin:
        add_origin(ready, document, origin)
    return Prepared(document, ready, kept, curated, sight)


def store(
    prepared: Prepared,
    *,
    actor: Actor | None = None,
    state: str = Run.State.DRAFT,
    trust: int = Trust.COMMUNITY,
) -> IngestResult:
    """Store what was prepared, in one transaction."""
    if state not in STATES:
        raise ValueError(f"runs are not stored as {state!r}")
    for data in prepared.files.values():
        artefacts.save(data)
    standing = Standing(state, trust, actor, timezone.now())
    for attempt in range(ATTEMPTS):
        try:
            with room_for(len(prepared.ready)), transaction.atomic():
                return _store(prepared, standing)
        except (IntegrityError, OperationalError) as error:
            again = isinstance(error, IntegrityError) or got_in_the_way(error)
            if not again or attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("not reached")


def _check(
    document: Document,
    files: Mapping[str, bytes],
    known: Known,
    *,
    allow_new_labs: bool,
    curated: bool,
) -> list[Ready]:
    """The runs, ready to be stored. Raises BundleError with all that is wrong."""
    checker = Checker(document, known, timezone.now())
    _check_labs(checker, allow_new_labs=allow_new_labs)
    _check_parts(checker)
    _check_files(checker, files)
    check_curated(checker, allowed=curated)
    ready = checker.runs()
    findings = [*document.findings, *checker.findings]
    if findings:
        raise BundleError(document.problems(findings))
    return ready


def _check_labs(checker: Checker, *, allow_new_labs: bool) -> None:
    bundle = checker.bundle
    checker.refer(("lab",), "lab", bundle.lab, checker.known.labs)
    if allow_new_labs:
        return
    there = stored(Lab, [lab.slug for lab in bundle.labs])
    for index, lab in enumerate(bundle.labs):
        if lab.slug not in there:
            expected = "a lab that is known here; an administrator adds new ones"
            checker.say(("labs", index, "slug"), show(lab.slug), expected)


def _check_parts(checker: Checker) -> None:
    """Descriptions: each name once, and what they refer to is known."""
    bundle, known = checker.bundle, checker.known
    for part, key in PARTS:
        seen = set()
        for index, item in enumerate(getattr(bundle, part)):
            name = getattr(item, key)
            if name in seen:
                checker.say((part, index, key), f"{show(name)} again", "each name once")
            seen.add(name)
    for index, system in enumerate(bundle.systems):
        path = ("systems", index)
        checker.refer((*path, "processor"), "processor", system.processor, known.processors)
        checker.refer((*path, "source"), "source", system.source, known.sources)
        for member in system.members:
            checker.refer((*path, "members"), "system", member, known.systems)
            if member == system.slug:
                checker.say((*path, "members"), show(member), "other systems than itself")


PARTS = (
    ("labs", "slug"),
    ("sources", "id"),
    ("processors", "slug"),
    ("systems", "slug"),
    ("lists", "slug"),
    ("comparisons", "slug"),
    ("artefacts", "name"),
)


def _check_files(checker: Checker, files: Mapping[str, bytes]) -> None:
    """Files that are at hand are those that the bundle means."""
    for index, artefact in enumerate(checker.bundle.artefacts):
        data = files.get(artefact.name)
        if data is None:
            continue
        path = ("artefacts", index)
        if artefacts.digest(data) != artefact.sha256:
            found = f"{artefact.name} with SHA-256 {artefacts.digest(data)}"
            checker.say((*path, "sha256"), found, artefact.sha256)
        elif len(data) != artefact.size:
            checker.say((*path, "size"), f"{artefact.size}", f"{len(data)} bytes")


def look(prepared: Prepared) -> IngestResult:
    """What storing would do: known runs are told, new ones only counted by their absence.

    Raises BundleError where a stored run has other values.
    """
    known = known_runs(prepared.ready)
    old = [run for run in prepared.ready if run.identity in known]
    _refuse(prepared.document, contradictions(old, known))
    return IngestResult(known=[known[run.identity] for run in old], ready=prepared.ready)


def _store(prepared: Prepared, standing: Standing) -> IngestResult:
    document, ready, curated = prepared.document, prepared.ready, prepared.curated
    bundle = document.bundle
    if curated or standing.is_published:
        hold()
    known = known_runs(ready)
    old = [run for run in ready if run.identity in known]
    new = [run for run in ready if run.identity not in known]
    _refuse(document, contradictions(old, known))
    parts = ensure_parts(
        bundle,
        prepared.sight,
        refresh=curated,
        public=curated or standing.is_published,
        stored_files=[artefacts.digest(data) for data in prepared.files.values()],
    )
    created = _write(bundle, new, parts, standing)
    changed = store_curated(bundle, parts) if curated else 0
    changed += _reveal(parts, new, standing, curated=curated)
    if parts.moved:
        rebuild(systems=parts.moved)
    if (created or changed or parts.changes.count) and (curated or standing.is_published):
        touch()
    stays = [known[run.identity] for run in old]
    changes = parts.changes
    return IngestResult(created, stays, [], changes.warnings, ready, changes.count + changed)


def _write(bundle: Bundle, new: Sequence[Ready], parts: Parts, standing: Standing) -> list[int]:
    """Store the new runs and leave one audit row for all of them; their ids."""
    if not new:
        return []
    setups = ensure_setups({run.setup.digest: run.setup for run in new})
    writer = Writer(parts, parts.labs[bundle.lab], setups, standing)
    created: list[int] = []
    for start in range(0, len(new), AT_ONCE):
        created += (run.pk for run in writer.write(new[start : start + AT_ONCE]))
    AuditEntry.objects.create(
        actor=actors.account(standing.actor),
        actor_name=actors.name_of(standing.actor),
        action="ingest",
        after={"lab": bundle.lab, "state": standing.state, "runs": _spans(created)},
    )
    return created


def _reveal(parts: Parts, new: Sequence[Ready], standing: Standing, *, curated: bool) -> int:
    """Let all know of what is published now, and of all that the hub's own text names."""
    if curated:
        return reveal(systems=[system.pk for system in parts.systems.values()])
    if standing.is_published:
        return reveal(systems={parts.systems[run.given.system].pk for run in new})
    return 0


def _spans(ids: Sequence[int]) -> list[list[int]]:
    """Ids as spans [first, last]: 10,000 runs made at once are one span."""
    spans: list[list[int]] = []
    for pk in ids:
        if spans and pk == spans[-1][1] + 1:
            spans[-1][1] = pk
        else:
            spans.append([pk, pk])
    return spans


def _refuse(document: Document, findings: Sequence[Finding]) -> None:
    if findings:
        raise BundleError(document.problems(findings))


__all__ = [
    "BundleError",
    "IngestResult",
    "Prepared",
    "Problem",
    "ingest_bundle",
    "look",
    "prepare",
    "store",
]
