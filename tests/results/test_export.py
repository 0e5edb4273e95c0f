"""An exported bundle gives the same rows again, wherever it is imported."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import Model
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from results import catalogue
from results.bundle import Bundle, read_bundle, write_csv
from results.bundle.document import Defaults
from results.catalogue.base import SCOPES, Benchmark, Parameter
from results.export import ExportError, export_runs, to_json
from results.ingest import ingest_bundle
from results.models import (
    Artefact,
    Comparison,
    Lab,
    List,
    ListEntry,
    Measurement,
    Processor,
    Run,
    Setup,
    Source,
    Summary,
    System,
)
from tests.results.bundles import LAB, OTHER, SYSTEM, bundle, ingest, measurement, run

pytestmark = pytest.mark.django_db


def emptied() -> None:
    """Take everything out that a bundle may bring, within the test's transaction."""
    kinds: tuple[type[Model], ...] = (
        *(Comparison, ListEntry, List, Summary, Measurement, Run.artefacts.through, Run, Setup),
        *(Artefact, System.members.through, System, Processor, Source, Lab),
    )
    with connection.cursor() as cursor:
        for kind in kinds:
            cursor.execute(f"DELETE FROM {kind._meta.db_table}")  # noqa: S608


def stored(ids: list[int]) -> list[dict[str, Any]]:
    """Runs with all they say, by identity and without numbers of rows."""
    names = (
        *("identity", "ordinal", "lab__slug", "node", "benchmark__slug", "version", "scope"),
        *("parameters", "assumed", "fingerprint", "started_at", "note", "not_ranked_because"),
        *("setup__fields", "setup__inferred", "source__slug", "source__title", "source__url"),
        *("system__slug", "system__name", "system__processor__slug", "system__memory_gb"),
    )
    values = (
        *("metric__workload", "metric__name", "value", "low", "high", "samples", "qualifier"),
        *("printed", "covers", "artefact__sha256", "line_from", "line_to", "note"),
    )
    rows = []
    for found in Run.objects.filter(pk__in=ids).order_by("identity").values("pk", *names):
        measured = Measurement.objects.filter(run=found.pop("pk")).order_by("pk")
        rows.append({**found, "measurements": list(measured.values(*values))})
    return rows


def facts(kind: type[Model]) -> list[dict[str, Any]]:
    columns = [f.attname for f in kind._meta.concrete_fields if not f.name.endswith("id")]
    skipped = {"id", "processor_id", "source_id"}
    return list(kind._default_manager.order_by("slug").values(*(set(columns) - skipped)))


def round_trip(ids: list[int]) -> None:
    """Export, import where they are, then into a database that has nothing: all the same."""
    text = to_json(export_runs(ids)).encode()
    count = Run.objects.count()
    again = ingest_bundle(read_bundle(text), state="published")
    assert (sorted(again.known), again.created, again.warnings) == (sorted(ids), [], [])
    assert Run.objects.count() == count
    before = stored(ids)
    slugs = {row["system__slug"] for row in before}
    systems = [row for row in facts(System) if row["slug"] in slugs]
    emptied()
    made = ingest_bundle(read_bundle(text), state="published", allow_new_labs=True)
    assert len(made.created) == len(ids)
    assert stored(made.created) == before
    assert [row for row in facts(System) if row["slug"] in slugs] == systems
    assert to_json(export_runs(made.created)).encode() == text


@pytest.mark.parametrize(
    "lab", ["storagereview", "dell-hpc-lab", "hpc-technologies", "stream-list"]
)
def test_reference_data_comes_back_whole(lab: str) -> None:
    round_trip(list(Run.objects.filter(lab__slug=lab).values_list("pk", flat=True)))


def test_everything_a_run_can_say_comes_back() -> None:
    artefact = {"name": "a.log", "sha256": "a" * 64, "size": 10}
    proof = {"artefact": "a.log", "lines": [3, 4]}
    covers = [{"placement": "local"}]
    runs = [
        run(measurement(0.1, samples=[0.1, 0.2], evidence=proof, note="n", printed="0.1!")),
        run(measurement(None, low=1, high=2, covers=covers, qualifier="approximate")),
        run(measurement(5), ordinal=1, not_ranked_because="hot", source="dell-rome"),
        run(parameters={"placement": None}, setup_inferred={"governor": "x"}, assumed=[]),
        run(parameters={}, started_at=None, node="n", note="two\nlines"),
        run(parameters={}, started_at=None, node="n"),
        run(system="pair"),
    ]
    systems = [{"slug": "pair", "name": "Pair", "members": [SYSTEM, OTHER]}]
    other = {**artefact, "sha256": "b" * 64}
    made = ingest(bundle(*runs, systems=systems, artefacts=[artefact])).created
    made += ingest(bundle(run(measurement(9, evidence=proof)), artefacts=[other])).created
    round_trip(made)


def test_a_bundle_is_of_one_lab_and_of_runs_that_exist() -> None:
    two = [Run.objects.filter(lab__slug=lab)[0].pk for lab in ("storagereview", "stream-list")]
    with pytest.raises(ExportError, match="storagereview, stream-list"):
        export_runs(two)
    with pytest.raises(ExportError, match="no run 999999999"):
        export_runs([999_999_999])
    with pytest.raises(ExportError, match="none"):
        export_runs([])


def parameter_value(parameter: Parameter) -> st.SearchStrategy[Any]:
    if parameter.choices:
        return st.sampled_from(parameter.choices)
    if parameter.kind == "text":
        letters = st.characters(
            categories=("L", "N", "P", "S"), exclude_characters="\u3164\uffa0\u115f\u1160"
        )
        return st.text(letters, min_size=1, max_size=20)
    top = min(parameter.maximum, 1e12)
    if parameter.kind == "integer":
        return st.integers(max(1, int(parameter.minimum)), int(top))
    return st.floats(max(parameter.minimum, 1e-3), top)


def runs_of(benchmark: Benchmark) -> st.SearchStrategy[dict[str, Any]]:
    given = {p.name: st.none() | parameter_value(p) for p in benchmark.parameters}
    units = {metric.name: metric.unit for metric in benchmark.metrics}
    values = st.dictionaries(
        st.sampled_from(sorted(units)), st.floats(0, 1e12), min_size=1, max_size=3
    )
    return st.builds(
        lambda scope, parameters, found, node, started: run(
            *({"metric": name, "value": v, "unit": units[name]} for name, v in found.items()),
            benchmark=benchmark.slug,
            scope=scope,
            parameters=parameters,
            node=node,
            started_at=started,
        ),
        st.sampled_from(SCOPES),
        st.fixed_dictionaries({}, optional=given),
        values,
        st.sampled_from(["", "n1", "ノード"]),
        st.sampled_from([None, "2026-10-01T12:00:00.25+09:00", "2026-10-02T00:00:00Z"]),
    )


ANY_RUN = st.sampled_from(sorted(catalogue.benchmarks())).flatmap(
    lambda slug: runs_of(catalogue.benchmarks()[slug])
)


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
@given(st.lists(ANY_RUN, min_size=1, max_size=4))
def test_any_runs_come_back(runs: list[dict[str, Any]]) -> None:
    with transaction.atomic():
        round_trip(ingest(bundle(*runs)).created)
        transaction.set_rollback(True)


def test_the_table_of_an_export_gives_the_same_runs() -> None:
    made = ingest(bundle(run(node="=1"), run(measurement(0.25), parameters={"placement": None})))
    text = write_csv(export_runs(made.created))
    again = ingest_bundle(read_bundle(text.encode(), defaults=Defaults(lab=LAB)))
    assert (again.created, sorted(again.known)) == ([], sorted(made.created))


def test_what_is_at_its_default_is_left_out() -> None:
    (pk,) = ingest(bundle(run())).created
    (found,) = Bundle.model_validate_json(to_json(export_runs([pk]))).runs
    assert found.model_fields_set == {
        *("system", "benchmark", "version", "scope", "setup", "parameters", "started_at"),
        "measurements",
    }
