"""`worker`: the process that measures on this machine; `make serve` runs it for its own."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from django.core.management.base import BaseCommand


class Command(BaseCommand):
    help = "Run the jobs of this machine, one at a time, until ended."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        from runners.worker import run

        with suppress(KeyboardInterrupt):
            run()
