"""A job's result as `POST uploads/` tells that of files: the same names, the same shapes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from results import artefacts, catalogue, formats
from results.api import documents
from results.api.documents import Document
from results.formats.base import File
from results.models import Artefact, Measurement, Run
from results.roles import Roles
from results.sync import LOCAL
from runners.models import Job

# A log is at most as long as the engine keeps of an output.
LONGEST_LOG = 20_000_000


def of_job(job: Job, runs: Iterable[Run]) -> Document:
    """The document of a job that is over: its runs, or why there are none."""
    runs = list(runs)
    files = {file.sha256: file for run in runs for file in run.artefacts.order_by("name")}
    sent = [{"name": f.name, "size": f.size, "sha256": f.sha256} for f in files.values()]
    is_published = bool(runs) and all(run.is_published for run in runs)
    state = "published" if is_published else "parsed" if runs else "failed"
    report = {
        "state": state,
        "systems": sorted({run.system.slug for run in runs}),
        "runs": [_run(run) for run in runs],
        "run_count": len(runs),
        "problems": [] if runs else [problem(job.message or job.get_state_display())],
        "remarks": [_remark(text) for text in dict.fromkeys(run.note for run in runs) if text],
        "files": [_kind(file) for file in files.values()],
    }
    return {**documents.of_report(report, lab=LOCAL, sent=sent), "job": job.pk}


def refused(problems: Iterable[Mapping[str, Any]]) -> Document:
    """The document of a request that made no job."""
    report = {"state": "rejected", "problems": list(problems)}
    return {**documents.of_report(report, lab=LOCAL, sent=[]), "job": None}


def problem(message: str, *, field: str = "", found: str = "", expected: str = "") -> Document:
    """Something that is wrong, as uploads tell it; there is no file that it stands in."""
    told = {"field": field, "found": found, "expected": expected, "message": message}
    return {"file": "", "line": None, **told}


def _remark(text: str) -> Document:
    return {"file": "", "line": None, "text": text}


def _kind(file: Artefact) -> Document:
    """The file with whose output it is; empty for a record, or what is too long to look at."""
    found = None
    if file.stored and file.size <= LONGEST_LOG:
        data = artefacts.path_of(file.sha256).read_bytes()
        found = formats.detect(File(file.name, data))
    return {"name": file.name, "size": file.size, "kind": found or ""}


def _run(run: Run) -> Document:
    entry = catalogue.get(run.benchmark.slug)
    roles = Roles.of(entry, run.parameters) if entry else None
    measured = run.measurements.select_related("metric", "artefact").order_by("id")
    readings = [_measurement(one) for one in measured]
    logs = [one["evidence"]["artefact"] for one in readings if one["evidence"]]
    return {
        "system": run.system.slug,
        "benchmark": run.benchmark.slug,
        "version": run.version,
        "scope": run.scope,
        "parameters": dict(run.parameters),
        "assumed": list(run.assumed),
        "variant": dict(roles.variant) if roles else {},
        "axis": dict(roles.axis) if roles else {},
        "scale": dict(roles.scale) if roles else {},
        "setup": dict(run.setup.fields),
        "node": run.node,
        "started_at": run.started_at.isoformat() if run.started_at else None,
        "file": next(iter(logs), ""),
        "run": run.pk,
        "known": False,
        "measurements": readings,
    }


def _measurement(one: Measurement) -> Document:
    found: Document = {
        "metric": one.metric.full_name,
        "value": one.value,
        "unit": one.metric.unit,
        "printed": one.printed,
        "evidence": _evidence(one),
    }
    if one.value is None:
        found |= {"low": one.low, "high": one.high}
    if one.samples:
        found["n"] = len(one.samples)
    return found


def _evidence(one: Measurement) -> Document | None:
    if one.artefact is None:
        return None
    lines = None if one.line_from is None else [one.line_from, one.line_to]
    return {"artefact": one.artefact.name, "lines": lines}
