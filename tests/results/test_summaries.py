"""Summaries: what they say of their runs, however the runs came and went."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from statistics import median
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from results import sync
from results.models import Loaded, Measurement, Run, Summary, System, Trust
from results.services import edit_not_ranked, publish, refresh_systems, withdraw
from results.summaries import rebuild
from results.summaries.merging import read_samples, write_samples
from tests.results.bundles import OTHER, SYSTEM, bundle, ingest, measurement, run

pytestmark = pytest.mark.django_db

LOCAL = {"placement": "local", "smt": "off", "threads": 64}
SCHBENCH = {
    "benchmark": "schbench",
    "version": "1.0",
    "parameters": {"message_threads": 1, "workers_per_cpu": 1},
}


def store(*values: float, **changes: Any) -> list[int]:
    """Runs with these triad values, one a node."""
    runs = [run(measurement(v), **{"node": f"n{n}", **changes}) for n, v in enumerate(values)]
    return ingest(bundle(*runs)).created


def cell(runs: Sequence[int], metric: str = "triad") -> Summary:
    """The one cell of that workload that the runs are in."""
    links = Measurement.objects.filter(run__in=runs, metric__workload=metric)
    return Summary.objects.get(pk__in=links.values("summary"))


def facts(summary: Summary) -> dict[str, Any]:
    """All that a summary says, but for its number and the order in which nodes came."""
    names = [field.attname for field in Summary._meta.concrete_fields if field.name != "id"]
    found = {name: getattr(summary, name) for name in names}
    return {**found, "samples": bytes(summary.samples), "node_names": sorted(summary.node_names)}


def everything() -> dict[str, dict[str, Any]]:
    return {summary.key: facts(summary) for summary in Summary.objects.all()}


def test_median_ends_and_best_run_by_hand() -> None:
    runs = store(30, 10, 40, 20)
    found = cell(runs)
    assert (found.n, found.median, found.low, found.high) == (4, 25.0, 10.0, 40.0)
    assert (found.best_run_id, found.nodes_seen, found.ranges) == (runs[2], 4, 0)
    assert read_samples(found.samples) == [10.0, 20.0, 30.0, 40.0]


def test_lower_is_better_has_the_lowest_as_its_best() -> None:
    given = [
        run({"metric": "wakeup.latency_p50", "value": v, "unit": "us"}, node=str(v), **SCHBENCH)
        for v in (5, 3, 4)
    ]
    runs = ingest(bundle(*given)).created
    assert cell(runs, "wakeup").best_run_id == runs[1]


def test_a_repeat_merges_into_the_stored_cell() -> None:
    first = store(10, 30)
    second = store(50, node="n1", started_at="2026-10-02T12:00:00Z")
    found = cell(first + second)
    assert (found.n, found.median, found.best_run_id) == (3, 30.0, second[0])
    assert found.node_names == ["n0", "n1"]
    assert found.newest.isoformat() == "2026-10-02T12:00:00+00:00"


def test_samples_of_a_run_stay_with_it_and_its_headline_counts() -> None:
    runs = ingest(bundle(run(measurement(10, samples=[8, 9, 10])))).created
    found = cell(runs)
    assert (found.n, found.median, found.low) == (1, 10.0, 10.0)


SPLITTING = [
    {"system": OTHER},
    {"version": "5.9"},
    {"scope": "socket"},
    {"parameters": {"placement": "local", "smt": "off", "threads": 64}},
    {"parameters": {"placement": "all", "smt": "off", "threads": 32}},
    {"parameters": {"placement": "all", "smt": "on", "threads": 64}},
    {"parameters": {"placement": "all", "threads": 64}},
    {"setup": {"os": "Debian 12", "kernel": "6.12.0", "compiler": "GCC 12.2.0"}},
    {"not_ranked_because": "the fan stood still"},
]


@pytest.mark.parametrize("change", SPLITTING)
def test_what_parts_cells(change: dict[str, Any]) -> None:
    first, second = ingest(bundle(run(), run(node="b", **change))).created
    assert cell([first]).key != cell([second]).key


JOINING = [
    {"setup": {"os": "Debian 12", "kernel": "6.1.0-99", "compiler": "GCC 12.2.0", "x": "y"}},
    {"parameters": {"placement": "all", "smt": "off", "threads": 64, "ntimes": 10}},
    {"note": "again"},
    {"source": "dell-rome"},
]


@pytest.mark.parametrize("change", JOINING)
def test_what_does_not_part_cells(change: dict[str, Any]) -> None:
    runs = ingest(bundle(run(), run(node="b", **change))).created
    assert cell(runs).n == 2


def test_tracked_values_come_from_run_setup_and_system_cut_to_their_depth() -> None:
    System.objects.filter(slug=OTHER).update(firmware="1.5.3", firmware_profile="performance")
    setup = {"kernel": "6.8.0-142-generic", "compiler": "GCC 15.2.0", "bios.profile": "quiet"}
    runs = ingest(bundle(run(system=OTHER, setup=setup))).created
    assert cell(runs).tracked == {
        "smt": "off",
        "version": "5.10",
        "kernel": "6.8.0",
        "compiler": "GCC 15.2.0",
        "bios.version": "1.5.3",
        "bios.profile": "quiet",
    }
    assert cell(runs).fingerprint == Run.objects.get(pk=runs[0]).fingerprint


def test_inferred_setup_is_kept_and_not_tracked() -> None:
    runs = ingest(bundle(run(setup={}, setup_inferred={"governor": "performance"}))).created
    assert "governor" not in cell(runs).tracked


def test_parameters_stand_by_role_and_loads_are_read_from_them() -> None:
    parameters = {"placement": "all", "threads": 64, "smt": "on", "cores": 32, "ntimes": 10}
    found = cell(ingest(bundle(run(parameters=parameters))).created)
    assert (found.variant, found.axis, found.scale) == ({"placement": "all"}, {"threads": 64}, {})
    assert (found.cores, found.threads, found.nodes) == (32, 64, None)


def test_a_range_gives_a_cell_without_value() -> None:
    given = measurement(None, low=270, high=300, qualifier="approximate")
    found = cell(ingest(bundle(run(given))).created)
    assert (found.n, found.ranges, found.median) == (0, 1, None)
    assert (found.low, found.high, found.qualifier) == (270.0, 300.0, "approximate")


def test_the_newest_range_is_shown_until_a_value_comes() -> None:
    new = run(measurement(None, low=1, high=2), started_at="2026-10-02T00:00:00Z")
    old = run(measurement(None, low=3, high=4), started_at="2026-10-01T00:00:00Z")
    runs = ingest(bundle(new, old)).created
    assert (cell(runs).low, cell(runs).best_run_id, cell(runs).ranges) == (1.0, runs[0], 2)
    (third,) = ingest(bundle(run(measurement(9), node="c"))).created
    found = cell(runs)
    assert (found.n, found.low, found.high, found.best_run_id) == (1, 9.0, 9.0, third)


def test_a_lower_bound_is_a_range_with_one_end() -> None:
    found = cell(ingest(bundle(run(measurement(None, low=270)))).created)
    assert (found.low, found.high) == (270.0, None)


def test_a_range_enters_every_variant_that_it_covers() -> None:
    covers = [{"placement": "local"}, {"placement": None}, {"placement": "all"}]
    (pk,) = ingest(bundle(run(measurement(None, low=1, high=2, covers=covers)))).created
    cells = Summary.objects.filter(best_run=pk)
    found = sorted(str(summary.variant.get("placement")) for summary in cells)
    assert found == ["None", "all", "local"]
    assert {summary.ranges for summary in cells} == {1}
    withdraw(runs=[pk], actor=None, reason="wrong")
    assert not Summary.objects.filter(best_run=pk).exists()


def test_a_covered_cell_keeps_its_values_when_the_range_goes() -> None:
    (ours,) = ingest(bundle(run(parameters={"placement": "local"}))).created
    covers = [{"placement": "local", "threads": None, "smt": None}]
    given = measurement(None, low=1, high=2, covers=covers)
    (wide,) = ingest(bundle(run(given, node="b"))).created
    assert (cell([ours]).n, cell([ours]).ranges) == (1, 1)
    withdraw(runs=[wide], actor=None, reason="wrong")
    assert (cell([ours]).n, cell([ours]).ranges, cell([ours]).nodes_seen) == (1, 0, 1)


def test_a_covering_range_beside_a_value_survives_when_another_run_goes() -> None:
    covers = [{"placement": "local"}]
    wide = measurement(None, low=1, high=2, covers=covers)
    (kept,) = ingest(bundle(run(wide, measurement(5, metric="copy.bandwidth")))).created
    (gone,) = ingest(bundle(run(node="b", parameters={"placement": "local"}))).created
    (again,) = ingest(bundle(run(node="c", parameters={**LOCAL}))).created
    withdraw(runs=[gone], actor=None, reason="x")
    (last,) = ingest(bundle(run(node="d", parameters={**LOCAL}))).created
    withdraw(runs=[last], actor=None, reason="x")
    assert (cell([again]).n, cell([again]).ranges) == (1, 1)
    assert cell([kept], "copy").n == 1


def test_a_covered_variant_has_its_own_tracked_values() -> None:
    covers = [{"engine": "duckdb", "engine_version": "1.4"}]
    given = {"metric": "hot.time", "low": 2, "high": 3, "unit": "s", "covers": covers}
    parameters = {"engine": "clickhouse", "engine_version": "25.8"}
    (pk,) = ingest(bundle(run(given, benchmark="clickbench", parameters=parameters))).created
    found = {c.variant["engine"]: c.tracked for c in Summary.objects.filter(best_run=pk)}
    assert found["clickhouse"]["engine_version"] == "25.8"
    assert found["duckdb"]["engine_version"] == "1.4"


def test_trust_is_that_of_the_least_trusted_run() -> None:
    runs = ingest(bundle(run()), trust=Trust.VERIFIED).created
    assert cell(runs).trust == Trust.VERIFIED
    ingest(bundle(run(node="b")), trust=Trust.COMMUNITY)
    assert cell(runs).trust == Trust.COMMUNITY


def test_what_is_assumed_of_any_run_marks_the_cell() -> None:
    stated, implied = run(), run(node="b", parameters={"smt": "off", "threads": 64})
    runs = ingest(bundle(stated, implied)).created
    assert cell(runs).assumed == ["placement"]


def test_groups_are_never_ranked() -> None:
    systems = [{"slug": "pair", "name": "Pair", "members": [SYSTEM, OTHER]}]
    runs = ingest(bundle(run(system="pair"), systems=systems)).created
    assert not cell(runs).ranked


def test_withdrawing_takes_a_run_out_and_the_last_one_the_cell() -> None:
    runs = store(30, 10, 40)
    key = cell(runs).key
    withdraw(runs=[runs[2]], actor=None, reason="wrong clock")
    found = cell(runs[:2])
    assert (found.n, found.median, found.best_run_id, found.nodes_seen) == (2, 20.0, runs[0], 2)
    assert Measurement.objects.get(run=runs[2]).summary is None
    withdraw(runs=runs, actor=None, reason="all wrong")
    assert not Summary.objects.filter(key=key).exists()


def test_a_run_that_is_not_ranked_moves_to_a_cell_of_its_own_and_back() -> None:
    runs = store(30, 10)
    edit_not_ranked(runs=[runs[0]], because="throttled", actor=None)
    assert (cell([runs[0]]).ranked, cell([runs[1]]).ranked) == (False, True)
    edit_not_ranked(runs=[runs[0]], because="", actor=None)
    assert (cell(runs).n, cell(runs).ranked) == (2, True)


def test_a_changed_fact_of_a_system_moves_its_cells() -> None:
    runs = store(30)
    before = cell(runs).fingerprint
    System.objects.filter(slug=SYSTEM).update(firmware="NV 99")
    system = System.objects.get(slug=SYSTEM)
    assert refresh_systems(systems=[system.pk]) == Run.objects.filter(system=system).count()
    found = cell(runs)
    assert found.tracked["bios.version"] == "NV 99"
    assert found.fingerprint != before
    assert Run.objects.get(pk=runs[0]).fingerprint == found.fingerprint


def test_a_withdrawal_after_an_unnoticed_edit_still_ends_right() -> None:
    runs = store(30, 10)
    System.objects.filter(slug=SYSTEM).update(firmware="NV 98")
    withdraw(runs=[runs[0]], actor=None, reason="x")
    found = cell([runs[1]])
    assert (found.n, found.median, found.tracked["bios.version"]) == (1, 10.0, "NV 98")


def test_rebuilding_changes_nothing_that_is_right() -> None:
    before = everything()
    systems = list(System.objects.values_list("pk", flat=True))
    assert rebuild(systems=systems) == Run.objects.filter(state="published").count()
    assert everything() == before


def test_a_changed_role_in_the_catalogue_rebuilds_its_cells() -> None:
    runs = store(30)
    Summary.objects.filter(pk=cell(runs).pk).update(variant={"stale": 1})
    Loaded.objects.filter(name="catalogue/stream").update(digest="0" * 64)
    sync.ensure()
    assert cell(runs).variant == {"placement": "all"}


def test_a_changed_name_in_the_catalogue_rebuilds_nothing() -> None:
    runs = store(30)
    before = cell(runs).pk
    loaded = Loaded.objects.get(name="catalogue/stream")
    loaded.digest = loaded.digest[: sync.HALF] + "0" * sync.HALF
    loaded.save()
    sync.ensure()
    assert cell(runs).pk == before


@pytest.mark.parametrize("values", [[], [0.1], [-1e300, 0.0, 5e-324, 1e300]])
def test_samples_are_packed_without_loss(values: list[float]) -> None:
    packed = write_samples(values)
    assert read_samples(packed) == values
    assert packed[:8] == (b"\x9a\x99\x99\x99\x99\x99\xb9?" if values == [0.1] else packed[:8])


VALUES = st.lists(st.floats(0, 1e9), min_size=1, max_size=6, unique=True)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(first=VALUES, second=VALUES, gone=st.sets(st.integers(0, 11)), ranged=st.booleans())
def test_cells_say_the_same_however_the_runs_came(
    first: list[float], second: list[float], gone: set[int], ranged: bool
) -> None:
    with transaction.atomic():
        begin = timezone.now() - timedelta(days=30)
        runs = [
            run(measurement(v), node=f"n{n % 3}", started_at=(begin + timedelta(n)).isoformat())
            for n, v in enumerate([*first, *(v + 0.5 for v in second)])
        ]
        if ranged:
            runs.append(run(measurement(None, low=1, high=2), node="n9"))
        made = ingest(bundle(*runs[: len(first)])).created
        made += ingest(bundle(*runs[len(first) :])).created
        left = [pk for place, pk in enumerate(made) if place not in gone]
        withdraw(runs=[pk for pk in made if pk not in left], actor=None, reason="x")
        _agrees_with_its_runs(left)
        step_by_step = everything()
        rebuild(benchmark="stream")
        assert everything() == step_by_step
        publish(runs=made, actor=None)
        _agrees_with_its_runs(made)
        transaction.set_rollback(True)


def _agrees_with_its_runs(runs: list[int]) -> None:
    rows = Measurement.objects.filter(run__in=runs)
    values = sorted(row.value for row in rows if row.value is not None)
    if not rows:
        return
    found = cell(runs)
    assert (found.n, found.ranges) == (len(values), len(rows) - len(values))
    assert found.nodes_seen == len(set(rows.values_list("run__node", flat=True)))
    if values:
        assert (found.median, found.low, found.high) == (median(values), values[0], values[-1])
        assert Measurement.objects.get(run=found.best_run_id).value == values[-1]
