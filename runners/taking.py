"""What a runner's program printed becomes runs: by the same formats and the same way in as an
upload of that log."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from results import artefacts, formats, ingest
from results.bundle import BundleError
from results.formats.base import Draft, DraftRun, File
from results.ingest import IngestResult, Prepared
from results.intake.given import Given
from results.intake.runs import Runs
from results.intake.standing import trust_of
from results.intake.understood import Around, Understood
from results.models import Artefact, Lab, Run, System
from runners.benchmarks.base import Plan, Value
from runners.engine.base import Outcome
from runners.jobs import local_lab
from runners.machine import Facts
from runners.models import Attempt

# A size or time that a program rounds is still the one that was asked for.
NEAR = 0.01


class Refused(ValueError):  # noqa: N818 - a refusal, no failure
    """Output that is no result; the message says why."""


@dataclass(frozen=True)
class Ready:
    """Runs that were checked and may be stored, and the record that goes beside their log."""

    prepared: Prepared
    lab: Lab
    record: bytes
    record_name: str


def make_ready(attempt: Attempt, plan: Plan, outcome: Outcome, facts: Facts) -> Ready:
    """Read a finished execution's output and check it. Writes nothing. Raises Refused."""
    path = outcome.outputs.get(plan.output)
    if path is None:
        raise Refused(_("the step %(step)s left no output") % {"step": plan.output})
    file = File(_log_name(attempt), Path(path).read_bytes())
    lab = local_lab()
    try:
        draft = _draft(file, plan)
        runs = tuple(_run(run, attempt, plan, outcome, facts) for run in draft.runs)
        document = _document(file, replace(draft, runs=runs), attempt, lab)
        prepared = ingest.prepare(document, files={file.name: file.data}, origin=document.name)
    except BundleError as error:
        raise Refused("; ".join(str(problem) for problem in error.problems[:3])) from None
    return Ready(prepared, lab, _record(outcome), f"job-{attempt.job_id}-record.json")


def _record(outcome: Outcome) -> bytes:
    """What the engine noted, as a file: a line for each plain value or list. Where the hub keeps
    its data is nobody's business."""
    text = json.dumps(dict(outcome.record), indent=1, sort_keys=True)
    text = re.sub(r"\[[^][{}]*\]", lambda found: " ".join(found[0].split()), text)
    return text.replace(str(settings.VAR), "$VAR").encode() + b"\n"


def store(ready: Ready, *, publish: bool) -> list[int]:
    """Store the runs; their ids, in the order of the log. Call it in the transaction that ends
    the attempt."""
    state = Run.State.PUBLISHED if publish else Run.State.DRAFT
    result = ingest.store(ready.prepared, state=state, trust=trust_of(ready.lab))
    ids = _ids(result)
    row = _artefact(ready)
    for run in Run.objects.filter(pk__in=result.created):
        run.artefacts.add(row)
    return ids


def _ids(result: IngestResult) -> list[int]:
    return [*result.created, *result.known]


def _artefact(ready: Ready) -> Artefact:
    sha256 = artefacts.save(ready.record)
    defaults = {"name": ready.record_name, "size": len(ready.record), "stored": True}
    return Artefact.objects.get_or_create(sha256=sha256, defaults=defaults)[0]


def _log_name(attempt: Attempt) -> str:
    return f"{attempt.job.benchmark}-job-{attempt.job_id}.log"


def _draft(file: File, plan: Plan) -> Draft:
    """What the plan's own format reads. Raises BundleError, Refused."""
    known = formats.formats().get(plan.reads)
    if known is None:
        raise Refused(_("no format is called %(name)s") % {"name": plan.reads})
    draft = known.parse(file).of(file)
    if not draft.runs:
        raise Refused(_("the output holds no result"))
    return draft


def _run(run: DraftRun, attempt: Attempt, plan: Plan, outcome: Outcome, facts: Facts) -> DraftRun:
    """The run with what the engine knows and its output does not say. Raises Refused."""
    if run.benchmark != attempt.job.benchmark:
        raise Refused(_("it is the output of %(name)s") % {"name": run.benchmark})
    _check_agreement(plan.parameters, run.parameters)
    notes = [f"{flag.text[:1].upper()}{flag.text[1:]}." for flag in outcome.flags]
    started = attempt.started_at.isoformat() if attempt.started_at else ""
    return replace(
        run,
        scope=run.scope or plan.scope,
        parameters={**plan.parameters, **run.parameters},
        setup={**facts.setup, **plan.setup, **run.setup},
        started_at=run.started_at or started,
        node=run.node or attempt.host.node,
        note=" ".join(part for part in (run.note, *plan.remarks, *notes) if part),
    )


def _check_agreement(asked: Mapping[str, Value], said: Mapping[str, Value]) -> None:
    """A program that did something else than it was asked to has measured something else."""
    for name, value in said.items():
        if name in asked and not _same(asked[name], value):
            words = {"name": name, "asked": asked[name], "said": value}
            message = _("%(name)s: %(asked)s was asked for, the output says %(said)s")
            raise Refused(message % words)


def _same(asked: Value, said: Value) -> bool:
    if isinstance(asked, str) or isinstance(said, str):
        return str(asked) == str(said)
    return math.isclose(asked, said, rel_tol=NEAR)


def _document(file: File, draft: Draft, attempt: Attempt, lab: Lab) -> Any:
    """The draft as a bundle of this host's system. Raises BundleError, Refused."""
    system = attempt.host.system
    if system is None:
        raise Refused(_("it is not known which system %(host)s is") % {"host": attempt.host})
    found = Understood(files=[file])
    around = Around(lab, (), System.objects.select_related("processor"))
    Runs(found, Given(system=system.slug), around).read([(file, draft)])
    if found.problems:
        raise BundleError(found.problems)
    _refuse_open(found)
    return found.documents[0]


def _refuse_open(found: Understood) -> None:
    """What would be asked after an upload is for the runner to say."""
    needed = [question.text for question in found.questions if question.needed]
    if needed or not found.documents:
        raise Refused(_said(needed) or _("the output holds no result"))


def _said(texts: Sequence[str]) -> str:
    return " ".join(texts)


__all__ = ["BundleError", "Ready", "Refused", "make_ready", "store"]
