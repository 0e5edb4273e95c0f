"""`bundle_schema`: the bundle's JSON Schema, printed or written where it is committed."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from results.bundle.schema import FILE, schema_text


class Command(BaseCommand):
    help = "Print the JSON Schema of the bundle; --write puts it where it is committed."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--write", action="store_true", help=f"write {FILE.name}")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["write"]:
            FILE.write_text(schema_text(), encoding="utf-8")
        else:
            self.stdout.write(schema_text(), ending="")
