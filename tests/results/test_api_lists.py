"""The API's lists: pages, filters, details, and a fixed number of queries."""

from __future__ import annotations

import pytest
from django.test import Client

from results.models import Artefact, Comparison, List, ListEntry, Measurement, Source
from tests.results.api_data import (
    ROOT,
    get,
    make_benchmark,
    make_lab,
    make_many,
    make_run,
    make_system,
    metric_of,
    queries_of,
    refused,
)

pytestmark = pytest.mark.django_db
LISTS = (
    "labs",
    "systems",
    "processors",
    "benchmarks",
    "metrics",
    "runs",
    "measurements",
    "uploads",
    "comparisons",
    "lists",
    "hosts",
    "jobs",
)


def test_the_root_lists_every_address_and_each_answers(client: Client) -> None:
    addresses = get(client, "")
    assert set(addresses) == {*LISTS, "compare", "compare.csv", "schema"}
    for name in LISTS:
        assert isinstance(get(client, f"{name}/")["results"], list)
        assert addresses[name] == f"http://testserver{ROOT}{name}/"


@pytest.mark.parametrize("path", ["", *(f"{name}/" for name in LISTS), "compare/", "compare.csv"])
@pytest.mark.parametrize("method", ["post", "put", "patch", "delete", "trace"])
def test_writing_is_answered_405(client: Client, path: str, method: str) -> None:
    answer = getattr(client, method)(ROOT + path)
    is_asked_who = method == "post" and path in ("uploads/", "jobs/")
    assert answer.status_code == (401 if is_asked_who else 405)
    assert set(answer.json()) == {"message", "fields"}
    assert is_asked_who or "GET" in answer["Allow"]


@pytest.mark.parametrize("path", ["", "systems/", "runs/", "compare/", "compare.csv"])
def test_asking_what_is_allowed_is_answered(client: Client, path: str) -> None:
    answer = client.options(ROOT + path)
    assert (answer.status_code, answer["Allow"]) == (200, "GET, HEAD, OPTIONS")
    assert client.head(ROOT + path).status_code in {200, 400}


def test_an_unknown_address_is_answered_404_in_the_same_form(client: Client) -> None:
    for path in (
        "nothing/",
        "hosts/x/",
        "runs/x/",
        "runs/1/x/",
        "systems/%00/",
        "systems/%ED%A0%80/",
    ):
        assert refused(client, path, status=404) == {}


def test_lists_are_cut_into_pages(client: Client) -> None:
    for number in range(7):
        make_system(f"acme-{number}")
    first = get(client, "systems/", {"search": "acme-", "page_size": 5})
    assert (first["count"], len(first["results"])) == (7, 5)
    second = client.get(first["next"]).json()
    slugs = [one["slug"] for one in first["results"] + second["results"]]
    assert slugs == [f"acme-{number}" for number in range(7)]
    assert second["next"] is None


def test_a_page_has_200_rows_at_most(client: Client) -> None:
    make_many(230)
    assert len(get(client, "runs/", {"lab": "acme", "page_size": "5000"})["results"]) == 200
    assert len(get(client, "runs/", {"lab": "acme"})["results"]) == 50


@pytest.mark.parametrize("value", ["0", "-1", "x", "1.5", "9" * 400, "9" * 5000, "", "٣"])
@pytest.mark.parametrize("name", ["page", "page_size"])
def test_page_numbers_that_are_none_are_refused(client: Client, name: str, value: str) -> None:
    assert set(refused(client, "systems/", {name: value[:500]})) == {name}


def test_a_page_behind_the_last_is_not_there(client: Client) -> None:
    assert refused(client, "systems/", {"page": "999999999"}, 404) == {}


@pytest.mark.parametrize(
    "cursor", ["x", "%%%", "cD1hYmM=", "cD0xZTk5", "cD0tMQ==", "\ufffd", "9" * 400, "bz0x"]
)
def test_a_forged_cursor_is_refused(client: Client, cursor: str) -> None:
    assert set(refused(client, "runs/", {"cursor": cursor})) == {"cursor"}


def test_cursors_walk_through_all_runs_newest_first(client: Client) -> None:
    make_many(12)
    seen: list[int] = []
    page = get(client, "runs/", {"lab": "acme", "page_size": 5})
    while True:
        seen += [run["id"] for run in page["results"]]
        if page["next"] is None:
            break
        page = client.get(page["next"]).json()
    assert len(seen) == 12
    assert seen == sorted(seen, reverse=True)


@pytest.mark.parametrize("name", LISTS)
def test_names_that_are_no_filter_are_refused_with_a_hint(client: Client, name: str) -> None:
    found = refused(client, f"{name}/", {"serch": "x", "ordering": "id"})
    assert set(found) == {"serch", "ordering"}
    if name not in ("runs", "measurements", "metrics", "uploads", "hosts", "jobs"):
        assert "did you mean search" in found["serch"][0]


def test_systems_are_found_by_lab_vendor_isa_and_words(client: Client) -> None:
    box = make_system("acme-box", vendor="Acme Corp")
    make_system("acme-spare")
    assert box.processor is not None
    box.processor.inferred = {"isa": "rv64"}
    box.processor.save()
    make_run(system=box)

    def found(**query: str) -> list[str]:
        return [one["slug"] for one in get(client, "systems/", query)["results"]]

    assert found(lab="acme") == ["acme-box"]
    assert found(vendor="acme corp") == ["acme-box"]
    assert found(isa="RV64", vendor="acme") == ["acme-box", "acme-spare"]
    assert found(search="SPARE acme") == ["acme-spare"]
    assert found(search="spare other") == []


def test_runs_are_found_by_what_they_are(client: Client) -> None:
    make_run(parameters={"placement": "all", "threads": 8})
    make_run(parameters={"placement": "local"}, scope="socket")
    make_run({"benchPEP.performance": 1.0}, benchmark=make_benchmark("gromacs"), parameters={})

    def count(**query: str) -> int:
        return len(get(client, "runs/", {"lab": "acme", **query})["results"])

    assert count() == 3
    assert count(benchmark="stream") == 2
    assert count(system="acme-box", scope="socket") == 1
    assert count(**{"param.placement": "local"}) == 1
    assert count(**{"param.threads": "8"}) == 1
    assert count(**{"param.threads": "8.0"}) == 1
    assert count(**{"param.threads": ""}) == 2
    assert count(**{"param.threads": "9" * 300}) == 0
    assert count(state="published") == 3


def test_measurements_are_found_by_what_they_are(client: Client) -> None:
    run = make_run({"triad.bandwidth": 100.0, "copy.bandwidth": 90.0})
    make_run({"triad.bandwidth": 50.0}, parameters={"placement": "local"})

    def values(**query: str) -> list[float]:
        found = get(client, "measurements/", {"lab": "acme", **query})["results"]
        return [one["value"] for one in found]

    assert values(metric="triad.bandwidth") == [50.0, 100.0]
    assert values(run=str(run.pk)) == [90.0, 100.0]
    assert values(system="acme-box", benchmark="stream", metric="copy.bandwidth") == [90.0]
    assert values(**{"param.placement": "local"}) == [50.0]


@pytest.mark.parametrize(
    ("path", "name", "value"),
    [
        ("runs/", "system", "acme-bx"),
        ("runs/", "benchmark", "streem"),
        ("runs/", "lab", "nobody"),
        ("runs/", "scope", "galaxy"),
        ("runs/", "state", "lost"),
        ("runs/", "param.placment", "all"),
        ("runs/", "system", "a\x00b"),
        ("runs/", "system", "x" * 10_000),
        ("measurements/", "metric", "triad.bandwith"),
        ("measurements/", "run", "9" * 400),
        ("measurements/", "run", "1e5"),
        ("systems/", "lab", "nobody"),
        ("systems/", "search", "\x00"),
        ("benchmarks/", "category", "magic"),
    ],
)
def test_values_that_are_not_known_are_refused(
    client: Client, path: str, name: str, value: str
) -> None:
    make_system("acme-box")
    assert set(refused(client, path, {name: value})) == {name}


def test_a_filter_given_twice_is_refused(client: Client) -> None:
    assert set(refused(client, "runs/", {"lab": ["acme", "acme"]})) == {"lab"}


@pytest.mark.parametrize("number", ["0", "999999999999999999", "9" * 19, "9" * 400, "-1"])
@pytest.mark.parametrize("name", ["runs", "measurements", "metrics", "uploads"])
def test_numbers_that_nothing_has_are_not_found(client: Client, name: str, number: str) -> None:
    assert refused(client, f"{name}/{number}/", status=404) == {}


def test_details_are_found_by_slug(client: Client) -> None:
    make_run()
    assert get(client, "labs/acme/")["name"] == "Acme"
    assert get(client, "processors/acme-64/")["cores"] == 64
    system = get(client, "systems/acme-box/")
    assert (system["processor"], system["cores"], system["members"]) == ("acme-64", 128, [])
    benchmark = get(client, "benchmarks/stream/")
    assert benchmark["workloads"][0]["slug"] == "triad"
    assert {one["name"] for one in benchmark["parameters"]} >= {"placement", "threads"}
    metric = benchmark["metrics"][0]
    assert (metric["name"], metric["metric"]) == ("triad.bandwidth", "bandwidth")
    assert "peak" in metric["per"]
    assert get(client, f"metrics/{metric['id']}/") == metric


def test_a_run_tells_what_was_measured_and_where_it_was_read(client: Client) -> None:
    artefact = Artefact.objects.create(sha256="a" * 64, name="stream.log", size=12)
    run = make_run(trust=1)
    run.artefacts.add(artefact)
    Measurement.objects.filter(run=run).update(artefact=artefact, line_from=27, line_to=28)
    found = get(client, f"runs/{run.pk}/")
    assert (found["lab"], found["trust"], found["setup"]) == (
        "acme",
        "verified",
        {"os": "Debian 12"},
    )
    assert found["artefacts"] == [{"name": "stream.log", "sha256": "a" * 64, "size": 12}]
    (reading,) = found["measurements"]
    assert (reading["metric"], reading["value"], reading["unit"]) == (
        "triad.bandwidth",
        100.0,
        "GB/s",
    )
    assert reading["evidence"] == {
        "artefact": "stream.log",
        "sha256": "a" * 64,
        "lines": [27, 28],
    }


def test_a_value_from_a_source_names_it(client: Client) -> None:
    source = Source.objects.create(slug="acme-review", title="A review", language=["en"])
    run = make_run(source=source)
    (found,) = get(client, "measurements/", {"run": run.pk})["results"]
    assert found["evidence"]["source"]["title"] == "A review"


def test_a_list_tells_its_places_and_a_comparison_its_address(client: Client) -> None:
    metric = metric_of(make_benchmark(), "triad.bandwidth")
    source = Source.objects.create(slug="acme-list", title="A list")
    ranking = List.objects.create(
        slug="acme-top", title="Top", metric=metric, source=source, length=1
    )
    ListEntry.objects.create(list=ranking, rank=1, label="Box", value=7, system=make_system())
    found = get(client, "lists/acme-top/")
    assert (found["metric"], found["unit"]) == ("triad.bandwidth", "GB/s")
    assert found["entries"][0]["system"] == "acme-box"
    Comparison.objects.create(slug="acme-two", title="Two", columns=["a", "b"], factor="smt")
    assert get(client, "comparisons/acme-two/")["address"] == "?system=a&system=b&factor=smt"


@pytest.mark.parametrize("name", LISTS)
def test_a_list_takes_the_same_few_queries_whatever_is_stored(client: Client, name: str) -> None:
    make_many(10)
    few = queries_of(client, f"{name}/", {"page_size": 200})
    make_many(990)
    for number in range(50):
        make_lab(f"lab-{number}")
        make_system(f"acme-{number}")
        make_benchmark("gromacs")
    assert queries_of(client, f"{name}/", {"page_size": 200}) == few
    assert few <= 4
