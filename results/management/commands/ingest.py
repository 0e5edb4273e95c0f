"""`ingest FILE…`: understand, check and store files of any known kind, from this machine."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandParser
from django.db import transaction

from results import artefacts, formats, ingest, queries
from results.api import documents
from results.bundle import BundleError, Problem
from results.bundle.decode import BIGGEST_FILE
from results.bundle.document import OPEN
from results.chunks import chunks
from results.formats.base import File
from results.ingest import IngestResult
from results.ingest.store import known_runs
from results.intake.given import Given, GivenError, settings_of
from results.intake.questions import Question, which_lab
from results.intake.report import Listed, Report, report_of
from results.intake.standing import trust_of
from results.intake.understood import Around
from results.intake.work import Outcome, look, read
from results.models import Lab, Run
from results.receiving.names import flat, unique
from results.services import publish

MOST_LABS = 200


class Command(BaseCommand):
    help = "Understand and store results of any known kind: all of them, or none and every problem."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="+", metavar="FILE", type=Path)
        parser.add_argument("--lab", default="", help="whose results they are")
        parser.add_argument("--system", default="", help="for runs that do not name theirs")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="a parameter, setup.…, node or scope for runs that do not say it",
        )
        parser.add_argument("--dry-run", action="store_true", help="check, store nothing")
        parser.add_argument("--publish", action="store_true", help="publish what is stored")
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        batches: list[Batch] = []
        try:
            given = _given(options)
            batches, problems = _batches(options["files"])
            with transaction.atomic():
                _take_all(batches, problems, given, options)
        except Refused as refused:
            self._refuse(refused, batches, as_json=options["json"])
            raise SystemExit(1) from None
        published = options["publish"] and not options["dry_run"]
        if options["json"]:
            state = Run.State.PUBLISHED if published else "parsed"
            self._print_json([{**b.report, "state": str(state)} for b in batches], batches)
        else:
            self._tell(batches, options)

    def _refuse(self, refused: Refused, batches: Sequence[Batch], *, as_json: bool) -> None:
        if as_json:
            reports = [batch.report for batch in batches if batch.report]
            told = [problem.as_dict() for problem in refused.problems]
            if told:
                # Their problems are among those told, by the names given to the command.
                nothing: Report = {"runs": [], "systems": [], "problems": []}
                reports = [{**report, **nothing} for report in reports]
                reports.append({"state": "rejected"})
            self._print_json([*reports, {"problems": told}], batches)
            return
        for problem in refused.problems:
            self.stderr.write(str(problem), self.style.ERROR)
        for question in refused.questions:
            self._ask(question)

    def _ask(self, question: Question) -> None:
        """A question with the words that answer it."""
        self.stderr.write(question.text, self.style.ERROR)
        options = question.options or (("…", ""),)
        for value, label in options:
            self.stderr.write(f"  {_word(question.key, value)}  {label}".rstrip())

    def _print_json(self, reports: Sequence[Report], batches: Sequence[Batch]) -> None:
        document = documents.of_report(
            _merged(reports), lab=_lab_of(batches), sent=[s for b in batches for s in b.sent]
        )
        self.stdout.write(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False))

    def _tell(self, batches: Sequence[Batch], options: Mapping[str, Any]) -> None:
        for text in (text for batch in batches for text in _notes(batch)):
            self.stderr.write(f"Note: {text}")
        results = [result for batch in batches for result in batch.results]
        known = sum(len(result.known) for result in results)
        if options["dry_run"]:
            new = sum(len(result.ready) for result in results) - known
            self.stdout.write(f"Checked: {new} new runs, {known} known. Nothing was stored.")
            return
        ids = [pk for result in results for pk in result.created]
        word = "stored and published" if options["publish"] else "stored as drafts"
        span = f" (runs {ids[0]} to {ids[-1]})" if ids else ""
        drafts = sum(len(result.drafts) for result in results)
        also = f", {drafts} of them drafts that are published now" if drafts else ""
        self.stdout.write(f"{len(ids)} runs {word}{span}, {known} known before{also}.")


class Refused(Exception):  # noqa: N818 - a refusal, no failure
    """Something is wrong or open: nothing is stored."""

    def __init__(self, problems: Sequence[Problem], questions: Sequence[Question] = ()) -> None:
        super().__init__()
        self.problems = problems
        self.questions = questions


@dataclass
class Batch:
    """Files that are understood together; a bundle, which says all itself, is one alone.

    `paths`: where each file came from, by its flat name. `beside` are the artefacts that lie
    in a bundle's folder. `report` and `results` are what came of it.
    """

    files: list[File] = field(default_factory=list)
    paths: dict[str, Path] = field(default_factory=dict)
    beside: dict[str, bytes] = field(default_factory=dict)
    report: Report = field(default_factory=dict)
    results: list[IngestResult] = field(default_factory=list)
    labs: set[str] = field(default_factory=set)

    def add(self, path: Path, file: File) -> None:
        self.files.append(file)
        self.paths[file.name] = path

    @property
    def sent(self) -> list[dict[str, Any]]:
        """The files as a document lists them."""
        return [
            {"name": f.name, "size": len(f.data), "sha256": artefacts.digest(f.data)}
            for f in self.files
        ]

    def placed(self, problem: Problem) -> Problem:
        """The problem with the file's name as it was given to the command."""
        path = self.paths.get(problem.file)
        if path is None:
            return problem
        told = {**problem.as_dict(), "file": str(path)}
        return Problem(**told)  # type: ignore[arg-type]


# Reading


def _given(options: Mapping[str, Any]) -> Given:
    """What was said beside the files. Raises Refused."""
    try:
        settings = settings_of(options["set"])
    except GivenError as error:
        _refuse_setting(str(error))
    for key, value in settings.items():
        if not value:
            _refuse_setting(f"{key}= has no value, expected KEY=VALUE")
    return Given(options["system"], "", settings)


def _refuse_setting(text: str) -> NoReturn:
    raise Refused([Problem(f"--set: {text}", field="--set", expected="KEY=VALUE")])


def _batches(paths: Sequence[Path]) -> tuple[list[Batch], list[Problem]]:
    """The files in the groups in which they are understood, and what could not be read."""
    loose, batches = Batch(), []
    named: set[Path] = set()
    problems: list[Problem] = []
    for path in paths:
        try:
            data = _read(path)
            name = unique(flat(path.name), loose.paths)
            file = File(name, data)
            if formats.detect(file) != "bundle":
                loose.add(path, file)
                continue
            batch = Batch(beside=_files_beside(path, data))
            batch.add(path, File(flat(path.name), data))
            named |= {path.parent.resolve() / name for name in batch.beside}
            batches.append(batch)
        except BundleError as error:
            problems += error.problems
    loose.files = [f for f in loose.files if loose.paths[f.name].resolve() not in named]
    return [*batches, loose] if loose.files else batches, problems


def _read(path: Path) -> bytes:
    """A file's bytes. Raises BundleError if it cannot be read, or holds too many."""
    try:
        with path.open("rb") as file:
            data = file.read(BIGGEST_FILE + 1)
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        message = f"{reason}: expected a file that can be read"
        raise BundleError([Problem(message, file=str(path), found=reason)]) from None
    if len(data) > BIGGEST_FILE:
        message = f"found more than {BIGGEST_FILE:,} bytes (64 MB), expected fewer"
        raise BundleError([Problem(message, file=str(path))])
    return data


def _files_beside(path: Path, data: bytes) -> dict[str, bytes]:
    """The bundle's artefacts that lie in its folder. Raises BundleError."""
    try:
        told = json.loads(data).get("artefacts", [])
        names = [one["name"] for one in told]
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        # What is wrong with it is said when it is read in earnest.
        return {}
    files = {
        name: path.parent / name
        for name in names
        if isinstance(name, str) and name and "\0" not in name and name == Path(name).name
    }
    return {name: _read(file) for name, file in files.items() if file.is_file()}


# Storing


def _take_all(
    batches: Sequence[Batch], problems: list[Problem], given: Given, options: Mapping[str, Any]
) -> None:
    """Read and store the batches, one after another. Raises Refused for all that is wrong."""
    questions: dict[str, Question] = {}
    for batch in batches:
        outcome = _understand(batch, given, options)
        batch.report = look(outcome)
        problems += map(batch.placed, outcome.problems)
        needed = {q.key: q for q in outcome.understood.questions if q.needed}
        questions |= needed
        if not outcome.problems and not needed:
            try:
                _take(batch, outcome, options)
            except BundleError as error:
                problems += map(batch.placed, error.problems)
    if problems or questions:
        raise Refused(problems, list(questions.values()))
    if options["publish"] and not options["dry_run"]:
        for result in (result for batch in batches for result in batch.results):
            result.drafts = _publish_drafts(result.known)


def _understand(batch: Batch, given: Given, options: Mapping[str, Any]) -> Outcome:
    """What the batch says. Whose it is need not be asked where it says so itself."""
    slug = options["lab"]
    lab = Lab.objects.filter(slug=slug).first() if slug else None
    # One that is not stored yet may be described in the files.
    about = Around(lab or (Lab(slug=slug, name=slug) if slug else None), (), queries.systems())
    outcome = read(batch.files, given, about, operator=True, beside=batch.beside)
    understood = outcome.understood
    batch.labs = {document.bundle.lab for document in understood.documents} or {slug or OPEN}
    questions = [q for q in understood.questions if q.key != "lab"]
    if OPEN in batch.labs and understood.documents:
        questions = [which_lab(list(Lab.objects.order_by("name")[:MOST_LABS])), *questions]
    understood.questions = questions
    return outcome


def _take(batch: Batch, outcome: Outcome, options: Mapping[str, Any]) -> None:
    """Store what was understood, unless it is a dry run. Raises BundleError."""
    if options["dry_run"]:
        batch.results = [ingest.look(prepared) for prepared in outcome.prepared]
        return
    state = Run.State.PUBLISHED if options["publish"] else Run.State.DRAFT
    listed: list[Listed] = []
    for prepared in outcome.prepared:
        lab = Lab.objects.filter(slug=prepared.document.bundle.lab).first()
        before = known_runs(prepared.ready)
        result = ingest.store(prepared, state=state, trust=trust_of(lab))
        batch.results.append(result)
        after = known_runs(prepared.ready)
        listed += [
            Listed(run, prepared.document.name, after[run.identity], run.identity in before)
            for run in prepared.ready
        ]
    warnings = [text for result in batch.results for text in result.warnings]
    batch.report = report_of(outcome.understood, listed, state="parsed", warnings=warnings)


def _publish_drafts(ids: Sequence[int]) -> list[int]:
    """Publish what an earlier call stored, and say what; a withdrawn run stays withdrawn."""
    states = (Run.State.DRAFT, Run.State.PENDING)
    drafts = [
        pk
        for part in chunks(ids)
        for pk in Run.objects.filter(pk__in=part, state__in=states).values_list("pk", flat=True)
    ]
    publish(runs=drafts, actor=None, reason="ingest --publish")
    return drafts


# Telling


def _word(key: str, value: str) -> str:
    """What answers a question on the command line."""
    return f"--{key} {value}" if key in ("lab", "system") else f"--set {key}={value}"


def _notes(batch: Batch) -> Iterable[str]:
    """What a reader should know of how a batch was read and what was taken."""
    for remark in batch.report["remarks"]:
        place = ":".join(str(part) for part in (remark["file"], remark["line"]) if part)
        text = remark["text"].rstrip(".")
        yield f"{place}: {text}." if place else f"{text}."
    for question in batch.report["optional"]:
        taken = f" Taken: {question['taken']}." if question["taken"] else ""
        answers = "|".join(option["value"] for option in question["options"]) or "…"
        yield f"{question['text']}{taken} Say {_word(question['field'], answers)}"


def _lab_of(batches: Sequence[Batch]) -> str | None:
    """The lab, if it is one."""
    labs = set[str]().union(*(batch.labs for batch in batches)) - {OPEN}
    return labs.pop() if len(labs) == 1 else None


def _merged(reports: Sequence[Report]) -> Report:
    """One report of several: lists behind one another, the last state, the first machine."""
    found: Report = {"state": "parsed"}
    for report in reports:
        for name, value in report.items():
            if isinstance(value, list):
                found[name] = [*found.get(name, []), *value]
            elif name == "run_count":
                found[name] = found.get(name, 0) + value
            elif name == "state" or not found.get(name):
                found[name] = value
    found["systems"] = sorted(set(found.get("systems", [])))
    return found
