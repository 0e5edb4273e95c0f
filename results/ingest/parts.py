"""What runs refer to: labs, sources, processors, systems, setups and files, made if new."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.db.models import Model

from results.bundle import model
from results.chunks import chunks
from results.ingest.check import SetupOf
from results.ingest.known import Sight, sources_named
from results.models import Artefact, Lab, Processor, Setup, Source, System

Row = TypeVar("Row", bound=Model)
Fields = Mapping[str, Any]


@dataclass
class Changes:
    """How many rows were made or changed, and what was left as it is, in words.

    `sight`: whose bundle it is. `refresh`: its text wins. `public`: all may know of what is new.
    """

    sight: Sight
    refresh: bool
    public: bool
    count: int = 0
    warnings: list[str] = field(default_factory=list)


@dataclass
class Parts:
    """The rows that runs will point to, by the name the bundle uses.

    `moved` are systems (ids) with a changed fact that summaries are keyed by.
    """

    labs: dict[str, Lab]
    sources: dict[str, Source]
    processors: dict[str, Processor]
    systems: dict[str, System]
    artefacts: dict[str, Artefact]
    changes: Changes
    moved: set[int]


def ensure_parts(
    bundle: model.Bundle,
    sight: Sight,
    *,
    refresh: bool,
    public: bool,
    stored_files: Iterable[str],
) -> Parts:
    """Make what is new; what is known stays as it is, unless `refresh` lets the text win.

    New systems and processors are as `public` as that says; until they are, the newest
    description holds. `stored_files` are digests of files that are kept. Must run in a
    transaction.
    """
    changes = Changes(sight, refresh, public)

    def ensure(
        kind: type[Row], fields: Mapping[str, Fields], also: Iterable[str]
    ) -> dict[str, Row]:
        return _ensure(kind, fields, also, changes)

    labs = ensure(Lab, {lab.slug: _plain(Lab, lab) for lab in bundle.labs}, [bundle.lab])
    sources = ensure(
        Source, {s.id: _plain(Source, s) for s in bundle.sources}, sources_named(bundle)
    )
    processors = ensure(
        Processor,
        {p.slug: _plain(Processor, p) for p in bundle.processors},
        _named(system.processor for system in bundle.systems),
    )
    before = _facts(bundle.systems) if refresh else {}
    systems = ensure(
        System,
        {s.slug: _system(s, processors, sources) for s in bundle.systems},
        _systems_named(bundle),
    )
    _set_members(bundle.systems, systems, refresh=refresh)
    after = _facts(bundle.systems) if before else {}
    moved = {systems[slug].pk for slug, facts in before.items() if after[slug] != facts}
    files = _ensure_artefacts(bundle.artefacts, set(stored_files))
    return Parts(labs, sources, processors, systems, files, changes, moved)


def _ensure(
    kind: type[Row], fields: Mapping[str, Fields], also: Iterable[str], changes: Changes
) -> dict[str, Row]:
    """The rows of these slugs; those of `fields` are made if missing, compared if not."""
    found: dict[str, Row] = {}
    for part in chunks(sorted({*fields, *also})):
        for row in changes.sight.of(kind).filter(slug__in=part):
            found[str(getattr(row, "slug"))] = row  # noqa: B009
    for slug, row in found.items():
        if slug in fields:
            _compare(row, slug, fields[slug], changes)
    also_new = {"is_public": changes.public} if kind in (Processor, System) else {}
    new = [
        kind(slug=slug, **values, **also_new)
        for slug, values in fields.items()
        if slug not in found
    ]
    changes.count += len(new)
    for row in kind._default_manager.bulk_create(new):
        found[str(getattr(row, "slug"))] = row  # noqa: B009
    return found


def _compare(row: Model, slug: str, given: Fields, changes: Changes) -> None:
    """Change what a known row has otherwise than the bundle, or say that it stays."""
    differing = [name for name, value in given.items() if getattr(row, name) != value]
    if not differing:
        return
    if changes.refresh or not getattr(row, "is_public", True):
        for name in differing:
            setattr(row, name, given[name])
        row.save(update_fields=differing)
        changes.count += 1
        return
    kind = row._meta.verbose_name
    changes.warnings.extend(
        f"{kind} '{slug}' is known, with another {name.removesuffix('_id')}: the stored one stays"
        for name in differing
        if given[name] not in (None, "", {}, [])
    )


def _plain(kind: type[Model], part: model.Part) -> dict[str, Any]:
    """The part's fields as columns: an empty text in place of None where a column is one."""
    names = [name for name in type(part).model_fields if name not in ("slug", "id")]
    values = {name: getattr(part, name) for name in names}
    for name, value in values.items():
        if value is None and not kind._meta.get_field(name).null:
            values[name] = ""
    return values


def _system(
    system: model.System, processors: Mapping[str, Processor], sources: Mapping[str, Source]
) -> dict[str, Any]:
    memory = system.memory or model.Memory()
    storage, firmware = system.storage or model.Storage(), system.firmware or model.Firmware()
    return {
        "name": system.name,
        "vendor": system.vendor or "",
        "processor_id": processors[system.processor].pk if system.processor else None,
        "sockets": system.sockets,
        "memory_config": memory.config or "",
        "memory_type": memory.type or "",
        "memory_mts": memory.speed_mts,
        "memory_channels": memory.channels,
        "memory_gb": memory.capacity_gb,
        "peak_gbs": memory.peak_gbs,
        "peak_gbs_per_socket": memory.peak_gbs_per_socket,
        "storage_device": storage.device or "",
        "storage_link": storage.link or "",
        "firmware": firmware.bios or "",
        "firmware_profile": firmware.profile or "",
        "price_usd": system.price_usd,
        "source_id": sources[system.source].pk if system.source else None,
        "extra": system.extra,
        "inferred": system.inferred,
        "note": system.note or "",
    }


def _facts(systems: Iterable[model.System]) -> dict[str, Any]:
    """What summaries are keyed by, of the systems that are stored."""
    found: dict[str, Any] = {system.slug: None for system in systems}
    for part in chunks(sorted(found)):
        for row in System.objects.filter(slug__in=part).prefetch_related("members"):
            facts = (row.storage_link, row.storage_device, row.firmware, row.firmware_profile)
            found[row.slug] = (*facts, bool(row.members.all()))
    return {slug: facts for slug, facts in found.items() if facts is not None}


def _set_members(
    described: Iterable[model.System], systems: Mapping[str, System], *, refresh: bool
) -> None:
    """Link groups to their members; a known group keeps those it has, unless refreshed."""
    for system in described:
        row = systems[system.slug]
        if system.members and (refresh or not row.is_public or not row.members.exists()):
            row.members.set([systems[slug] for slug in system.members])


def ensure_setups(setups: Mapping[str, SetupOf]) -> dict[str, int]:
    """Setup ids by digest; new ones are made."""
    ids: dict[str, int] = {}
    for part in chunks(sorted(setups)):
        rows = Setup.objects.filter(digest__in=part)
        ids.update(rows.values_list("digest", "pk"))
    new = [
        Setup(digest=digest, fields=dict(setup.fields), inferred=dict(setup.inferred))
        for digest, setup in setups.items()
        if digest not in ids
    ]
    ids.update((row.digest, row.pk) for row in Setup.objects.bulk_create(new))
    return ids


def _ensure_artefacts(given: Iterable[model.Artefact], kept: set[str]) -> dict[str, Artefact]:
    """Artefacts by the bundle's name for them; equal files share a row."""
    by_digest = {artefact.sha256: artefact for artefact in given}
    rows: dict[str, Artefact] = {}
    for part in chunks(sorted(by_digest)):
        rows.update((row.sha256, row) for row in Artefact.objects.filter(sha256__in=part))
    for sha256, row in rows.items():
        if sha256 in kept and not row.stored:
            row.stored = True
            row.save(update_fields=["stored"])
    new = [
        Artefact(sha256=sha256, name=a.name, size=a.size, stored=sha256 in kept)
        for sha256, a in by_digest.items()
        if sha256 not in rows
    ]
    rows.update((row.sha256, row) for row in Artefact.objects.bulk_create(new))
    return {artefact.name: rows[artefact.sha256] for artefact in given}


def _named(slugs: Iterable[str | None]) -> set[str]:
    return {slug for slug in slugs if slug}


def _systems_named(bundle: model.Bundle) -> set[str]:
    entries = (entry.system for ranked in bundle.lists for entry in ranked.entries)
    members = (slug for system in bundle.systems for slug in system.members)
    return _named((*(run.system for run in bundle.runs), *entries, *members))
