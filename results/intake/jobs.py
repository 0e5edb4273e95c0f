"""Looking at files of which nothing is to be stored, as the reader is asked for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model

from results.actors import TokenUser
from results.formats.base import File
from results.intake.given import Given
from results.intake.work import around, look, read
from results.models import Lab, Token, Upload


def look_at(asked: dict[str, Any]) -> dict[str, Any]:
    """The report of the files that lie where `asked` says. Writes nothing."""
    files = [File(name, Path(path).read_bytes()) for name, path in asked["files"]]
    lab = Lab.objects.filter(pk=asked["lab"]).first() if asked["lab"] else None
    corrects = Upload.objects.filter(pk=asked.get("corrects") or 0).first()
    about = around(lab, _actor(asked), corrects=corrects)
    outcome = read(files, Given.of(asked["given"]), about)
    return look(outcome)


def _actor(asked: dict[str, Any]) -> Any:
    if asked.get("token"):
        token = Token.objects.select_related("lab").filter(pk=asked["token"]).first()
        return TokenUser(token) if token else None
    account = asked.get("account")
    return get_user_model().objects.filter(pk=account).first() if account else None
