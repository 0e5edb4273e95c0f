"""Who asks and what they may: a signed-in account or a lab's token, asked in one way.

Accounts that were closed and tokens that were revoked or have expired may what all may. Where
`actor` is None, the hub itself acts, by a command or a sweep: it is asked for no right here.
"""

from __future__ import annotations

from typing import Any, Literal

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet

from results.models import Lab, Membership, Token

LONGEST_NAME = 150  # characters that an audit row keeps of who acted
UPLOAD, PUBLISH = Token.Scope.UPLOAD, Token.Scope.PUBLISH


class TokenUser(AnonymousUser):
    """Who asks with a lab's token: no account, so nothing that only accounts have."""

    def __init__(self, token: Token) -> None:
        self.token = token

    def __str__(self) -> str:
        return str(self.token)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TokenUser) and other.token == self.token

    def __hash__(self) -> int:
        return hash(self.token)

    @property
    def is_authenticated(self) -> Literal[True]:  # type: ignore[override]
        return True

    @property
    def is_anonymous(self) -> Literal[False]:  # type: ignore[override]
        return False


Actor = AbstractBaseUser | AnonymousUser


def account(actor: Actor | None) -> Any:
    """The stored account to write beside a change: for a token who made it; else None."""
    if isinstance(actor, TokenUser):
        return actor.token.created_by
    return actor if isinstance(actor, AbstractBaseUser) and actor.pk else None


def name_of(actor: Actor | None) -> str:
    """The name to write beside a change; it outlives the account or token."""
    return str("the hub" if actor is None else actor)[:LONGEST_NAME]


def is_staff(actor: Actor | None) -> bool:
    """Whether it is an open account of the hub's staff."""
    return _member(actor) is not None and bool(getattr(actor, "is_staff", False))


def may_review(actor: Actor | None) -> bool:
    """Whether they decide about what other labs have sent."""
    return is_staff(actor)


def may_upload(actor: Actor | None, lab: Lab | None) -> bool:
    """Whether they may upload for a lab; None while it is open which: for any at all."""
    if is_staff(actor):
        return True
    found = labs_for_upload(actor)
    return (found if lab is None else found.filter(pk=lab.pk)).exists()


def may_publish(actor: Actor | None, lab: Lab | None) -> bool:
    """Whether they may publish what is a lab's own; without a lab only the staff may."""
    if is_staff(actor):
        return True
    if lab is None:
        return False
    token, user = _token(actor), _member(actor)
    if token is not None:
        return token.lab_id == lab.pk and token.may(PUBLISH)
    role = Membership.Role.PUBLISHER
    return user is not None and Membership.objects.filter(lab=lab, user=user, role=role).exists()


def labs_for_upload(actor: Actor | None) -> QuerySet[Lab]:
    """The labs that they may upload for: all for the staff, none for a stranger."""
    if is_staff(actor):
        return Lab.objects.all()
    return Lab.objects.filter(pk__in=reads_labs(actor))


def reads_labs(actor: Actor | None) -> QuerySet[Any, Any]:
    """Ids of the labs of which they may read what is not public, for `lab__in=`.

    Those they belong to; the staff reads all beside that, and asks `is_staff` first.
    """
    token, user = _token(actor), _member(actor)
    if token is not None and token.may(UPLOAD):
        return Lab.objects.filter(pk=token.lab_id).order_by().values("pk")
    if user is not None:
        return Membership.objects.filter(user=user).values("lab")
    return Lab.objects.none().values("pk")


def may_read_lab(actor: Actor | None, lab_id: int | None) -> bool:
    """Whether they may read what is not public of a lab (id); of no lab only the staff."""
    if is_staff(actor):
        return True
    return lab_id is not None and Lab.objects.filter(pk=lab_id, pk__in=reads_labs(actor)).exists()


def _token(actor: Actor | None) -> Token | None:
    """The live token that asks."""
    return actor.token if isinstance(actor, TokenUser) and actor.token.is_live else None


def _member(actor: Actor | None) -> Any:
    """The open account that asks."""
    return actor if isinstance(actor, AbstractBaseUser) and actor.pk and actor.is_active else None
