"""What was understood of an upload, as `POST uploads/` and `ingest --json` say it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from results.bundle import Problem
from results.ingest import IngestResult
from results.ingest.check import Reading, Ready

Report = dict[str, Any]


def rejected(problems: Iterable[Problem]) -> Report:
    """The document of files that were refused."""
    return _document("rejected", [], [problem.as_dict() for problem in problems])


def accepted(results: Sequence[IngestResult], *, published: bool) -> Report:
    """The document of files that were taken, or would be."""
    ready = [run for result in results for run in result.ready]
    return _document("published" if published else "parsed", ready, [])


def _document(state: str, ready: Sequence[Ready], problems: list[Any]) -> Report:
    return {
        "id": None,
        "state": state,
        "systems": sorted({run.given.system for run in ready}),
        "runs": [_run(run) for run in ready],
        "questions": [],
        "problems": problems,
    }


def _run(run: Ready) -> Report:
    return {
        "system": run.given.system,
        "benchmark": run.given.benchmark,
        "scope": run.given.scope,
        "parameters": run.typed.parameters,
        "measurements": [_measurement(reading, run) for reading in run.readings],
    }


def _measurement(reading: Reading, run: Ready) -> Report:
    found: Report = {
        "metric": reading.metric.name,
        "value": reading.value,
        "unit": reading.metric.unit,
        "evidence": _evidence(reading, run),
    }
    if reading.value is None:
        found |= {"low": reading.low, "high": reading.high}
    return found


def _evidence(reading: Reading, run: Ready) -> Report | None:
    if reading.given.evidence:
        return reading.given.evidence.model_dump(mode="json")
    return {"source": run.given.source} if run.given.source else None
