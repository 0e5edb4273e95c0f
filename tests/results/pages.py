"""What the tests of pages share: a page's text, runs with a log, and accounts."""

from __future__ import annotations

import hashlib
import html
import json
import re
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from results.bundle import read_bundle
from results.ingest import ingest_bundle
from results.models import Lab, Membership, Run
from tests.results.made import LAB, system

LOG = b"first line\nTriad:  82150.6\n<script>alert(1)</script>\nlast line\n"


def read(client: Client, address: str, *, status: int = 200) -> str:
    """The text of a page, tags and entities resolved, blanks as they are read."""
    response = client.get(address)
    assert response.status_code == status
    body = re.sub(r"<(script|style).*?</\1>", " ", response.content.decode(), flags=re.DOTALL)
    text = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())
    return re.sub(r" ([,.;:])", r"\1", text)


def source_of(client: Client, address: str) -> str:
    """A page's HTML, blanks joined."""
    response = client.get(address)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def run_with_log(
    data: bytes = LOG, *, lines: tuple[int, int] = (2, 2), name: str = "stream.log", **fields: Any
) -> Run:
    """A published run of one value that was read from lines of a stored file."""
    evidence = {"artefact": name, "lines": list(lines)}
    measurement = {"metric": "triad.bandwidth", "value": 82.1506, "unit": "GB/s"}
    run = {
        "system": "logged",
        "benchmark": "stream",
        "version": "5.10",
        "scope": "system",
        "parameters": {"threads": 2},
        "setup": {"os": "Debian 12"},
        "measurements": [{**measurement, "printed": "82150.6 MB/s", "evidence": evidence}],
        **fields,
    }
    file = {"name": name, "sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
    bundle = {
        "bundle": 1,
        "lab": LAB,
        "labs": [{"slug": LAB, "name": LAB}],
        **system("logged"),
        "runs": [run],
        "artefacts": [file],
    }
    document = read_bundle(json.dumps(bundle).encode(), name="made.json")
    stored = ingest_bundle(document, files={name: data}, state="published", allow_new_labs=True)
    return Run.objects.get(pk=stored.created[0])


def staff() -> Client:
    """Signed in as an admin."""
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    return client


def member(lab: str = LAB, name: str = "mia") -> Client:
    """Signed in as a member of a lab."""
    user = User.objects.create_user(name)
    Membership.objects.create(lab=Lab.objects.get(slug=lab), user=user)
    client = Client()
    client.force_login(user)
    return client
