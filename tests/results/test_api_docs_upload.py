"""The curl examples of docs/api.md about uploads, run one after another as they stand there."""

from __future__ import annotations

import io
import json
import re
import shlex
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from results.api.ordering import ORDERS
from results.models import Run, Upload
from tests.results.bundles import SYSTEM
from tests.results.uploading import LSCPU, STREAM_LOG

pytestmark = pytest.mark.django_db
TEXT = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
PART = TEXT[TEXT.index("## Upload") : TEXT.index("## Hosts")]
BLOCKS = [block.replace("\\\n", " ") for block in re.findall(r"```sh\n(.*?)\n```", PART, re.DOTALL)]
TABLE = "benchmark,scope,metric,value,unit\nstream,system,triad.bandwidth,7,GB/s\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the examples send."""
    settings.ARTEFACT_ROOT = tmp_path / "artefacts"
    (tmp_path / "stream.log").write_bytes(STREAM_LOG.read_bytes())
    (tmp_path / "lscpu.json").write_bytes(LSCPU.read_bytes())
    (tmp_path / "results.csv").write_text(TABLE)
    (tmp_path / "mended.log").write_bytes((STREAM_LOG.parent / "gcc_1t.txt").read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def calls() -> Iterator[list[str]]:
    """The words of each curl call, in the text's order."""
    for block in BLOCKS:
        yield from (shlex.split(line) for line in block.splitlines() if line.startswith("curl"))


def run_curl(words: list[str], token: str, number: int) -> Any:
    """Do what curl would: forms with -F, headers with -H; `number` stands for the text's id."""
    headers: dict[str, str] = {}
    data: dict[str, list[Any]] = {}
    method, address = "GET", ""
    given = iter(words[1:])
    for word in given:
        if word == "-H":
            name, _colon, value = next(given).replace("$TOKEN", token).partition(": ")
            headers[name] = value
        elif word == "-X":
            method = next(given)
        elif word == "-F":
            method = "POST"
            name, _equals, value = next(given).partition("=")
            data.setdefault(name, []).append(_form_value(name, value, number))
        elif word != "-s":
            address = word
    path = re.sub(r"uploads/\d+/", f"uploads/{number}/", address.replace("$HUB", "/api/v1"))
    assert method == "POST"
    return Client(headers=headers).post(path, data)


def _form_value(name: str, value: str, number: int) -> Any:
    """A file where curl would send one; the text's id and date as they are in this test."""
    if name == "corrects":
        return str(number)
    if name == "publish_at":
        assert datetime.fromisoformat(value).tzinfo is not None
        return (timezone.now() + timedelta(days=3)).isoformat()
    if not value.startswith("@"):
        return value
    return SimpleUploadedFile(value[1:], Path(value[1:]).read_bytes())


def made_token() -> str:
    """The token of the text's first example."""
    (line,) = [block for block in BLOCKS if "create_token" in block]
    out = io.StringIO()
    call_command(*shlex.split(line)[2:], stdout=out, stderr=io.StringIO())
    return out.getvalue().strip()


def first_call(token: str) -> Any:
    answer = run_curl(next(calls()), token, 0)
    assert answer.status_code == 201, answer.content
    return answer.json()


def shown() -> Any:
    """The document in the text."""
    (body,) = re.findall(r"```json\n(.*?)\n```", PART, re.DOTALL)
    return json.loads(body)


def require_shown(told: Any, found: Any) -> None:
    """Fail unless everything told is found: the text leaves much out."""
    if isinstance(told, dict):
        for name, value in told.items():
            require_shown(value, found[name])
    elif isinstance(told, list):
        assert len(told) <= len(found)
        # Of the values, the text shows the last.
        for one, other in zip(reversed(told), reversed(found), strict=False):
            require_shown(one, other)
    else:
        assert told == found


def test_the_examples_are_found() -> None:
    assert len(list(calls())) == 7
    assert len(BLOCKS) == 9


def test_the_document_is_what_the_first_example_gets() -> None:
    found, told = first_call(made_token()), shown()
    for name in ("id", "url"):
        told[name], found[name] = None, None
    require_shown(told, found)
    assert found["questions"][0]["options"] == told["questions"][0]["options"]


def test_the_examples_lead_from_the_first_file_to_the_withdrawal() -> None:
    token = made_token()
    _first, answer, publish, embargo, dry, correct, withdraw = calls()
    number = first_call(token)["id"]
    found = run_curl(answer, token, number).json()
    assert (found["questions"], found["systems"]) == ([], ["amd-epyc-2-vcpus"])
    assert found["runs"][0]["parameters"]["placement"] == "local"
    assert run_curl(embargo, token, number).json()["publish_at"]
    assert run_curl(publish, token, number).json()["state"] == "published"
    tried = run_curl(dry, token, number)
    assert (tried.status_code, tried.json()["id"], tried.json()["systems"]) == (200, None, [SYSTEM])
    mended = run_curl(correct, token, number).json()
    assert (mended["state"], mended["corrects"]) == ("published", number)
    old = Upload.objects.get(pk=number)
    assert (old.state, old.reason) == ("withdrawn", "SMT was on")
    new = Run.objects.get(pk=mended["runs"][0]["run"])
    assert new.supersedes in old.runs.all()
    gone = run_curl(withdraw, token, mended["id"]).json()
    assert (gone["state"], gone["reason"]) == ("withdrawn", "a fan had failed")


def test_the_command_of_the_text_prints_the_document() -> None:
    (line,) = [block for block in BLOCKS if "manage.py ingest" in block]
    out = io.StringIO()
    call_command(*shlex.split(line)[2:], stdout=out)
    found = json.loads(out.getvalue())
    assert (found["id"], found["state"], found["lab"]) == (None, "parsed", "storagereview")
    assert Run.objects.get(pk=found["runs"][0]["run"]).state == "draft"


def test_every_field_status_and_part_is_in_the_text() -> None:
    for name in ("file", *ORDERS):
        assert f"`{name}`" in PART
    for name in ("optional", "remarks", "machine", "files", "questions", "problems", "runs"):
        assert f"| `{name}` |" in PART
    for state in Upload.State.values:
        assert f"`{state}`" in PART
