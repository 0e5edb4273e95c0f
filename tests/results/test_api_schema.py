"""The OpenAPI: complete, without a warning, and true to what the API answers."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from django.core.management import call_command
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from pytest_django import Settings

from results.api.ordering import ANSWERS, ORDERS
from results.models import Artefact, Comparison, List, ListEntry, Measurement, Source
from runners.models import Attempt, Job
from tests.results.api_data import (
    ROOT,
    get,
    make_benchmark,
    make_lab,
    make_run,
    make_summary,
    make_system,
    metric_of,
)
from tests.results.asking import make_token
from tests.results.uploading import LSCPU, a_log, post, sent, with_token
from tests.runners.conftest import given_runner, make_host

__all__ = ["given_runner"]
pytestmark = pytest.mark.django_db
JSON = "application/json"
SLUGS = ("labs", "systems", "processors", "benchmarks", "comparisons", "lists", "hosts")
IDS = ("metrics", "runs", "measurements", "jobs")


@pytest.fixture(scope="module")
def schema() -> Any:
    generator: Any = SchemaGenerator
    return generator().get_schema(public=True)


@pytest.fixture
def stored() -> None:
    """One of everything, the runs in a comparison too."""
    source = Source.objects.create(slug="acme-review", title="A review", language=["en"])
    artefact = Artefact.objects.create(sha256="a" * 64, name="stream.log", size=12)
    run = make_run(source=source)
    make_summary(run, axis={"threads": 8}, n=3, low=1.0, high=2.0, assumed=["placement"])
    read = make_run({"copy.bandwidth": 5.0}, system=make_system("acme-b"))
    read.artefacts.add(artefact)
    Measurement.objects.filter(run=read).update(artefact=artefact, line_from=1, line_to=2)
    make_summary(read, "copy.bandwidth", n=0, median=None, low=3.0, ranges=1)
    metric = metric_of(make_benchmark(), "triad.bandwidth")
    top = List.objects.create(slug="acme-top", title="Top", metric=metric, source=source, length=1)
    ListEntry.objects.create(list=top, rank=1, label="Box", value=7, parameters={"cpus": 1})
    Comparison.objects.create(slug="acme-two", title="Two", columns=["acme-box", "acme-b"])
    host = make_host("acme-host")
    about = {"benchmark": "stream", "preset": "standard", "actor_name": "x"}
    job = Job.objects.create(host=host, state="finished", parameters={"ms": 1}, **about)
    flag = {"word": "load", "text": "Others used the host."}
    Attempt.objects.create(job=job, host=host, state="finished", progress=1, flags=[flag])
    job.runs.add(run)


def closed(node: Any) -> Any:
    """The OpenAPI 3.0 schema as JSON Schema that allows no name it does not describe."""
    if isinstance(node, list):
        return [closed(one) for one in node]
    if not isinstance(node, dict):
        return node
    found = {name: closed(one) for name, one in node.items() if name != "nullable"}
    if isinstance(node.get("properties"), dict) and node.get("type") == "object":
        found.setdefault("additionalProperties", False)
    return {"anyOf": [found, {"type": "null"}]} if node.get("nullable") is True else found


def require(schema: Any, path: str, answer: Any, status: str = "200", method: str = "get") -> None:
    """Fail unless `answer` is what the schema says of a GET (or other method) of `path`."""
    described = schema["paths"][path][method]["responses"][status]
    body = described["content"]["application/json"]["schema"]
    document = closed({"components": schema["components"], **body})
    jsonschema.validate(answer, document)


def test_the_schema_is_written_without_a_warning() -> None:
    call_command(
        "spectacular", validate=True, fail_on_warn=True, stdout=io.StringIO(), stderr=io.StringIO()
    )


def test_the_schema_is_served(client: Client) -> None:
    answer = client.get(f"{ROOT}schema/", headers={"accept": "application/vnd.oai.openapi+json"})
    assert answer.status_code == 200
    assert json.loads(answer.content)["openapi"].startswith("3.")


def test_the_schema_describes_every_address_of_the_root(client: Client, schema: Any) -> None:
    paths = {address.partition("testserver")[2] for address in get(client, "").values()}
    assert paths - {f"{ROOT}schema/"} <= set(schema["paths"])
    require(schema, ROOT, get(client, ""))


@pytest.mark.parametrize("name", [*SLUGS, *IDS])
def test_lists_and_details_are_what_the_schema_says(
    client: Client, schema: Any, stored: None, name: str
) -> None:
    page = get(client, f"{name}/")
    assert page["results"]
    require(schema, f"{ROOT}{name}/", page)
    key = "slug" if name in SLUGS else "id"
    for one in page["results"][:20]:
        detail = get(client, f"{name}/{one[key]}/")
        require(schema, f"{ROOT}{name}/{{{key}}}/", detail)


@pytest.mark.parametrize("per", ["total", "core", "watt", "peak", "price"])
@pytest.mark.parametrize("axis", ["", "threads"])
def test_a_comparison_is_what_the_schema_says(
    client: Client, schema: Any, stored: None, per: str, axis: str
) -> None:
    query = {"system": ["acme-box", "acme-b"], "per": per, "axis": axis}
    answer = get(client, "compare/", query)
    assert len(answer["rows"]) == 2
    require(schema, f"{ROOT}compare/", answer)


def test_the_default_comparison_is_what_the_schema_says(
    client: Client, schema: Any, reference: None
) -> None:
    for query in ({}, {"factor": "engine"}, {"factor": "sockets"}, {"axis": "virtual_users"}):
        require(schema, f"{ROOT}compare/", get(client, "compare/", query))


def test_errors_are_what_the_schema_says(client: Client, schema: Any) -> None:
    require(schema, f"{ROOT}compare/", get(client, "compare/", {"x": "y"}, 400), "400")
    require(schema, f"{ROOT}runs/", get(client, "runs/", {"x": "y"}, 400), "400")
    require(schema, f"{ROOT}labs/{{slug}}/", get(client, "labs/x/", status=404), "404")


def test_the_schema_names_every_parameter_that_is_understood(schema: Any) -> None:
    for path in ("compare/", "compare.csv"):
        names = {one["name"] for one in schema["paths"][ROOT + path]["get"]["parameters"]}
        assert names == {
            "system",
            "benchmark",
            "factor",
            "baseline",
            "per",
            "axis",
            "lang",
            "param.*",
        }
    for path in ("runs/", "measurements/"):
        names = {one["name"] for one in schema["paths"][ROOT + path]["get"]["parameters"]}
        assert names >= {"cursor", "page_size", "system", "benchmark", "lab", "scope", "param.*"}


def test_free_parameters_are_a_form_exploded_object(schema: Any) -> None:
    parameters = schema["paths"][f"{ROOT}compare/"]["get"]["parameters"]
    (free,) = [one for one in parameters if one["name"] == "param.*"]
    assert (free["style"], free["explode"], free["schema"]["type"]) == ("form", True, "object")


UPLOAD = f"{ROOT}uploads/"


def test_uploads_are_what_the_schema_says(schema: Any, settings: Settings, tmp_path: Path) -> None:
    settings.ARTEFACT_ROOT = tmp_path / "artefacts"
    client = with_token(make_lab("acme"), "publish")
    lscpu = sent(LSCPU.name, LSCPU.read_bytes())
    asked = post(client, "", {"file": [a_log(), lscpu]}, 201)
    assert asked["questions"]
    assert asked["machine"]["facts"]
    require(schema, UPLOAD, asked, "201", "post")
    answered = post(client, f"{asked['id']}/", {"system": "new", "set": "scope=system"})
    assert answered["runs"]
    require(schema, f"{UPLOAD}{{id}}/", answered, "200", "post")
    require(schema, UPLOAD, post(client, "", {"file": a_log(), "dry_run": "1"}), "200", "post")
    for name in ("publish", "withdraw"):
        data = {"reason": "x"} if name == "withdraw" else {}
        done = post(client, f"{asked['id']}/{name}/", data)
        require(schema, f"{UPLOAD}{{id}}/{name}/", done, "200", "post")
    require(schema, f"{UPLOAD}{{id}}/", get(client, f"uploads/{asked['id']}/"))
    page = get(client, "uploads/")
    assert page["results"]
    require(schema, UPLOAD, page)


def test_jobs_are_what_the_schema_says(schema: Any, stored: None, given_runner: None) -> None:
    path = f"{ROOT}jobs/"
    program = Client(headers={"authorization": f"Token {make_token('run')[1]}"})

    def asked(data: Any, status: int, tail: str = "") -> Any:
        answer = program.post(path + tail, json.dumps(data), content_type=JSON)
        assert answer.status_code == status, answer.content[:1_000]
        return answer.json()

    started = asked({"benchmark": "stream"}, 201)
    require(schema, path, started, "201", "post")
    cancelled = asked({}, 202, f"{started['id']}/cancel/")
    require(schema, f"{path}{{id}}/cancel/", cancelled, "202", "post")
    over = asked({}, 409, f"{started['id']}/cancel/")
    require(schema, f"{path}{{id}}/cancel/", over, "409", "post")
    require(schema, path, asked({"benchmark": "x"}, 400), "400", "post")
    host = get(program, "hosts/acme-host/")
    assert host["runners"]["stream"]["parameters"]
    require(schema, f"{ROOT}hosts/{{slug}}/", host)


def test_refused_uploads_are_what_the_schema_says(
    schema: Any, settings: Settings, tmp_path: Path
) -> None:
    settings.ARTEFACT_ROOT = tmp_path / "artefacts"
    client = with_token(make_lab("acme"))
    require(schema, UPLOAD, post(client, "", {"file": sent("x", b"x")}, 400), "400", "post")
    require(schema, UPLOAD, post(client, "", {"lab": "x"}, 400), "400", "post")
    require(schema, UPLOAD, post(Client(), "", {}, 401), "401", "post")
    data = {"file": a_log(), "publish": "1"}
    require(schema, UPLOAD, post(client, "", data, 403), "403", "post")


def test_the_schema_names_every_field_of_an_upload(schema: Any) -> None:
    def fields(path: str) -> set[str]:
        body = schema["paths"][path]["post"]["requestBody"]["content"]["multipart/form-data"]
        name = body["schema"]["$ref"].rpartition("/")[2]
        return set(schema["components"]["schemas"][name]["properties"])

    assert fields(UPLOAD) == {*ORDERS, "file"}
    assert fields(f"{UPLOAD}{{id}}/") == {*ANSWERS, "file"}
