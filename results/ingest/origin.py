"""Evidence for values that name none: the lines of the document that they stand in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from results.bundle import Document
from results.bundle.model import Evidence
from results.chunks import chunks
from results.ingest.check import Ready
from results.ingest.store import known_runs
from results.models import Measurement
from results.roles import canonical


def add_origin(ready: Sequence[Ready], document: Document, artefact: str) -> None:
    """Let each value without file or source be evidenced by its place in the document."""
    open_paths = {
        (*run.path, "measurements", index)
        for run in ready
        if run.given.source is None
        for index, reading in enumerate(run.readings)
        if reading.given.evidence is None
    }
    lines = document.lines(open_paths)
    for run in ready:
        for index, reading in enumerate(run.readings):
            path = (*run.path, "measurements", index)
            if path in open_paths:
                line = lines.get(path)
                evidence = Evidence(artefact=artefact, lines=[line, line] if line else None)
                given = reading.given.model_copy(update={"evidence": evidence})
                run.readings[index] = replace(reading, given=given)


def recognise(ready: Sequence[Ready]) -> None:
    """Let a run that was exported with the evidence of its origin be the stored run again.

    What a document is itself the origin of is no part of a run's identity; once exported, it
    stands there like any other evidence.
    """
    known = known_runs(ready)
    bare = {
        _identity(_without_files(run.base), run.ordinal): run
        for run in ready
        if run.identity not in known and _files(run.base)
    }
    files: dict[str, set[str]] = {}
    for part in chunks(list(bare)):
        rows = Measurement.objects.filter(run__identity__in=part, artefact__isnull=False)
        for identity, digest in rows.values_list("run__identity", "artefact__sha256"):
            files.setdefault(identity, set()).add(digest)
    for identity, digests in files.items():
        if digests == set(_files(bare[identity].base)):
            bare[identity].identity = identity


def _files(base: str) -> list[str]:
    found: list[str] = json.loads(base)[-1]
    return found


def _without_files(base: str) -> str:
    return canonical([*json.loads(base)[:-1], []])


def _identity(base: str, ordinal: int) -> str:
    return sha256(f"{base}#{ordinal}".encode()).hexdigest()
