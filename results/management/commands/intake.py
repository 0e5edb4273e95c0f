"""`intake`: the process that reads uploads and publishes what is due; `make serve` runs it."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand


class Command(BaseCommand):
    help = "Read uploads, each in a child with limits, and publish what is due, until ended."

    def handle(self, *args: Any, **options: Any) -> None:
        from results.intake.service import serve

        serve()
