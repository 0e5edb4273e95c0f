"""The catalogue, and a benchmark's page with its league tables."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from results import catalogue
from tests.results.made import run, store, system
from tests.results.pages import read, source_of

pytestmark = pytest.mark.django_db
TRIAD = "/benchmarks/stream/?metric=triad.bandwidth"


def test_every_benchmark_of_the_catalogue_is_listed_with_what_it_stresses(
    client: Client, reference: None
) -> None:
    text = read(client, "/benchmarks/")
    for benchmark in catalogue.benchmarks().values():
        assert benchmark.name in text
        assert benchmark.stresses in text
    assert "no figures yet" in text


@pytest.mark.parametrize("slug", list(catalogue.benchmarks()))
def test_every_benchmark_has_a_page(client: Client, reference: None, slug: str) -> None:
    benchmark = catalogue.benchmarks()[slug]
    text = read(client, f"/benchmarks/{slug}/")
    assert benchmark.stresses in text
    assert benchmark.rules in text
    assert benchmark.caveat in text
    for parameter in benchmark.parameters:
        assert parameter.name in text


def test_the_league_says_who_leads_in_which_unit_and_direction(
    client: Client, reference: None
) -> None:
    text = read(client, TRIAD)
    assert "Vera leads in STREAM Triad with 2,073 GB/s" in text
    assert "STREAM Triad, GB/s, higher is better." in text
    assert "n = 1 each." in text


def test_every_entry_of_the_league_names_its_variant_and_leads_to_its_run(
    client: Client, reference: None
) -> None:
    page = source_of(client, TRIAD)
    rows = re.findall(r'<td class="how">([^<]+)', page)
    assert len(rows) == 50
    assert all(row.strip() for row in rows)
    runs = re.findall(r'<a class="v-link" href="([^"]+)"', page)
    assert client.get(runs[0]).status_code == 200


def test_groups_and_ranges_stand_without_a_place(client: Client, reference: None) -> None:
    page = source_of(client, TRIAD)
    assert re.search(r'<td class="rk place">(range|group)</td>.{0,200}EPYC Rome', page)


def test_another_metric_is_chosen_by_the_address(client: Client, reference: None) -> None:
    text = read(client, "/benchmarks/valkey/?metric=get.latency_p99")
    assert "Valkey GET p99" in text
    assert "ms, lower is better." in text


@pytest.mark.parametrize("query", ["?metric=no.such", "?metric=%00", "?value=5", "?unit=MB/s"])
def test_odd_queries_are_answered_with_the_first_metric(
    client: Client, reference: None, query: str
) -> None:
    assert "STREAM Triad" in read(client, f"/benchmarks/stream/{query}")


def test_my_value_is_placed_in_the_league_and_in_the_lists(client: Client, reference: None) -> None:
    text = read(client, f"{TRIAD}&value=40,000&unit=MB/s")
    assert "40.0 GB/s would be number 17 of 50 here." in text
    assert "Number 2 of the 15 in ‘STREAM standard results, 1 CPU, top 15’." in text
    assert "Number 4 of the 15 in ‘STREAM standard results, 2 CPUs, top 15’." in text
    assert "17 Your value would stand here" in text


def test_a_value_behind_a_whole_list_is_said_to_be_so(client: Client, reference: None) -> None:
    assert "Behind all 15 in ‘STREAM standard results, 1 CPU" in read(client, f"{TRIAD}&value=1")


@pytest.mark.parametrize("value", ["abc", "NaN", "Infinity", "-5", "0", "1e999", "9" * 41])
def test_a_value_that_is_no_measurement_is_refused_in_words(
    client: Client, reference: None, value: str
) -> None:
    page = source_of(client, f"{TRIAD}&value={value}")
    assert 'role="alert"' in page
    assert "would stand here" not in page


@pytest.mark.parametrize(("value", "unit"), [("5", "ms"), ("5", "furlong"), ("5", "<script>")])
def test_a_unit_that_does_not_convert_is_refused_by_name(
    client: Client, reference: None, value: str, unit: str
) -> None:
    page = source_of(client, f"{TRIAD}&value={value}&unit={unit}")
    assert "expected one of GB/s" in page
    assert "<script>" not in page.split("<main", 1)[1].split("</main>", 1)[0]


def test_kernel_trees_have_leagues_of_their_own(client: Client, reference: None) -> None:
    text = read(client, "/benchmarks/kernel_build/")
    assert text.count("its values are not ranked against the others") == 2


def test_several_runs_show_how_many_stand_behind_a_value(client: Client) -> None:
    store(
        system("a"),
        run("a", "scale.bandwidth", 10, node="n1"),
        run("a", "scale.bandwidth", 12, node="n2"),
    )
    text = read(client, "/benchmarks/stream/?metric=scale.bandwidth")
    assert re.search(r"\b11\s+n = 2", text)
    assert "n = 1 each." not in text


def test_an_empty_league_says_so(client: Client, reference: None) -> None:
    text = read(client, "/benchmarks/stream/?metric=scale.bandwidth")
    assert "No figure of this metric is published yet." in text


def test_an_unknown_benchmark_is_not_found(client: Client) -> None:
    assert client.get("/benchmarks/no-such/").status_code == 404
