"""The comparison as JSON and as a table: the contract's shape, from hand-made summaries."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.test import Client

from results.api.csv import defuse
from results.models import Comparison
from tests.results.api_data import (
    ROOT,
    get,
    make_benchmark,
    make_run,
    make_summary,
    make_system,
    queries_of,
    refused,
)

pytestmark = pytest.mark.django_db
PAIR: dict[str, Any] = {"system": ["acme-a", "acme-b"]}


@pytest.fixture
def pair() -> None:
    """Box a twice as fast as box b in Triad; in Copy, a has a reported range."""
    for slug, value in (("acme-a", 200.0), ("acme-b", 100.0)):
        run = make_run({"triad.bandwidth": value}, system=make_system(slug))
        make_summary(run)
    run = make_run({"copy.bandwidth": 1.0}, system=make_system("acme-a"))
    make_summary(run, "copy.bandwidth", n=0, median=None, low=80.0, high=90.0, ranges=1)
    run = make_run({"copy.bandwidth": 95.0}, system=make_system("acme-b"))
    make_summary(run, "copy.bandwidth", n=3, low=94.0, high=97.0)


def cells(answer: dict[str, Any], workload: str) -> dict[str, Any]:
    """The cells of the only row of a workload."""
    (row,) = [row for row in answer["rows"] if row["workload"] == workload]
    found: dict[str, Any] = row["cells"]
    return found


def test_a_row_and_its_cells_have_the_shape_of_the_contract(client: Client, pair: None) -> None:
    answer = get(client, "compare/", PAIR)
    assert [column["key"] for column in answer["columns"]] == ["acme-a", "acme-b"]
    assert answer["columns"][0] | {"label": ""} == {
        "key": "acme-a",
        "system": "acme-a",
        "pins": {},
        "label": "",
        "cores": 128,
        "sockets": 2,
    }
    assert (answer["baseline"], answer["factor"], answer["per"]) == ("acme-a", "system", "total")
    row = answer["rows"][0]
    assert {name: row[name] for name in ("benchmark", "workload", "metric", "unit", "better")} == {
        "benchmark": "stream",
        "workload": "triad",
        "metric": "bandwidth",
        "unit": "GB/s",
        "better": "higher",
    }
    assert (row["scope"], row["variant"]) == ("system", {"placement": "all"})
    cell = row["cells"]["acme-b"]
    assert {k: v for k, v in cell.items() if k != "run"} == {
        "value": 100.0,
        "raw": 100.0,
        "denominator": None,
        "n": 1,
        "qualifier": "exact",
        "ratio": 0.5,
        "rank": 2,
        "class": None,
        "reasons": [],
        "lab": "acme",
        "trust": "community",
    }
    assert answer["geomean"] == {"acme-a": 1.0, "acme-b": 0.5}
    assert (answer["common_rows"], answer["left_out"]) == (1, [])


def test_a_range_has_ends_and_no_value_ratio_or_rank(client: Client, pair: None) -> None:
    found = cells(get(client, "compare/", PAIR), "copy")
    reported = found["acme-a"]
    assert (reported["range"], reported["low"], reported["high"]) == (True, 80.0, 90.0)
    assert (reported["value"], reported["raw"]) == (None, None)
    assert (reported["ratio"], reported["rank"]) == (None, None)
    assert (found["acme-b"]["n"], found["acme-b"]["low"], found["acme-b"]["high"]) == (3, 94, 97)
    assert "range" not in found["acme-b"]


def test_normalised_values_stand_beside_raw_and_denominator(client: Client, pair: None) -> None:
    answer = get(client, "compare/", {**PAIR, "per": "core", "baseline": "acme-b"})
    cell = cells(answer, "triad")["acme-a"]
    assert (cell["value"], cell["raw"], cell["denominator"]) == (200 / 128, 200.0, 128)
    assert answer["rows"][0]["value_unit"] == "GB/s per core"
    assert cell["ratio"] == 2.0
    missing = cells(get(client, "compare/", {**PAIR, "per": "price"}), "triad")["acme-a"]
    assert missing["value"] is None
    assert "price" in missing["missing"]


def test_an_axis_gives_points_and_the_best_point_says_where_it_lies(client: Client) -> None:
    for threads, value in ((1, 10.0), (16, 90.0), (8, 70.0)):
        make_summary(make_run({"triad.bandwidth": value}), axis={"threads": threads})
    query = {"system": "acme-box"}
    cell = cells(get(client, "compare/", query), "triad")["acme-box"]
    assert (cell["value"], cell["at"]) == (90.0, {"threads": 16})
    assert "points" not in cell
    cell = cells(get(client, "compare/", {**query, "axis": "threads"}), "triad")["acme-box"]
    assert cell["points"] == [
        [1, 10.0, None, None, 1],
        [8, 70.0, None, None, 1],
        [16, 90.0, None, None, 1],
    ]


def test_without_systems_the_default_comparison_is_answered(client: Client, pair: None) -> None:
    Comparison.objects.update(is_default=False)
    Comparison.objects.create(
        slug="acme", title="Acme", columns=["acme-a", "acme-b"], baseline="acme-b", is_default=True
    )
    answer = get(client, "compare/")
    assert (list(answer["geomean"]), answer["baseline"]) == (["acme-a", "acme-b"], "acme-b")
    assert get(client, "compare/", {"baseline": "acme-a"})["baseline"] == "acme-a"
    assert get(client, "compare/", {"system": "acme-a"})["baseline"] == "acme-a"


def test_without_systems_and_without_a_default_the_answer_says_what_is_missing(
    client: Client,
) -> None:
    Comparison.objects.all().delete()
    assert "at least one system" in refused(client, "compare/")["system"][0]


def test_without_a_common_row_there_is_no_mean(client: Client, pair: None) -> None:
    run = make_run({"scale.bandwidth": 5.0}, system=make_system("acme-c"))
    make_summary(run, "scale.bandwidth")
    answer = get(client, "compare/", {"system": ["acme-a", "acme-c"]})
    assert (answer["geomean"], answer["common_rows"]) == (None, 0)
    assert len(answer["rows"]) == 3


def test_a_system_without_results_is_an_empty_column(client: Client, pair: None) -> None:
    make_system("acme-new")
    answer = get(client, "compare/", {"system": ["acme-a", "acme-new"]})
    assert [column["key"] for column in answer["columns"]] == ["acme-a", "acme-new"]
    assert all("acme-new" not in row["cells"] for row in answer["rows"])


@pytest.mark.parametrize(
    ("query", "name", "hint"),
    [
        ({"system": "acme-aa"}, "system", "acme-a"),
        ({"system": "acme-a@smtt=on"}, "system", "smt"),
        ({"system": "acme-a@smt"}, "system", "name=value"),
        ({"factor": "enginee"}, "factor", "engine"),
        ({"per": "cores"}, "per", "core"),
        ({"axis": "placement"}, "axis", "expected one of"),
        ({"baseline": "acme-c"}, "baseline", "acme-"),
        ({"baseline": "@"}, "baseline", "slug"),
        ({"benchmark": "streem"}, "benchmark", "stream"),
        ({"benchmark": "stream/tirad"}, "benchmark", "triad"),
        ({"benchmark": "stream/"}, "benchmark", "workload"),
        ({"param.placment": "all"}, "param.placment", "placement"),
        ({"sistem": "acme-a"}, "sistem", "system"),
        ({"format": "json"}, "format", "did you mean"),
        ({"system": [f"s{n}" for n in range(500)]}, "system", "at most 50"),
        ({"system": "acme-a\x00"}, "system", "control character"),
        ({"system": "x" * 10_000}, "system", "at most 500"),
        ({"baseline": "acme-a@" + "=" * 400}, "baseline", "name=value"),
        ({"factor": ["smt", "engine"]}, "factor", "more than once"),
    ],
)
@pytest.mark.parametrize("path", ["compare/", "compare.csv"])
def test_bad_questions_are_refused_by_name_with_a_hint(
    pair: None, path: str, query: dict[str, Any], name: str, hint: str
) -> None:
    found = refused(Client(), path, PAIR | query)
    assert set(found) == {name}
    assert hint in found[name][0]


def test_all_that_is_wrong_is_told_at_once(client: Client) -> None:
    query = {"system": "acme-a@x", "factor": "nothing", "per": "cores", "axis": "y"}
    assert set(refused(client, "compare/", query)) == {"system", "factor", "per", "axis"}


def test_broken_encoding_is_an_unknown_system(client: Client) -> None:
    answer = client.get(f"{ROOT}compare/?system=%ED%A0%80%FF")
    assert answer.status_code == 400
    assert set(answer.json()["fields"]) == {"system"}


def test_too_many_fields_are_refused_in_the_same_form(client: Client) -> None:
    answer = client.get(f"{ROOT}compare/?" + "system=a&" * 1500)
    assert answer.status_code == 400
    message = "The address has more than 1000 names and values."
    assert answer.json() == {"message": message, "fields": {}}


def test_numbers_that_json_has_no_word_for_become_null(client: Client) -> None:
    run = make_run({"triad.bandwidth": 1e300}, system=make_system("acme-free", price_usd=1e-9))
    make_summary(run)
    answer = client.get(f"{ROOT}compare/", {"system": "acme-free", "per": "price"})
    cell = json.loads(answer.content, parse_constant=pytest.fail)["rows"][0]["cells"]["acme-free"]
    assert (cell["value"], cell["raw"]) == (None, 1e300)


def test_numbers_keep_their_full_precision(client: Client) -> None:
    make_summary(make_run({"triad.bandwidth": 0.1 + 0.2}))
    found = cells(get(client, "compare/", {"system": "acme-box"}), "triad")
    assert found["acme-box"]["value"] == 0.1 + 0.2


def table(client: Client, query: dict[str, Any]) -> list[dict[str, str]]:
    answer = client.get(f"{ROOT}compare.csv", query, headers={"accept": "text/csv"})
    assert answer.status_code == 200
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"] == 'attachment; filename="comparison.csv"'
    text = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    return list(csv.DictReader(io.StringIO(text)))


def test_the_table_says_what_the_json_says(client: Client, pair: None) -> None:
    answer, lines = (
        get(client, "compare/", {**PAIR, "per": "core"}),
        table(client, {**PAIR, "per": "core"}),
    )
    assert len(lines) == sum(len(row["cells"]) for row in answer["rows"])
    by_place = {(line["workload"], line["column"]): line for line in lines}
    for row in answer["rows"]:
        for key, cell in row["cells"].items():
            line = by_place[row["workload"], key]
            assert (line["unit"], line["variant"]) == ("GB/s", "placement=all")
            for name in ("value", "raw", "denominator", "n", "low", "high", "ratio", "rank", "run"):
                number = cell.get(name)
                assert line[name] == ("" if number is None else str(number))


def test_points_of_an_axis_are_lines_of_their_own(client: Client) -> None:
    for threads, value in ((1, 10.0), (16, 90.0)):
        make_summary(make_run({"triad.bandwidth": value}), axis={"threads": threads})
    lines = table(client, {"system": "acme-box", "axis": "threads"})
    assert [(line["at"], line["point"], line["value"]) for line in lines] == [
        ("threads=16", "", "90.0"),
        ("", "1", "10.0"),
        ("", "16", "90.0"),
    ]


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r"])
def test_text_that_begins_like_a_formula_is_defused(sign: str) -> None:
    assert defuse(f"{sign}1+1") == f"'{sign}1+1"


@pytest.mark.parametrize("value", [-1.5, 7, None, "plain", "a=b", ""])
def test_numbers_and_plain_text_stay_as_they_are(value: Any) -> None:
    assert defuse(value) == value


def test_formulas_in_names_are_defused_in_the_table(client: Client) -> None:
    run = make_run()
    run.lab.slug = "=HYPERLINK(1)"
    run.lab.save()
    make_summary(run)
    assert table(client, {"system": "acme-box"})[0]["lab"] == "'=HYPERLINK(1)"


def test_a_comparison_takes_the_same_few_queries_whatever_is_stored(
    client: Client, pair: None
) -> None:
    few = queries_of(client, "compare/", PAIR)
    for number in range(60):
        run = make_run(
            {"benchPEP.performance": 1.0},
            benchmark=make_benchmark("gromacs"),
            system=make_system(f"acme-{'ab'[number % 2]}"),
            parameters={"cores": number + 1},
        )
        make_summary(run, "benchPEP.performance")
    assert queries_of(client, "compare/", PAIR) == few
    assert few <= 6
    Comparison.objects.update(is_default=False)
    Comparison.objects.create(slug="acme", title="Acme", columns=PAIR["system"], is_default=True)
    assert queries_of(client, "compare/") == few + 1


def test_an_unchanged_answer_is_not_sent_again(client: Client, pair: None) -> None:
    first = client.get(f"{ROOT}compare/", PAIR)
    again = client.get(f"{ROOT}compare/", PAIR, headers={"if-none-match": first["ETag"]})
    assert again.status_code == 304
