"""`load_reference`: the figures of the source reviews, as bundles in `results/reference/`."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from results import sync
from results.bundle import BundleError, read_bundle
from results.ingest import IngestResult, ingest_bundle
from results.models import Loaded, Run, Trust

FOLDER = Path(__file__).resolve().parents[2] / "reference"
PREFIX = "reference/"


class Command(BaseCommand):
    help = "Load the reference data; what is loaded already is left as it is."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--folder", type=Path, default=FOLDER, help="where the bundles lie")

    def handle(self, *args: Any, **options: Any) -> None:
        sync.ensure()
        files = sorted(options["folder"].glob("*.json"))
        if not files:
            raise CommandError(f"{options['folder']} holds no bundle")
        try:
            done = [result for result in map(load_file, files) if result is not None]
        except BundleError as error:
            raise CommandError(str(error)) from None
        if options["verbosity"]:
            self.stdout.write(f"Reference data: {_in_words(done, len(files))}.")


def _in_words(done: Sequence[IngestResult], files: int) -> str:
    if not done:
        return f"{files} bundles unchanged"
    runs = sum(len(result.created) for result in done)
    known = sum(len(result.known) for result in done)
    changed = sum(result.changed for result in done)
    return f"{runs} runs added, {known} known, {changed} other rows made or changed"


def load_file(path: Path) -> IngestResult | None:
    """Load one bundle; None if it is the one that was loaded last under this name."""
    data = path.read_bytes()
    name, digest = f"{PREFIX}{path.name}", sha256(data).hexdigest()
    if Loaded.objects.filter(name=name, digest=digest).exists():
        return None
    document = read_bundle(data, name=path.name)
    with transaction.atomic():
        result = ingest_bundle(
            document,
            state=Run.State.PUBLISHED,
            trust=Trust.SOURCE,
            allow_new_labs=True,
            curated=True,
        )
        Loaded.objects.update_or_create(name=name, defaults={"digest": digest})
    return result
