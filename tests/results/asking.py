"""Who asks in tests: accounts of a lab, the staff, tokens, and clients that send them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from results import tokens
from results.models import Lab, Membership, Token
from tests.results.api_data import make_lab

PUBLISHER = Membership.Role.PUBLISHER


def account(name: str = "mia", lab: Lab | None = None, *, role: str = "member", **f: Any) -> User:
    """An account, of a lab where one is given."""
    user = User.objects.create_user(name, **f)
    if lab is not None:
        Membership.objects.create(lab=lab, user=user, role=role)
    return user


def make_token(
    *scopes: str, lab: Lab | None = None, expires_at: datetime | None = None
) -> tuple[Token, str]:
    """A token of lab acme, scope upload if none is named, and its secret."""
    return tokens.make(
        lab=lab or make_lab(),
        scopes=scopes or ["upload"],
        name="ci",
        actor=None,
        expires_at=expires_at,
    )


def with_token(secret: str) -> Client:
    """A client that sends the header with each request."""
    return Client(headers={"authorization": f"Token {secret}"})
