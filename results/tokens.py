"""A lab's tokens: made, found by their secret, revoked; each change leaves an audit row.

A secret is `bh_`, the token's prefix, `_` and 43 signs that carry 256 random bits. Only its
SHA-256 is stored: so many random bits need no slow hash.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from django.db import OperationalError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from results import actors
from results.actors import Actor
from results.hints import hint
from results.models import AuditEntry, Lab, Token
from results.services import NotAllowed, ServiceError

SECRET = re.compile(r"bh_[0-9a-f]{8}_[A-Za-z0-9_-]{43}", re.ASCII)
LONGEST_NAME = 80
NOTED_EVERY = timedelta(minutes=1)


@sensitive_variables("secret")
@transaction.atomic
def make(
    *,
    lab: Lab,
    scopes: Iterable[str],
    name: str,
    actor: Actor | None,
    expires_at: datetime | None = None,
) -> tuple[Token, str]:
    """A new token of a lab and its secret, which nothing can show again.

    ServiceError for an unknown scope or none, a long name, a date in the past; NotAllowed
    for anyone but the staff.
    """
    _require_staff(actor)
    token = Token(
        lab=lab,
        name=_checked_name(name),
        scopes=_checked_scopes(scopes),
        prefix=secrets.token_hex(4),
        created_by=actors.account(actor),
        expires_at=expires_at,
    )
    if expires_at is not None and expires_at <= timezone.now():
        raise ServiceError(_("The token would have expired before it is made."))
    secret = f"bh_{token.prefix}_{secrets.token_urlsafe(32)}"
    token.digest = _digest(secret)
    token.save()
    after = {"scopes": token.scopes, "expires_at": expires_at and expires_at.isoformat()}
    _note(token, actor, "make token", after)
    return token, secret


@sensitive_variables("secret")
def find(secret: str) -> Token | None:
    """The live token of a secret, with its lab and maker; its last use is noted."""
    if not SECRET.fullmatch(secret):
        return None
    digest = _digest(secret)
    token = Token.objects.select_related("lab", "created_by").filter(digest=digest).first()
    if token is None or not hmac.compare_digest(token.digest, digest) or not token.is_live:
        return None
    _note_use(token)
    return token


@transaction.atomic
def revoke(*, token: Token, actor: Actor | None, reason: str) -> bool:
    """Make a token useless from now on; whether it was not so before.

    ServiceError without a reason; NotAllowed for anyone but the staff.
    """
    _require_staff(actor)
    if not reason.strip():
        raise ServiceError(_("To revoke a token needs a reason."))
    found = Token.objects.select_for_update().get(pk=token.pk)
    if found.revoked_at is None:
        found.revoked_at = timezone.now()
        found.save(update_fields=["revoked_at"])
        _note(found, actor, "revoke token", {"revoked_at": found.revoked_at.isoformat()}, reason)
        token.revoked_at = found.revoked_at
        return True
    token.revoked_at = found.revoked_at
    return False


def _require_staff(actor: Actor | None) -> None:
    if actor is not None and not actors.is_staff(actor):
        raise NotAllowed(_("Only the staff makes and revokes tokens."))


def _checked_name(name: str) -> str:
    name = name.strip()
    if len(name) > LONGEST_NAME:
        found = {"found": len(name), "most": LONGEST_NAME}
        raise ServiceError(_("The name has %(found)d characters, at most %(most)d fit.") % found)
    return name


def _checked_scopes(scopes: Iterable[str]) -> list[str]:
    """Each scope once, in the order of the model's."""
    wanted, known = set(scopes), list(Token.Scope.values)
    for scope in sorted(wanted - set(known)):
        words = {"scope": scope, "hint": hint(scope, known)}
        raise ServiceError(_("The scope %(scope)r is not known; %(hint)s") % words)
    if not wanted:
        raise ServiceError(_("A token needs a scope: %(known)s.") % {"known": ", ".join(known)})
    return [scope for scope in known if scope in wanted]


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def _note(
    token: Token, actor: Actor | None, action: str, after: dict[str, Any], reason: str = ""
) -> None:
    """An audit row that names the token by its prefix."""
    named = {"lab": token.lab.slug, "prefix": token.prefix, "name": token.name}
    AuditEntry.objects.create(
        actor=actors.account(actor),
        actor_name=actors.name_of(actor),
        action=action,
        after={**named, **after},
        reason=reason.strip(),
    )


def _note_use(token: Token) -> None:
    """Write the moment of use down, at most once a minute.

    A database that cannot be written to just now is no reason to refuse a reader.
    """
    now = timezone.now()
    if token.last_used_at is not None and token.last_used_at > now - NOTED_EVERY:
        return
    stale = Q(last_used_at__isnull=True) | Q(last_used_at__lte=now - NOTED_EVERY)
    try:
        with transaction.atomic():
            Token.objects.filter(stale, pk=token.pk).update(last_used_at=now)
    except OperationalError:
        return
    token.last_used_at = now
