"""Storing bundles: whole or not at all, once, under the right identity."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, connections
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from results import catalogue
from results.ingest import ingest_bundle
from results.ingest.store import COLUMNS
from results.models import (
    Artefact,
    AuditEntry,
    Lab,
    Measurement,
    Run,
    Setup,
    Source,
    Summary,
    System,
    Trust,
)
from tests.results.bundles import (
    NEW_CPU,
    NEW_SYSTEM,
    OTHER,
    SYSTEM,
    as_bytes,
    bundle,
    ingest,
    measurement,
    only_problem,
    problems,
    read,
    run,
)

pytestmark = pytest.mark.django_db


def rows() -> tuple[int, ...]:
    kinds = (Run, Measurement, Summary, Setup, System, Lab, Source, Artefact, AuditEntry)
    return tuple(kind._default_manager.count() for kind in kinds)


@pytest.fixture
def nothing_changes() -> Iterator[None]:
    before = rows()
    yield
    assert rows() == before


def test_a_run_is_stored_with_all_it_says() -> None:
    (pk,) = ingest(bundle(run(node="n1", note="warm", source="storagereview-vera"))).created
    stored = Run.objects.get(pk=pk)
    assert (stored.lab.slug, stored.system.slug, stored.node) == ("storagereview", SYSTEM, "n1")
    assert (stored.benchmark.slug, stored.version, stored.scope) == ("stream", "5.10", "system")
    assert stored.parameters == {"placement": "all", "smt": "off", "threads": 64}
    assert stored.setup.fields["kernel"] == "6.1.0-40"
    assert stored.source is not None
    assert stored.is_published
    assert len(stored.identity) == 64
    (value,) = stored.measurements.all()
    assert (value.metric.full_name, value.value, value.printed) == ("triad.bandwidth", 100.0, "")
    assert value.summary is not None
    assert value.summary.median == 100.0


def test_a_draft_enters_no_summary() -> None:
    before = Summary.objects.count()
    (pk,) = ingest(bundle(run()), state="draft").created
    assert Run.objects.get(pk=pk).published_at is None
    assert Summary.objects.count() == before


def test_values_are_stored_in_the_metrics_unit_and_the_printed_one_is_kept() -> None:
    given = measurement(1000, unit="MiB/s", samples=[900, 1000])
    (pk,) = ingest(bundle(run(given))).created
    stored = Measurement.objects.get(run=pk)
    assert (stored.value, stored.samples) == (1.048576, [0.9437184, 1.048576])
    assert stored.printed == "1000 MiB/s"


def test_the_same_bundle_twice_adds_nothing() -> None:
    given = bundle(run(), run(measurement(90, metric="copy.bandwidth"), parameters={"smt": "on"}))
    first = ingest(given)
    before = rows()
    second = ingest(given)
    assert rows() == before
    assert (second.created, second.known) == ([], first.created)


def test_equal_repeats_are_runs_of_their_own() -> None:
    given = bundle(run(started_at=None), run(started_at=None), run(started_at=None))
    first = ingest(given)
    assert len(set(first.created)) == 3
    assert ingest(given).known == first.created
    ordinals = Run.objects.filter(pk__in=first.created).values_list("ordinal", flat=True)
    assert sorted(ordinals) == [0, 1, 2]


def test_an_ordinal_names_a_repeat_of_an_earlier_bundle() -> None:
    (first,) = ingest(bundle(run(measurement(1)))).created
    (second,) = ingest(bundle(run(measurement(2), ordinal=1))).created
    assert first != second
    assert ingest(bundle(run(measurement(2), ordinal=1))).known == [second]
    found = only_problem(bundle(run(ordinal=5), run(ordinal=5)))
    assert found.field == "runs[1].ordinal"


@pytest.mark.parametrize(
    "change",
    [
        {"system": OTHER},
        {"node": "n2"},
        {"version": "5.9"},
        {"scope": "socket"},
        {"parameters": {"placement": "all", "smt": "on", "threads": 64}},
        {"setup": {"os": "Debian 13"}},
        {"setup_inferred": {"governor": "performance"}},
        {"started_at": "2026-10-01T12:00:01Z"},
        {"started_at": None},
    ],
)
def test_whatever_the_identity_covers_makes_another_run(change: dict[str, Any]) -> None:
    assert len(ingest(bundle(run(), run(**change))).created) == 2
    ordinals = Run.objects.order_by("-pk").values_list("ordinal", flat=True)[:2]
    assert list(ordinals) == [0, 0]


@pytest.mark.parametrize(
    "change",
    [
        {"note": "other"},
        {"source": "dell-rome"},
        {"not_ranked_because": "hot"},
        {"started_at": "2026-10-01T14:00:00+02:00"},
        {"parameters": {"threads": "64", "smt": "off"}},
    ],
)
def test_what_the_identity_does_not_cover_leaves_it_the_same_run(change: dict[str, Any]) -> None:
    (first,) = ingest(bundle(run())).created
    assert ingest(bundle(run(**change))).known == [first]


def test_a_known_run_with_another_value_is_told_with_what_to_do() -> None:
    ingest(bundle(run(measurement(100))))
    before = rows()
    found = only_problem(bundle(run(measurement(101)), run(started_at=None)))
    assert "stored as run" in found.message
    assert ("101 GB/s" in found.found, found.expected) == (True, "100 GB/s")
    assert "supersede" in found.message
    missing = only_problem(bundle(run(measurement(5, metric="add.bandwidth"))))
    assert missing.expected == "no add.bandwidth"
    assert rows() == before


def test_one_bad_run_of_fifty_is_named_and_nothing_is_stored(nothing_changes: None) -> None:
    runs = [run(started_at=None, node=f"n{number}") for number in range(50)]
    runs[17]["measurements"][0]["metric"] = "traid.bandwidth"
    given = as_bytes(bundle(*runs))
    found = only_problem(given)
    assert found.field == "runs[17].measurements[0].metric"
    line = given.decode().splitlines()[(found.line or 0) - 1]
    assert "traid" in line
    assert "expected 'triad.bandwidth'" in found.message


def test_a_bad_run_never_hides_the_next(nothing_changes: None) -> None:
    found = problems(
        bundle(
            run(measurement(value="x")),
            run(system="nvidia-mgx-vera-c3"),
            run(benchmark="straem"),
            run(measurement(-1)),
            run(scope="moon"),
            run(parameters={"smt": "perhaps"}),
        )
    )
    assert [problem.field for problem in found] == [
        "runs[0].measurements[0].value",
        "runs[1].system",
        "runs[2].benchmark",
        "runs[3].measurements[0].value",
        "runs[4].scope",
        "runs[5].parameters.smt",
    ]
    assert [problem.line for problem in found] == sorted(problem.line or 0 for problem in found)


UNKNOWN = [
    ({"system": "nvidia-mgx-vera-c3"}, "system", "'nvidia-mgx-vera-c2'"),
    ({"benchmark": "Stream"}, "benchmark", "'stream'"),
    ({"source": "storagereview-vara"}, "source", "'storagereview-vera'"),
    ({"parameters": {"placment": "all"}}, "parameters.placment", "'placement'"),
    ({"parameters": {"placement": "everywhere"}}, "parameters.placement", "one of all, local"),
    ({"parameters": {"threads": 0}}, "parameters.threads", "a whole number from 1"),
    ({"parameters": {"threads": 1.5}}, "parameters.threads", "a whole number from 1"),
    ({"assumed": ["cpus"]}, "assumed", "the name of a parameter that this run gives"),
]


@pytest.mark.parametrize(("change", "field", "expected"), UNKNOWN)
def test_what_is_unknown_is_named_with_what_is_expected(
    nothing_changes: None, change: dict[str, Any], field: str, expected: str
) -> None:
    found = only_problem(bundle(run(**change)))
    assert found.field == f"runs[0].{field}"
    assert found.expected.startswith(expected)


BAD_MEASUREMENTS = [
    (measurement(-3), "value", "triad.bandwidth of 0 GB/s or more"),
    (measurement(3, samples=[3, -1]), "samples", "triad.bandwidth of 0 GB/s or more"),
    (measurement(7.3, unit="% off"), "unit", "one of GB/s"),
    (measurement(1, unit="mb/s"), "unit", "one of GB/s"),
    (measurement(1, metric="triad"), "metric", "'triad.bandwidth'"),
    (measurement(None), "", "a value, or low and high"),
    (measurement(1, low=1), "value", "one of them"),
    (measurement(None, low=2, high=1), "low", "low not above high"),
    (measurement(None, low=1, samples=[1]), "samples", "the value that sums them up"),
    (measurement(1, covers=[{"smt": "on"}]), "covers", "a range"),
    (measurement(None, low=1, covers=[{"smt": "so"}]), "covers.smt", "one of off, on"),
    (measurement(1e300, unit="TB/s"), "value", "a number below 1e+300"),
    (measurement(1, evidence={"artefact": "a.log"}), "evidence.artefact", "one that is known"),
]


@pytest.mark.parametrize(("given", "field", "expected"), BAD_MEASUREMENTS)
def test_a_bad_measurement_is_refused(
    nothing_changes: None, given: dict[str, Any], field: str, expected: str
) -> None:
    found = only_problem(bundle(run(given)))
    assert found.field == ("runs[0].measurements[0]." + field).rstrip(".")
    assert found.expected.startswith(expected)


def test_a_metric_stands_once_in_a_run(nothing_changes: None) -> None:
    found = only_problem(bundle(run(measurement(1), measurement(2))))
    assert found.expected == "each metric once in a run"


def test_a_run_may_not_begin_in_the_future(nothing_changes: None) -> None:
    later = timezone.now() + timedelta(hours=25)
    assert only_problem(bundle(run(started_at=later.isoformat()))).field == "runs[0].started_at"


def test_clocks_may_differ_by_a_day() -> None:
    soon = timezone.now() + timedelta(hours=23)
    assert ingest(bundle(run(started_at=soon.isoformat()))).created


def test_a_missing_parameter_takes_its_default_and_null_does_not() -> None:
    results = ingest(bundle(run(parameters={}), run(parameters={"placement": None})))
    left_out, null = (Run.objects.get(pk=pk) for pk in results.created)
    assert (left_out.parameters, left_out.assumed) == ({"placement": "all"}, ["placement"])
    assert (null.parameters, null.assumed) == ({}, [])


def test_parameters_that_a_source_only_implies_are_marked() -> None:
    (pk,) = ingest(bundle(run(assumed=["smt"]))).created
    assert Run.objects.get(pk=pk).assumed == ["smt"]


def test_a_dry_run_writes_nothing_and_checks_everything(nothing_changes: None) -> None:
    given = bundle(run(), systems=[{"slug": "x", "name": "X"}])
    result = ingest(given, dry_run=True)
    assert (result.created, result.known, len(result.ready)) == ([], [], 1)
    assert problems(bundle(run(measurement(-1))), dry_run=True)


def test_one_audit_row_tells_which_runs_were_made(django_user_model: Any) -> None:
    actor = django_user_model.objects.create_user("ada")
    made = ingest(bundle(run(node="a"), run(node="b")), actor=actor).created
    entry = AuditEntry.objects.first()
    assert entry is not None
    assert (entry.actor_name, entry.action) == ("ada", "ingest")
    assert entry.after["runs"] == [[made[0], made[1]]]


def test_trust_is_that_of_the_caller() -> None:
    (pk,) = ingest(bundle(run()), trust=Trust.VERIFIED).created
    assert Run.objects.get(pk=pk).trust == Trust.VERIFIED


def test_markup_in_names_is_stored_as_it_is() -> None:
    evil = "<script>alert(1)</script>"
    systems = [{"slug": "evil", "name": evil, "vendor": evil}]
    ingest(bundle(run(system="evil", node=evil, setup={"os": evil}), systems=systems))
    assert System.objects.get(slug="evil").name == evil


def test_queries_do_not_grow_with_the_runs(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    def made(count: int, hour: int) -> dict[str, Any]:
        return bundle(
            *(run(node=f"n{n}", started_at=f"2026-09-01T{hour:02}:00:00Z") for n in range(count))
        )

    ingest(made(1, 0))
    with django_assert_max_num_queries(45):
        ingest(made(20, 1))
    # Rows go in as many statements as SQLite's variables ask for: about 40 runs in one.
    with django_assert_max_num_queries(75):
        ingest(made(400, 2))


def test_adding_reads_only_the_cells_it_touches() -> None:
    stored = Summary.objects.count()
    assert stored > 100
    with connection.execute_wrapper(_no_scan):
        ingest(bundle(run()))


def _no_scan(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
    """A read of summaries or measurements names the rows it wants."""
    if sql.startswith("SELECT") and 'FROM "results_summary"' in sql:
        assert '"results_summary"."key" IN' in sql
    assert not (sql.startswith("SELECT") and 'FROM "results_measurement"' in sql), sql
    return execute(sql, params, many, context)


@pytest.mark.django_db(transaction=True)
def test_the_same_bundle_eight_times_at_once_is_stored_once(transactional_db: None) -> None:
    given = bundle(
        *(run(node=f"n{number}", system="box") for number in range(20)),
        systems=[NEW_SYSTEM],
        processors=[NEW_CPU],
    )
    document = read(given)

    def store(number: int) -> tuple[int, int]:
        try:
            result = ingest_bundle(document, state="published")
            return len(result.created), len(result.known)
        finally:
            connections.close_all()

    before = Run.objects.count()
    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(store, range(8)))
    assert sorted(counts) == [(0, 20)] * 7 + [(20, 0)]
    assert Run.objects.count() == before + 20
    assert Summary.objects.get(system__slug="box").n == 20


def test_every_benchmark_takes_a_run_of_each_metric() -> None:
    runs = [
        run(
            *({"metric": m.name, "value": 1.5, "unit": m.unit} for m in benchmark.metrics),
            benchmark=benchmark.slug,
            parameters=None,
        )
        for benchmark in catalogue.benchmarks().values()
    ]
    assert len(ingest(bundle(*runs)).created) == len(runs)


def test_the_plain_statement_writes_every_column() -> None:
    columns = {field.attname for field in Measurement._meta.concrete_fields}
    assert {field.column for field in Measurement._meta.concrete_fields} == columns
    assert {*COLUMNS, "id"} == columns


def test_a_state_that_ingest_does_not_give_is_an_error() -> None:
    with pytest.raises(ValueError, match="withdrawn"):
        ingest(bundle(run()), state="withdrawn")
