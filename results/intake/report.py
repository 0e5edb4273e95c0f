"""What was understood of an upload, as `POST uploads/` and `ingest --json` say it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from results.bundle import Problem
from results.bundle.document import OPEN
from results.formats.base import File
from results.ingest.check import Reading, Ready
from results.intake.machine import Machine
from results.intake.understood import Understood

Report = dict[str, Any]
# More runs than this are counted in a report, not listed.
MOST_RUNS = 2_000


@dataclass(frozen=True)
class Listed:
    """A run of the files, the file it stands in, and the stored run it is, if there is one.

    `known`: it was stored before this upload.
    """

    ready: Ready
    file: str
    stored: int | None = None
    known: bool = False


def report_of(
    understood: Understood,
    runs: Sequence[Listed],
    *,
    state: str,
    problems: Iterable[Problem] = (),
    warnings: Sequence[str] = (),
) -> Report:
    """The document of an upload; `id` is put in by whoever answers."""
    systems = sorted({run.ready.given.system for run in runs} - {OPEN})
    return {
        "state": state,
        "systems": systems,
        "runs": [_run(run) for run in runs[:MOST_RUNS]],
        "run_count": len(runs),
        "questions": [question.as_dict() for question in understood.questions if question.needed],
        "optional": [q.as_dict() for q in understood.questions if not q.needed],
        "problems": [problem.as_dict() for problem in problems],
        "remarks": [
            *({"file": r.file, "line": r.line, "text": r.text} for r in understood.remarks),
            *({"file": "", "line": None, "text": text} for text in warnings),
        ],
        "files": [_file(file, understood.kinds) for file in understood.files],
        "machine": _machine(understood),
    }


def _file(file: File, kinds: Mapping[str, str]) -> Report:
    return {"name": file.name, "size": len(file.data), "kind": kinds.get(file.name, "")}


def _machine(understood: Understood) -> Report:
    machine: Machine = understood.machine
    told = {
        name: {"value": t.value, "file": t.file, "line": t.line}
        for name, t in machine.facts.items()
    }
    proposal = understood.proposal
    return {
        "facts": told,
        "matched": understood.system.slug if understood.system else None,
        "proposed": {"slug": proposal.system["slug"], "name": proposal.name} if proposal else None,
        "contradictions": [
            contradiction.as_dict()
            for contradiction in (*machine.contradictions, *understood.differing)
        ],
    }


def _run(run: Listed) -> Report:
    ready, given, roles = run.ready, run.ready.given, run.ready.typed.roles
    return {
        "system": "" if given.system == OPEN else given.system,
        "benchmark": given.benchmark,
        "version": given.version or "",
        "scope": given.scope,
        "parameters": dict(ready.typed.parameters),
        "assumed": list(ready.assumed),
        "variant": dict(roles.variant),
        "axis": dict(roles.axis),
        "scale": dict(roles.scale),
        "setup": dict(ready.setup.fields),
        "node": given.node or "",
        "started_at": given.started_at.isoformat() if given.started_at else None,
        "file": run.file,
        "run": run.stored,
        "known": run.known,
        "measurements": [_measurement(reading, ready) for reading in ready.readings],
    }


def _measurement(reading: Reading, run: Ready) -> Report:
    found: Report = {
        "metric": reading.metric.name,
        "value": reading.value,
        "unit": reading.metric.unit,
        "printed": reading.printed,
        "evidence": _evidence(reading, run),
    }
    if reading.value is None:
        found |= {"low": reading.low, "high": reading.high}
    if reading.samples:
        found["n"] = len(reading.samples)
    return found


def _evidence(reading: Reading, run: Ready) -> Report | None:
    if reading.given.evidence:
        return reading.given.evidence.model_dump(mode="json")
    return {"source": run.given.source} if run.given.source else None
