"""League tables: who stands where, and where a value of one's own would."""

from __future__ import annotations

import pytest

from results import catalogue
from results.models import Metric, Run
from results.pages.league import League, leagues, place_in_leagues, place_in_lists
from results.queries import listings
from results.services import edit_not_ranked
from tests.results.made import run, store, system

pytestmark = pytest.mark.django_db


def league_of(benchmark: str, name: str) -> list[League]:
    workload, _, short = name.rpartition(".")
    metric = Metric.objects.get(benchmark__slug=benchmark, workload=workload, name=short)
    described = catalogue.benchmarks()[benchmark]
    entry = described.metric(name)
    assert entry is not None
    cells = listings.metric_cells(metric)
    systems = listings.systems_by_id({cell.system_id for cell in cells})
    return leagues(described, entry, cells, systems)


def test_the_reference_triads_are_ranked_across_variants_with_their_own_words(
    reference: None,
) -> None:
    (league,) = league_of("stream", "triad.bandwidth")
    first, second = league.entries[:2]
    assert (first.system.short, first.value, first.rank) == ("Vera", 2073, 1)
    assert first.words.startswith("system · own memory")
    assert (second.system.short, second.rank) == ("Vera", 2)
    assert "interleaved" in second.words


def test_a_group_is_shown_without_a_rank(reference: None) -> None:
    (league,) = league_of("stream", "triad.bandwidth")
    group = next(e for e in league.entries if e.system.slug == "dell-c6525-rome")
    assert group.rank is None
    assert league.entries.index(group) >= league.ranked


def test_a_range_stands_at_the_end_without_a_rank(reference: None) -> None:
    (league,) = league_of("clickbench", "hot.time")
    ranges = [entry for entry in league.entries if entry.is_range]
    assert len(ranges) == 3
    assert all(entry.rank is None and entry.why == "range" for entry in ranges)
    assert league.entries[-3:] == ranges


def test_a_run_kept_out_of_ranks_takes_nobodys_place() -> None:
    ids = store(
        system("a"),
        system("b"),
        run("a", "scale.bandwidth", 10),
        run("b", "scale.bandwidth", 5),
    )
    edit_not_ranked(runs=[ids[0]], because="shared machine", actor=None)
    (league,) = league_of("stream", "scale.bandwidth")
    assert [(e.system.slug, e.rank) for e in league.entries] == [("b", 1), ("a", None)]


def test_equal_values_share_a_place() -> None:
    parts = [system(slug) for slug in "abc"]
    store(*parts, *(run(s, "scale.bandwidth", v) for s, v in zip("abc", (9, 9, 4), strict=True)))
    (league,) = league_of("stream", "scale.bandwidth")
    assert [entry.rank for entry in league.entries] == [1, 1, 3]


def test_other_setups_of_a_system_are_counted_not_listed() -> None:
    store(
        system("a"),
        run("a", "scale.bandwidth", 10, setup={"os": "Debian 12"}),
        run("a", "scale.bandwidth", 12, setup={"os": "Debian 13"}),
    )
    (league,) = league_of("stream", "scale.bandwidth")
    (entry,) = league.entries
    assert entry.others == 1


def test_values_of_different_scale_are_ranked_apart(reference: None) -> None:
    assert len(league_of("kernel_build", "allmodconfig.time")) == 2


def test_a_lower_value_places_better_where_lower_is_better(reference: None) -> None:
    metric = catalogue.benchmarks()["clickbench"].metric("cold.time")
    assert metric is not None
    found = league_of("clickbench", "cold.time")
    assert [(p.rank, p.among) for p in place_in_leagues(1.0, metric, found)] == [(1, 8)]
    assert [(p.rank, p.among) for p in place_in_leagues(99.0, metric, found)] == [(8, 8)]


def test_a_value_is_placed_in_the_published_lists(reference: None) -> None:
    metric = catalogue.benchmarks()["stream"].metric("triad.bandwidth")
    assert metric is not None
    lists = listings.lists_of(
        Metric.objects.get(benchmark__slug="stream", workload="triad", name="bandwidth")
    )
    placed = {p.title: p for p in place_in_lists(40.0, metric, lists)}
    one = placed["STREAM standard results, 1 CPU, top 15"]
    assert (one.rank, one.among, one.inside) == (2, 15, True)
    behind = place_in_lists(0.1, metric, lists)
    assert [(p.rank, p.inside) for p in behind] == [(16, False), (16, False)]


def test_what_is_not_published_is_in_no_league() -> None:
    store(system("a"), run("a", "scale.bandwidth", 10), state="draft")
    assert Run.objects.filter(system__slug="a").exists()
    assert league_of("stream", "scale.bandwidth") == []
