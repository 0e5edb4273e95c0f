"""What docs/api.md says of hosts and jobs is so; its curl examples are run as they stand there."""

from __future__ import annotations

import io
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from runners.api import documents
from runners.api.asking import ORDER
from runners.management.commands.runbench import Command
from runners.models import Attempt, Host, Job
from tests.results.api_data import ROOT, get, make_lab

pytestmark = pytest.mark.django_db
TEXT = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
PART = TEXT[TEXT.index("## Hosts") : TEXT.index("## Errors")]
BLOCKS = [block.replace("\\\n", " ") for block in re.findall(r"```sh\n(.*?)\n```", PART, re.DOTALL)]
LINES = [line for block in BLOCKS for line in block.splitlines()]
CALLS = [shlex.split(line) for line in LINES if line.startswith("curl")]


def run_curl(words: list[str], token: str, number: int = 0) -> Any:
    """Do what curl would: headers with -H, a body with -d; `number` stands for the text's id."""
    headers: dict[str, str] = {}
    method, address, body = "GET", "", ""
    given = iter(words[1:])
    for word in given:
        if word == "-H":
            name, _colon, value = next(given).replace("$TOKEN", token).partition(": ")
            headers[name] = value
        elif word == "-X":
            method = next(given)
        elif word == "-d":
            method, body = "POST", next(given)
        elif word != "-s":
            address = word
    path = re.sub(r"jobs/\d+/", f"jobs/{number}/", address.replace("$HUB/", ROOT))
    kind = headers.pop("Content-Type", "application/octet-stream")
    return Client(headers=headers).generic(method, path, body, content_type=kind)


def made_token() -> str:
    """The token of the text's example."""
    make_lab("storagereview")
    (line,) = [line for line in LINES if "create_token" in line]
    out = io.StringIO()
    call_command(*shlex.split(line)[2:], stdout=out, stderr=io.StringIO())
    return out.getvalue().strip()


def test_the_examples_start_list_and_cancel_a_job(host: Host) -> None:
    token = made_token()
    hosts, start, listed, cancel = CALLS
    assert run_curl(hosts, token).json()["results"][0]["slug"] == "given-host"
    started = run_curl(start, token)
    assert started.status_code == 201, started.content
    job = Job.objects.get()
    assert job.parameters["threads"] == 1
    assert run_curl(listed, token).json()["results"] == []
    ended = run_curl(cancel, token, job.pk)
    assert (ended.status_code, ended.json()["state"]) == (202, "cancelled")


def test_the_command_of_the_text_is_understood() -> None:
    (line,) = [line for line in LINES if "runbench" in line]
    words = shlex.split(line)
    parser = Command().create_parser(*words[1:3])
    found = vars(parser.parse_args(words[3:]))
    assert (found["benchmark"], found["preset"], found["parameters"]) == (
        "stream",
        "standard",
        ["threads=1"],
    )
    for option in ("-p", "--publish", "--json", "--list"):
        assert option in PART
        assert option in parser.format_help()


def test_every_name_that_is_sent_or_answered_is_in_the_text(client: Client, host: Host) -> None:
    job = Job.objects.create(
        host=host, benchmark="stream", preset="standard", actor_name="x", state="finished"
    )
    Attempt.objects.create(job=job, host=host, state="finished")
    told = set(get(client, f"jobs/{job.pk}/")) | {"remarks", *ORDER}
    told |= set(get(client, "hosts/given-host/")) - {"detected_at", "slug", "name"}
    told -= {"id", "url", "created_at", "finished_at", "preset"}
    missing = [name for name in told if f"`{name}`" not in PART]
    assert missing == []
    for state in (*Job.State.values, *Attempt.State.values):
        assert f"`{state}`" in PART
    bounded = documents.BoundedSerializer().get_fields()
    for name in set(bounded) - {"name", "type", "label", "unit", "help"}:
        assert f"`{name}`" in PART


def test_the_body_of_the_example_is_json() -> None:
    (body,) = [words[words.index("-d") + 1] for words in CALLS if "-d" in words]
    assert json.loads(body)["benchmark"] == "stream"
