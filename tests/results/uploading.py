"""What the tests of uploads send, and as whom."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from results import artefacts, tokens
from results.models import Lab, Membership
from tests.results.api_data import ROOT
from tests.results.bundles import as_bytes, bundle, measurement, run

DATA = Path(__file__).parents[1] / "data"
STREAM_LOG = DATA / "stream" / "gcc_2t.txt"
LSCPU = DATA / "system" / "lscpu.json"
UPLOADS = f"{ROOT}uploads/"


def sent(name: str, data: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data)


def a_bundle(lab: str = "acme", **changes: Any) -> SimpleUploadedFile:
    """A bundle with one STREAM run on a system of the reference data."""
    return sent("b.json", as_bytes(bundle(run(**changes), lab=lab)))


def bad() -> SimpleUploadedFile:
    """A bundle with one impossible value, on line 24."""
    return sent("b.json", as_bytes(bundle(run(measurement(-1)), lab="acme")))


def a_log() -> SimpleUploadedFile:
    """A real STREAM log, which does not say on which system."""
    return sent(STREAM_LOG.name, STREAM_LOG.read_bytes())


def member(lab: Lab, name: str, role: str = Membership.Role.MEMBER) -> User:
    """The account of that name, made if need be, in this lab too."""
    user, _made = User.objects.get_or_create(username=name)
    Membership.objects.create(lab=lab, user=user, role=role)
    return user


def with_token(lab: Lab, *scopes: str) -> Client:
    """A client that speaks for a lab with a token; scope upload unless said."""
    _token, secret = tokens.make(lab=lab, scopes=scopes or ("upload",), name="", actor=None)
    return Client(headers={"authorization": f"Token {secret}"})


def post(client: Client, path: str, data: Any = None, status: int = 200, **more: Any) -> Any:
    """The JSON of a POST below uploads/, which must answer with `status`."""
    answer = client.post(UPLOADS + path, data or {}, **more)
    assert answer.status_code == status, (answer.status_code, answer.content[:2_000])
    return answer.json()


def kept_files(root: Path) -> Sequence[str]:
    """The names of all files in the store, those half written too, but not its lock."""
    found = [path for path in root.rglob("*") if path.is_file() and path.name != artefacts.LOCK]
    return sorted(path.name for path in found)
