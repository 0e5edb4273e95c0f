"""`create_token`: the secret alone on standard output, and errors that say what to do."""

from __future__ import annotations

import io
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from results import tokens
from results.models import AuditEntry, Token
from tests.results.api_data import make_lab

pytestmark = pytest.mark.django_db


def made(*words: str) -> tuple[str, str]:
    """What the command wrote to standard output and standard error."""
    make_lab()
    out, err = io.StringIO(), io.StringIO()
    call_command("create_token", *words, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_the_secret_stands_alone_on_standard_output() -> None:
    out, err = made("acme")
    secret = out.removesuffix("\n")
    token = tokens.find(secret)
    assert token is not None
    assert (token.lab.slug, token.scopes, token.expires_at) == ("acme", ["upload"], None)
    assert "may upload" in err
    assert secret[12:] not in err
    assert AuditEntry.objects.get(action="make token").actor_name == "the hub"


def test_scopes_name_and_end_are_taken() -> None:
    words = ("acme", "--scope", "publish", "--scope", "run", "--name", "nightly")
    out, _err = made(*words, "--expires-days", "30")
    token = tokens.find(out.strip())
    assert token is not None
    assert (token.scopes, token.name) == (["publish", "run"], "nightly")
    assert token.expires_at is not None
    assert abs(token.expires_at - timezone.now() - timedelta(days=30)) < timedelta(minutes=5)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["acm"], "no lab 'acm'; did you mean acme?"),
        (["acme", "--scope", "admin"], "invalid choice: 'admin'"),
        (["acme", "--expires-days", "0"], "found 0, expected 1 to 36500"),
        (["acme", "--expires-days", "x"], "invalid int value: 'x'"),
        (["acme", "--name", "x" * 81], "81 characters"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_is_made(words: list[str], message: str) -> None:
    with pytest.raises(CommandError) as raised:
        made(*words)
    assert message in str(raised.value)
    assert not Token.objects.exists()
