"""What several files of tests ask for: a store of their own, a lab, who speaks for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from results.models import Lab
from tests.results.api_data import make_lab, signed_in
from tests.results.uploading import with_token


@pytest.fixture
def store(tmp_path: Path, settings: Any) -> Path:
    """A store of this test's own."""
    settings.ARTEFACT_ROOT = tmp_path / "artefacts"
    return tmp_path / "artefacts"


@pytest.fixture
def lab() -> Lab:
    return make_lab("acme")


@pytest.fixture
def uploader(lab: Lab) -> Client:
    """A program of lab acme that may upload, not publish."""
    return with_token(lab)


@pytest.fixture
def publisher(lab: Lab) -> Client:
    return with_token(lab, "publish")


@pytest.fixture
def staff() -> Client:
    return signed_in(User.objects.create_user("sam", is_staff=True))


@pytest.fixture
def nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No file appears beside, above or below where an archive is read."""
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    yield
    assert [path for path in tmp_path.rglob("*") if path.is_file() or path.is_symlink()] == []
