"""The list of systems, and a system's page."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from results.models import System
from results.services import withdraw
from tests.results.made import run, store, system
from tests.results.pages import member, read, source_of

pytestmark = pytest.mark.django_db
VERA = "/systems/nvidia-mgx-vera-c2/"


def slugs(client: Client, query: str) -> list[str]:
    page = source_of(client, f"/systems/{query}")
    return re.findall(r'<th scope="row"><a href="/systems/([^/]+)/"', page)


def test_all_systems_are_listed_those_with_results_first(client: Client, reference: None) -> None:
    found = slugs(client, "")
    assert len(found) == 38
    assert found.index("nvidia-mgx-vera-c2") < found.index("dell-c6525-epyc-7702")
    text = read(client, "/systems/")
    assert "59 figures" in text
    assert text.count("no figures") == 6


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?q=vera", {"nvidia-mgx-vera-c2"}),
        ("?q=poweredge+9965", {"dell-r7725-epyc-9965"}),
        ("?lab=hpc-technologies", {"hpct-dper610-xeon-x5570"}),
        ("?isa=Armv9.2", {"nvidia-mgx-vera-c2"}),
        ("?vendor=Fujitsu", {"stream-fujitsu-vpp5000"}),
        ("?q=epyc&lab=dell-hpc-lab", {"dell-c6525-rome", "dell-c6525-epyc-7452"}),
    ],
)
def test_the_list_is_searched_and_filtered(
    client: Client, reference: None, query: str, expected: set[str]
) -> None:
    assert set(slugs(client, query)) == expected


@pytest.mark.parametrize("query", ["?q=nothing-of-the-kind", "?lab=gone", "?vendor=%3Cb%3E"])
def test_a_filter_that_nothing_fits_says_what_to_do(
    client: Client, reference: None, query: str
) -> None:
    assert "No system fits." in read(client, f"/systems/{query}")


@pytest.mark.parametrize("query", ["?page=0", "?page=999", "?page=x", "?q=" + "x" * 5000, "?q=%00"])
def test_odd_queries_are_answered_all_the_same(client: Client, reference: None, query: str) -> None:
    assert client.get(f"/systems/{query}").status_code == 200


def test_a_system_that_is_asked_for_is_chosen(client: Client, reference: None) -> None:
    page = source_of(client, "/systems/?system=nvidia-mgx-vera-c2")
    chosen = re.findall(r'value="([^"]+)" id="[^"]+" checked', page)
    assert chosen == ["nvidia-mgx-vera-c2"]


def test_more_systems_than_a_page_holds_are_paged_and_keep_the_filter(client: Client) -> None:
    store(*(system(f"made-{n:03}") for n in range(60)), run("made-000", "triad.bandwidth", 1))
    page = source_of(client, "/systems/?q=made")
    assert "60 systems, 1 to 50 shown" in read(client, "/systems/?q=made")
    assert 'href="?q=made&amp;page=2"' in page
    assert len(slugs(client, "?q=made&page=2")) == 10


def test_a_system_says_what_it_is_stated_and_inferred_apart(
    client: Client, reference: None
) -> None:
    text = read(client, "/systems/dell-r770-xeon-6787p/")
    assert "Xeon 6787P" in text
    assert "Microarchitecture Granite Rapids * inferred" in text
    assert "Capacity 2,048 GB" in text
    assert "Channels 16 * inferred" in text


def test_the_figures_of_a_system_name_unit_direction_and_variant(
    client: Client, reference: None
) -> None:
    text = read(client, VERA)
    assert "All figures are single ones (n = 1)." in text
    assert re.search(r"STREAM Triad system · own memory.* 2,073 GB/s ↑ higher is better", text)
    assert "Sources" in text
    assert "Language: Japanese and Korean." in text


def test_each_figure_of_a_system_leads_to_its_run(client: Client, reference: None) -> None:
    runs = set(re.findall(r'href="(/runs/\d+/)"', source_of(client, VERA)))
    assert len(runs) > 40
    assert client.get(min(runs)).status_code == 200


def test_a_system_leads_to_comparisons_with_its_like(client: Client, reference: None) -> None:
    page = source_of(client, VERA)
    address = "/compare/?system=nvidia-mgx-vera-c2&amp;system=dell-r7725-epyc-9965"
    assert address in page
    assert client.get(address.replace("&amp;", "&")).status_code == 200


def test_a_group_names_its_members_and_they_name_it(client: Client, reference: None) -> None:
    group = source_of(client, "/systems/dell-c6525-rome/")
    assert "never ranked" in group
    assert 'href="/systems/dell-c6525-epyc-7702/"' in group
    part = read(client, "/systems/dell-c6525-epyc-7702/")
    assert "Quoted together with others in:" in part
    assert "No figure of this system is published." in part


def test_an_unknown_system_is_not_found(client: Client) -> None:
    assert client.get("/systems/no-such/").status_code == 404


def test_a_withdrawn_figure_is_gone_from_the_page(client: Client) -> None:
    ids = store(system("a"), run("a", "triad.bandwidth", 77.7))
    assert "77.7 GB/s" in read(client, "/systems/a/")
    withdraw(runs=ids, actor=None, reason="wrong clock")
    assert "77.7" not in read(client, "/systems/a/")


def test_unpublished_runs_are_listed_for_their_lab_only(client: Client) -> None:
    store(system("a"))
    store(run("a", "triad.bandwidth", 77.7), state="draft")
    assert "Runs" not in read(client, "/systems/a/")
    text = read(member(), "/systems/a/")
    assert "draft" in text
    assert "77.7" not in text


def test_names_are_escaped_everywhere(client: Client) -> None:
    evil = '<script>alert("x")</script>'
    store(system("a"), run("a", "triad.bandwidth", 1))
    System.objects.filter(slug="a").update(name=evil, vendor=evil, note=evil, memory_config=evil)
    for address in ("/systems/", "/systems/a/", "/benchmarks/stream/"):
        assert "<script>alert" not in source_of(client, address)


def test_an_east_asian_name_is_marked_with_its_language(client: Client) -> None:
    store(system("a"), run("a", "triad.bandwidth", 1))
    System.objects.filter(slug="a").update(name="富岳ノード")
    assert '<h1 lang="ja">' in source_of(client, "/systems/a/")


def test_another_filter_keeps_what_is_ticked(client: Client, reference: None) -> None:
    ticked = "system=nvidia-mgx-vera-c2&system=dell-r7725-epyc-9965&system=unheard-of"
    page = source_of(client, f"/systems/?q=epyc&{ticked}")
    assert re.findall(r'value="([^"]+)" (?:id="[^"]+" )?checked', page) == [
        "nvidia-mgx-vera-c2",
        "dell-r7725-epyc-9965",
    ]
    assert "Chosen before, and kept: Vera" in read(client, f"/systems/?q=epyc&{ticked}")
    assert "Chosen before" not in read(client, f"/systems/?{ticked}")


def test_the_chosen_systems_are_compared_without_the_filter(
    client: Client, reference: None
) -> None:
    asked = "system=nvidia-mgx-vera-c2&system=dell-r7725-epyc-9965"
    answer = client.get(f"/systems/?q=epyc&{asked}&compare=chosen")
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/compare/?{asked}")
    assert client.get("/systems/?compare=chosen").headers["Location"] == "/compare/"


def test_facts_have_readable_names(client: Client, reference: None) -> None:
    text = read(client, "/systems/dell-c6525-rome/")
    assert "IO die 14 nm" in text
    assert "CCX per CCD 2" in text
