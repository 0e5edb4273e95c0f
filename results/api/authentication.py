"""Who asks the API: a lab's token in the header, else the browser's session."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from results import tokens
from results.actors import TokenUser
from results.models import Token

SCHEME = "Token"


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Token <secret>`.

    A header that opens nothing is refused with 401: whoever sends one does not want to be
    taken for the account that their browser is signed in with.
    """

    def authenticate(self, request: Request) -> tuple[TokenUser, Token] | None:
        """The token's user and the token, None without a header. AuthenticationFailed: 401."""
        header = get_authorization_header(request)
        if not header:
            return None
        scheme, _blank, secret = header.partition(b" ")
        if scheme.lower() != SCHEME.lower().encode():
            raise AuthenticationFailed(_("Expected the header 'Authorization: Token …'."))
        token = tokens.find(secret.strip().decode("ascii", "replace"))
        if token is None:
            raise AuthenticationFailed(_("The token is not known, has expired or was revoked."))
        return TokenUser(token), token

    def authenticate_header(self, request: Request) -> str:
        return SCHEME


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the schema tells it."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """An API key in the header: OpenAPI has no word for this scheme."""
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": _("A lab's token: `Token bh_…`."),
        }
