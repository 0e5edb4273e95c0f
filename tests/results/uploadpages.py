"""What the tests of the pages of uploads share: clients, files, addresses, counted queries."""

from __future__ import annotations

from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from results.intake import standing
from results.models import Upload
from tests.results.bundles import measurement, run
from tests.results.sent import bundle_of, lab_of, publisher, sent


def signed_in(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def file(data: bytes, name: str = "runs.json") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data)


def page_of(upload: Upload) -> str:
    return f"/uploads/{upload.pk}/"


def queries_of(client: Client, address: str) -> int:
    with CaptureQueriesContext(
        connection,
    ) as caught:
        assert client.get(address).status_code == 200
    return len(caught)


def published(value: float = 100.0, *, lab: str = "acme") -> Upload:
    owner = lab_of(lab)
    files = {"runs.json": bundle_of(owner, run(measurement(value)))}
    actor = publisher(owner, "pia" if lab == "acme" else lab)
    upload = sent(files, lab=owner, actor=actor)
    return standing.publish_upload(upload=upload, actor=actor)
