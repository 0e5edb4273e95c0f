"""`export_bundle RUN…`: runs as a bundle, on standard output."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from results.bundle import write_csv
from results.export import ExportError, export_runs, to_json


class Command(BaseCommand):
    help = "Print runs of one lab as a bundle that can be imported again, unchanged."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("runs", nargs="+", metavar="RUN", type=int, help="the runs' numbers")
        parser.add_argument("--csv", action="store_true", help="the measurements as a table")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            bundle = export_runs(options["runs"])
        except ExportError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(write_csv(bundle) if options["csv"] else to_json(bundle), ending="")
