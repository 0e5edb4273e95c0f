"""The runs of an upload get their lab, system, scope and settings, and become bundles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _

from results import artefacts, catalogue
from results.bundle import BundleError, Defaults, Document, Problem
from results.bundle.document import OPEN, build
from results.bundle.problems import Path, did_you_mean
from results.formats.base import Draft, DraftRun, File, Reading
from results.intake import questions as ask
from results.intake.given import Given
from results.intake.machine import Contradiction
from results.intake.questions import Question
from results.intake.scopes import scope_of
from results.intake.systems import Match, contradictions, match, propose, smaller_contradictions
from results.intake.understood import Around, Understood
from results.models import Run, System


class Runs:
    """Gives the runs of all drafts their lab, system, scope and settings."""

    def __init__(self, found: Understood, given: Given, around: Around) -> None:
        self.found, self.given, self.around = found, given, around
        self.lab = around.lab.slug if around.lab else OPEN
        self.system = OPEN
        self._open_system: Question | None = None
        self._asked: set[str] = set()

    def read(self, drafts: Iterable[tuple[File, Draft]]) -> None:
        """Make a document of each draft that has runs."""
        drafts = list(drafts)
        self.system = self._system_of_files(drafts)
        self._check_settings([run for _file, draft in drafts for run in draft.runs], drafts)
        for file, draft in drafts:
            try:
                document = self._document(file, draft)
            except BundleError as error:
                self.found.problems += error.problems
                continue
            if document is not None:
                self.found.documents.append(document)

    # Which system

    def _system_of_files(self, drafts: Sequence[tuple[File, Draft]]) -> str:
        """The slug for runs that name no system: given, matched, proposed, or OPEN."""
        found = match(self.found.machine, self.around.systems)
        if self.given.system in ("", ask.NEW):
            return self._from_files(found)
        stored = self.around.systems.filter(slug=self.given.system).first()
        if stored is None:
            is_in_bundle = any(draft.reads for _file, draft in drafts)
            return self.given.system if is_in_bundle else self._as_new(found)
        self.found.system = stored
        against = contradictions(self.found.machine, stored)
        self.found.differing = [*against, *smaller_contradictions(self.found.machine, stored)]
        if against:
            self._ask(ask.which_system(found, _another_machine(against, stored)))
            return OPEN
        return stored.slug

    def _from_files(self, found: Match) -> str:
        made = [s for s in found.likely if not s.is_public]
        if self.given.system == ask.NEW and len(made) == 1:
            # It was made as new for this lab before, and nothing of it is public yet.
            self.found.system = made[0]
            return made[0].slug
        if self.given.system == ask.NEW and found.proposal:
            self.found.proposal = found.proposal
            return str(found.proposal.system["slug"])
        if found.certain is not None:
            self.found.system = found.certain
            self.found.differing = smaller_contradictions(self.found.machine, found.certain)
            return found.certain.slug
        self._open_system = ask.which_system(found, self._disagreement())
        return OPEN

    def _disagreement(self) -> str:
        """That the files describe two machines, where they do; else empty."""
        fields = {one.field: one.told for one in self.found.machine.contradictions}
        told = fields.get("processor") or fields.get("sockets")
        if told is None:
            return ""
        words = {"first": told[0].file, "second": told[1].file}
        text = _("%(first)s and %(second)s describe different machines. Which one was measured?")
        return text % words

    def _as_new(self, found: Match) -> str:
        """A slug that no system has names the described machine; without one it is a mistake."""
        slug = self.given.system
        proposal = propose(self.found.machine, self.around.systems, slug=slug)
        # A hidden one of another lab is no hindrance: ingest gives this one a slug of its own.
        is_taken = System.objects.filter(slug=slug, is_public=True).exists()
        if proposal and not is_taken and slug == slug.lower():
            self.found.proposal = proposal
            return slug
        near = did_you_mean(slug, self.around.systems.values_list("slug", flat=True)[:5_000])
        message = _("unknown system %(slug)r, expected %(near)s") % {"slug": slug, "near": near}
        self.found.problems.append(Problem(message, "", None, "system", slug, near))
        return OPEN

    def _ask(self, question: Question | None) -> None:
        if question is not None and question.key not in self._asked:
            self._asked.add(question.key)
            self.found.questions.append(question)

    # What is said beside the files

    def _check_settings(
        self, runs: Sequence[DraftRun], drafts: Sequence[tuple[File, Draft]]
    ) -> None:
        """A parameter that no benchmark of the files has is a mistake; so is another benchmark."""
        if any(draft.reads for _file, draft in drafts) or not runs:
            return
        known = {p.name for run in runs for p in _entry(run).parameters}
        for name in self.given.inner:
            if name in known or name == "node" or name.startswith("setup."):
                continue
            expected = did_you_mean(name, {*known, "node", "scope", "setup.…"})
            message = _("unknown setting %(name)r, expected %(expected)s")
            words = {"name": name, "expected": expected}
            self.found.problems.append(Problem(message % words, "", None, name, name, expected))

    def _settings_for(self, run: DraftRun) -> dict[str, str]:
        known = {parameter.name for parameter in _entry(run).parameters}
        return {
            name: value
            for name, value in self.given.inner.items()
            if value and (name in known or name == "node" or name.startswith("setup."))
        }

    # Documents

    def _document(self, file: File, draft: Draft) -> Document | None:
        if draft.reads is not None:
            return self._read_bundle(draft)
        if not draft.runs:
            return None
        lines: dict[Path, int] = {}
        raw: dict[str, Any] = {
            "bundle": 1,
            "lab": self.lab,
            "artefacts": [_artefact(file)],
            "runs": [self._run(run, file, ("runs", i), lines) for i, run in enumerate(draft.runs)],
            **self._new_parts(),
        }
        return build(raw, name=file.name, lines=lambda paths: _look_up(lines, paths))

    def _new_parts(self) -> dict[str, Any]:
        """The proposed system and processor, described in every document that needs them."""
        proposal = self.found.proposal
        if proposal is None:
            return {}
        parts: dict[str, Any] = {"systems": [proposal.system]}
        if proposal.processor:
            parts["processors"] = [proposal.processor]
        return parts

    def _read_bundle(self, draft: Draft) -> Document:
        assert draft.reads is not None  # noqa: S101  its caller has looked
        system = "" if self.system == OPEN else self.system
        given = Defaults(
            "" if self.lab == OPEN else self.lab,
            system if self.given.system else "",
            {**self.given.settings, "benchmark": self.given.benchmark},
            leave_open=True,
        )
        document = draft.reads(given)
        runs = document.bundle.runs
        if any(run.system == OPEN for run in runs):
            if system:
                return draft.reads(replace(given, system=system))
            self._ask(self._open_system or ask.which_system(Match()))
        return document

    def _run(self, run: DraftRun, file: File, path: Path, lines: dict[Path, int]) -> dict[str, Any]:
        _check_benchmark(run, self.given, file)
        system = run.system or self.system
        if system == OPEN:
            self._ask(self._open_system)
        scope = self.given.scope or run.scope or self._scope(run, known=system != OPEN)
        parameters, setup = dict(run.parameters), {**self._setup(), **run.setup}
        node = run.node
        for name, value in self._settings_for(run).items():
            if name == "node":
                node = _agreed(node, value, "node", file)
            elif name.startswith("setup."):
                setup[name[6:]] = _agreed(setup.get(name[6:], ""), value, name, file)
            else:
                parameters[name] = _agreed(parameters.get(name, ""), value, name, file)
        self._ask_further(run, str(scope), parameters, node, system)
        found = {
            "system": system,
            "benchmark": run.benchmark,
            "version": run.version or None,
            "scope": scope,
            "parameters": parameters,
            "setup": setup,
            "node": node or None,
            "note": run.note or None,
            "measurements": [_measurement(reading, file) for reading in run.readings],
        }
        if run.started_at:
            found["started_at"] = run.started_at
        for index, reading in enumerate(run.readings):
            if reading.lines:
                lines[(*path, "measurements", index)] = reading.lines[0]
                lines.setdefault(path, reading.lines[0])
        return found

    def _setup(self) -> dict[str, str]:
        return {name: str(told.value) for name, told in self.found.machine.setup.items()}

    def _scope(self, run: DraftRun, *, known: bool) -> str:
        """The scope as far as threads and system tell it; else it is asked, and 'system' stands."""
        machine, system = self.found.machine, self.found.system
        cores = machine.cores or (system.cores if system else None)
        sockets = machine.get("sockets") or (system.sockets if system else None)
        threads = _threads(run)
        scope = scope_of(threads, cores=cores, logical=machine.get("threads"), sockets=sockets)
        if scope is None and known:
            self._ask(ask.which_scope(threads, cores))
        return scope or "system"

    def _ask_further(
        self, run: DraftRun, scope: str, parameters: Mapping[str, Any], node: str, system: str
    ) -> None:
        for name in run.asks:
            if parameters.get(name) in (None, ""):
                self._ask(ask.which_value(_entry(run), name, scope))
        if self.found.system is not None and not node:
            nodes = _nodes_of(self.found.system)
            if nodes:
                self._ask(ask.which_node(nodes))


def _entry(run: DraftRun) -> Any:
    entry = catalogue.get(run.benchmark)
    assert entry is not None, run.benchmark  # noqa: S101  a format names what the catalogue has
    return entry


def _threads(run: DraftRun) -> int | None:
    value = run.parameters.get("threads")
    return int(value) if isinstance(value, int) else None


def _nodes_of(system: System) -> list[str]:
    """Names of the machines of a system that have published runs, a few. One query."""
    published = Run.objects.filter(system=system, state=Run.State.PUBLISHED).exclude(node="")
    return list(published.order_by("node").values_list("node", flat=True).distinct()[:12])


def _check_benchmark(run: DraftRun, given: Given, file: File) -> None:
    if given.benchmark and run.benchmark != given.benchmark:
        message = _("found the output of %(found)s, expected %(expected)s, as was said beside it")
        words = {"found": run.benchmark, "expected": given.benchmark}
        line = run.readings[0].lines[0] if run.readings and run.readings[0].lines else None
        problem = Problem(
            message % words, file.name, line, "benchmark", run.benchmark, given.benchmark
        )
        raise BundleError([problem])


def _agreed(there: Any, value: str, name: str, file: File) -> Any:
    """`value`, unless the file says something else: then it is a problem."""
    if there in (None, "") or str(there) == value:
        return value if there in (None, "") else there
    message = _("%(name)s: the file says %(there)s, but %(value)s was given beside it")
    words = {"name": name, "there": there, "value": value}
    raise BundleError([Problem(message % words, file.name, None, name, str(there), value)])


def _measurement(reading: Reading, file: File) -> dict[str, Any]:
    found: dict[str, Any] = {
        "metric": reading.metric,
        "unit": reading.unit,
        "printed": reading.printed[:120] or None,
        "note": reading.note or None,
    }
    numbers = {"value": reading.value, "low": reading.low, "high": reading.high}
    found |= {name: float(n) for name, n in numbers.items() if n is not None}
    if reading.samples:
        found["samples"] = [float(sample) for sample in reading.samples]
    if reading.lines:
        found["evidence"] = {"artefact": file.name, "lines": list(reading.lines)}
    return found


def _artefact(file: File) -> dict[str, Any]:
    return {"name": file.name, "sha256": artefacts.digest(file.data), "size": len(file.data)}


def _look_up(lines: Mapping[Path, int], paths: Iterable[Path]) -> dict[Path, int]:
    """The line of each path, or of the nearest part around it that has one."""
    found = {}
    for path in paths:
        for length in range(len(path), 0, -1):
            if path[:length] in lines:
                found[path] = lines[path[:length]]
                break
    return found


def _another_machine(against: Sequence[Contradiction], stored: System) -> str:
    first = against[0].told[0]
    return _(
        "%(system)s was named, but %(file)s says otherwise: %(field)s is %(value)s there. "
        "Which system was measured?"
    ) % {
        "system": stored,
        "file": first.file,
        "field": against[0].field.replace("_", " "),
        "value": first.value,
    }
