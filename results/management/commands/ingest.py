"""`ingest FILE…`: check and store bundles, in JSON or CSV, from this machine."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import transaction

from results.bundle import BundleError, Defaults, Document, Problem, read_bundle
from results.bundle.decode import BIGGEST_FILE
from results.chunks import chunks
from results.ingest import IngestResult, ingest_bundle
from results.ingest.report import accepted, rejected
from results.models import Lab, Run, Trust
from results.services import publish


class Command(BaseCommand):
    help = "Check and store bundles in JSON or CSV: all of them, or none and every problem."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="+", metavar="FILE", type=Path)
        parser.add_argument("--lab", default="", help="whose results they are")
        parser.add_argument("--system", default="", help="for runs that do not name theirs")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="a parameter, setup.… or node for runs that do not say it",
        )
        parser.add_argument("--dry-run", action="store_true", help="check, store nothing")
        parser.add_argument("--publish", action="store_true", help="publish what is stored")
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            results = _ingest(options)
        except BundleError as error:
            self._refuse(error.problems, as_json=options["json"])
            raise SystemExit(1) from None
        published = options["publish"] and not options["dry_run"]
        if options["json"]:
            self._print_json(accepted(results, published=published))
        else:
            self._tell(results, options)

    def _refuse(self, problems: Iterable[Problem], *, as_json: bool) -> None:
        if as_json:
            self._print_json(rejected(problems))
            return
        for problem in problems:
            self.stderr.write(str(problem), self.style.ERROR)

    def _print_json(self, report: Mapping[str, Any]) -> None:
        self.stdout.write(json.dumps(report, indent=1, ensure_ascii=False, allow_nan=False))

    def _tell(self, results: Sequence[IngestResult], options: Mapping[str, Any]) -> None:
        for warning in (warning for result in results for warning in result.warnings):
            self.stderr.write(f"Note: {warning}.")
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


def _ingest(options: Mapping[str, Any]) -> list[IngestResult]:
    """Read and store the files. Raises BundleError with the problems of all of them."""
    documents, problems = _read_all(options)
    results: list[IngestResult] = []
    with transaction.atomic():
        for path, document in documents:
            try:
                results.append(_store(path, document, options))
            except BundleError as error:
                problems += error.problems
        if problems:
            raise BundleError(problems)
        if options["publish"] and not options["dry_run"]:
            for result in results:
                result.drafts = _publish_drafts(result.known)
    return results


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


def _read_all(options: Mapping[str, Any]) -> tuple[list[tuple[Path, Document]], list[Problem]]:
    settings, problems = _settings(options["set"])
    defaults = Defaults(options["lab"], options["system"], settings)
    documents = []
    for path in options["files"]:
        try:
            data = _read(path, str(path), BIGGEST_FILE)
            documents.append((path, read_bundle(data, name=str(path), defaults=defaults)))
        except BundleError as error:
            problems += error.problems
    return documents, problems


def _settings(words: Iterable[str]) -> tuple[dict[str, str], list[Problem]]:
    settings, problems = {}, []
    for word in words:
        key, equals, value = word.partition("=")
        if not key or not equals or not value:
            message = f"--set {word!r}: expected KEY=VALUE"
            problems.append(Problem(message, field="--set", found=word, expected="KEY=VALUE"))
        settings[key] = value
    return settings, problems


def _read(path: Path, name: str, limit: int) -> bytes:
    """A file's bytes, one more than `limit` at most. Raises BundleError if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(limit + 1)
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        message = f"{reason}: expected a file that can be read"
        raise BundleError([Problem(message, file=name, found=reason)]) from None


def _store(path: Path, document: Document, options: Mapping[str, Any]) -> IngestResult:
    lab = Lab.objects.filter(slug=document.bundle.lab).first()
    return ingest_bundle(
        document,
        state=Run.State.PUBLISHED if options["publish"] else Run.State.DRAFT,
        trust=trust_of(lab),
        allow_new_labs=True,
        files=_files_beside(path, document),
        dry_run=options["dry_run"],
    )


def trust_of(lab: Lab | None) -> Trust:
    """What a lab's runs start with: the hub measured them, a vendor did, or anyone."""
    if lab is not None and lab.kind == Lab.Kind.LOCAL:
        return Trust.VERIFIED
    return Trust.VENDOR if lab is not None and lab.kind == Lab.Kind.VENDOR else Trust.COMMUNITY


def _files_beside(path: Path, document: Document) -> dict[str, bytes]:
    """The bundle's artefacts that lie in its folder."""
    found = {}
    for artefact in document.bundle.artefacts:
        file = path.parent / artefact.name
        if file.is_file():
            found[artefact.name] = _read(file, str(file), BIGGEST_FILE)
    return found
