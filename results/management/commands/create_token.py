"""`create_token LAB`: a lab's new key, shown once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from results import tokens
from results.hints import hint
from results.models import Lab, Token
from results.services import ServiceError

MOST_DAYS = 36_500


class Command(BaseCommand):
    help = "Make a token for a lab and print its secret, which cannot be shown again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("lab", metavar="LAB", help="the lab's slug")
        parser.add_argument(
            "--scope",
            action="append",
            choices=Token.Scope.values,
            help="what it may do; may be given several times; default upload",
        )
        parser.add_argument("--name", default="", help="what it is for, shown in lists")
        parser.add_argument(
            "--expires-days", type=int, metavar="N", help="days until it expires; default never"
        )

    @sensitive_variables("secret")
    def handle(self, *args: Any, **options: Any) -> None:
        lab = _lab(options["lab"])
        days = options["expires_days"]
        if days is not None and not 1 <= days <= MOST_DAYS:
            raise CommandError(f"--expires-days: found {days}, expected 1 to {MOST_DAYS}")
        try:
            token, secret = tokens.make(
                lab=lab,
                scopes=options["scope"] or [Token.Scope.UPLOAD],
                name=options["name"],
                actor=None,
                expires_at=timezone.now() + timedelta(days=days) if days else None,
            )
        except ServiceError as error:
            raise CommandError(str(error)) from None
        # The secret stands alone on standard output, so that a script can take it.
        self.stderr.write(
            f"{token} may {', '.join(token.scopes)}. Keep the next line: it is shown only now."
        )
        self.stdout.write(secret)


def _lab(slug: str) -> Lab:
    """The lab of that slug. CommandError, with the nearest ones, if there is none."""
    found = Lab.objects.filter(slug=slug).first()
    if found is None:
        known = Lab.objects.values_list("slug", flat=True)
        raise CommandError(f"there is no lab {slug!r}; {hint(slug, known)}")
    return found
