"""The catalogue against the reference tables, and the reference Bundles against them."""

from __future__ import annotations

import csv
import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from results.catalogue import base, benchmarks, setup

ROOT = Path(__file__).resolve().parents[2]
TABLES = ROOT / "tests" / "data" / "reference"
BUNDLES = sorted((ROOT / "results" / "reference").glob("*.json"))
LABS = {
    "StorageReview": "storagereview",
    "Dell HPC and AI Innovation Lab": "dell-hpc-lab",
    "HPC Technologies": "hpc-technologies",
    "STREAM published list": "stream-list",
}
QUALIFIERS = {"approx": "approximate", "exact": "exact", "chart_only": "chart_only"}
SLUGS = sorted(benchmarks())

Row = dict[str, str]
Figure = tuple[str, ...]


def table(name: str) -> list[Row]:
    """The rows of one of the copied reference tables."""
    with (TABLES / name).open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def bundles() -> dict[str, Any]:
    """The reference Bundles by lab."""
    loaded = [json.loads(path.read_text(encoding="utf-8")) for path in BUNDLES]
    return {bundle["lab"]: bundle for bundle in loaded}


def split(params: str) -> dict[str, str]:
    """The parameters of a table's cell: 'k=v;k=v'."""
    return dict(pair.split("=", 1) for pair in params.split(";") if pair)


def number(text: object) -> str:
    """A number as text that equal numbers share: '5.30' and 5.3 both give '5.3'."""
    return repr(float(str(text)))


def known(slug: str) -> base.Benchmark:
    """The benchmark of that slug, which must exist."""
    return benchmarks()[slug]


def measurements() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Lab, run and measurement, for every measurement of the reference Bundles."""
    for lab, bundle in bundles().items():
        for run in bundle["runs"]:
            for measurement in run["measurements"]:
                yield lab, run, measurement


def params_key(parameters: dict[str, Any]) -> str:
    stated = {name: str(value) for name, value in parameters.items() if value is not None}
    return ";".join(f"{name}={value}" for name, value in sorted(stated.items()))


def table_figures() -> list[Figure]:
    """Every figure of results.csv: where it belongs, which end it is, its value and unit."""
    kinds = {"range_low": "low", "range_high": "high"}
    return [
        (
            LABS[row["lab"]],
            row["system"],
            row["benchmark"],
            f"{row['workload']}.{row['metric']}",
            row["scope"],
            params_key(dict(split(row["params"]))),
            kinds.get(row["qualifier"], "value"),
            number(row["value"]),
            row["unit"],
        )
        for row in table("results.csv")
    ]


def bundle_figures() -> list[Figure]:
    """The same of the reference Bundles."""
    return [
        (
            lab,
            run["system"],
            run["benchmark"],
            measurement["metric"],
            run["scope"],
            params_key(run["parameters"]),
            kind,
            number(measurement[kind]),
            measurement["unit"],
        )
        for lab, run, measurement in measurements()
        for kind in ("value", "low", "high")
        if kind in measurement
    ]


def row_key(run: dict[str, Any], metric: str) -> tuple[object, ...]:
    """The comparison row a measurement falls into, with the catalogue's defaults."""
    benchmark = known(run["benchmark"])
    values = dict(run["parameters"])
    for parameter in benchmark.parameters:
        if run["scope"] in parameter.assumed:
            values.setdefault(parameter.name, parameter.assumed[run["scope"]])
    variant = tuple(
        (p.name, values[p.name])
        for p in benchmark.parameters
        if p.role == "variant" and values.get(p.name) is not None
    )
    return run["benchmark"], metric, run["scope"], variant


def test_every_parameter_of_the_table_has_its_role_in_the_catalogue() -> None:
    for row in table("parameters.csv"):
        parameter = known(row["benchmark"]).parameter(row["parameter"])
        assert parameter is not None, row
        assert (parameter.role, parameter.follows) == (row["role"], row["follows"]), row


def test_every_metric_of_the_table_has_its_unit_and_direction() -> None:
    for row in table("results.csv"):
        metric = known(row["benchmark"]).metric(f"{row['workload']}.{row['metric']}")
        assert metric is not None, row
        assert metric.unit == row["unit"], row
        assert metric.higher_is_better == (row["better"] == "higher"), row


def test_every_parameter_value_of_the_table_is_allowed() -> None:
    for row in table("results.csv"):
        for name, value in split(row["params"]).items():
            parameter = known(row["benchmark"]).parameter(name)
            assert parameter is not None, row
            assert str(parameter.clean(value)) == value


def test_the_bundles_hold_all_266_figures_with_their_exact_values() -> None:
    figures = bundle_figures()
    assert sorted(figures) == sorted(table_figures())
    assert len(figures) == 266
    assert sum(kind == "value" for *_, kind, _, _ in figures) == 215


def test_the_figures_fall_into_76_rows_without_a_collision() -> None:
    cells: dict[tuple[object, ...], set[object]] = {}
    for lab, run, measurement in measurements():
        key = row_key(run, measurement["metric"])
        metric = known(run["benchmark"]).metric(measurement["metric"])
        assert metric is not None
        point = tuple(run["parameters"].get(axis) for axis in metric.along)
        cell = (lab, run["system"], point)
        assert cell not in cells.setdefault(key, set()), (key, cell)
        cells[key].add(cell)
    assert len(cells) == 76


def test_qualifiers_are_those_of_the_table() -> None:
    of_table = {
        (row["system"], row["benchmark"], f"{row['workload']}.{row['metric']}", row["params"]): row
        for row in table("results.csv")
        if row["qualifier"] in QUALIFIERS
    }
    for _, run, measurement in measurements():
        if "value" in measurement:
            rows = [
                row
                for (system, benchmark, metric, params), row in of_table.items()
                if (system, benchmark, metric)
                == (run["system"], run["benchmark"], measurement["metric"])
                and params_key(dict(split(params))) == params_key(run["parameters"])
                and row["scope"] == run["scope"]
            ]
            assert [QUALIFIERS[row["qualifier"]] for row in rows] == [measurement["qualifier"]]


def test_parameters_in_the_bundles_have_the_catalogues_types() -> None:
    for _, run, _ in measurements():
        for name, value in run["parameters"].items():
            parameter = known(run["benchmark"]).parameter(name)
            assert parameter is not None
            if value is not None:
                cleaned = parameter.clean(value)
                assert (cleaned, type(cleaned)) == (value, type(value)), (run["benchmark"], name)


def test_a_placement_that_is_not_stated_is_said_to_be_unknown() -> None:
    silent = [
        run
        for _, run, _ in measurements()
        if run["benchmark"] == "stream" and run["parameters"].get("placement", 0) is None
    ]
    assert len(silent) == 32
    assert all(run["scope"] == "system" for run in silent)


def test_assumed_parameters_are_in_the_run_and_explained_beside_the_value() -> None:
    runs = [(run, m) for _, run, m in measurements() if run["assumed"]]
    assert {name for run, _ in runs for name in run["assumed"]} == {"smt", "connections"}
    for run, measurement in runs:
        assert set(run["assumed"]) <= set(run["parameters"])
        assert re.search(r"SMT|Connection count", measurement["note"])


def test_the_38_systems_are_each_described_once_with_known_processors_and_sources() -> None:
    slugs = [system["slug"] for bundle in bundles().values() for system in bundle["systems"]]
    assert len(slugs) == len(set(slugs)) == 38
    for bundle in bundles().values():
        processors = {processor["slug"] for processor in bundle["processors"]}
        sources = {source["id"] for source in bundle["sources"]}
        here = {system["slug"] for system in bundle["systems"]}
        for system in bundle["systems"]:
            assert system["processor"] is None or system["processor"] in processors
            assert system["source"] in sources
            assert set(system["members"]) <= here
        assert {run["system"] for run in bundle["runs"]} <= here
        assert {run["source"] for run in bundle["runs"]} <= sources


def test_both_stream_lists_have_fifteen_places_and_the_values_of_their_runs() -> None:
    bundle = bundles()["stream-list"]
    runs = {
        (run["system"], run["parameters"]["cpus"]): run["measurements"][0]["value"]
        for run in bundle["runs"]
    }
    assert [ranking["slug"] for ranking in bundle["lists"]] == [
        "stream-top15-1cpu",
        "stream-top15-2cpu",
    ]
    for ranking in bundle["lists"]:
        entries = ranking["entries"]
        assert [entry["rank"] for entry in entries] == list(range(1, 16))
        values = [entry["value"] for entry in entries]
        assert values == sorted(values, reverse=True)
        for entry in entries:
            assert runs[entry["system"], entry["parameters"]["cpus"]] == entry["value"]


def test_the_default_comparison_is_of_the_six_servers_of_the_review() -> None:
    bundle = bundles()["storagereview"]
    (comparison,) = bundle["comparisons"]
    assert comparison["default"]
    assert len(comparison["systems"]) == 6
    assert comparison["baseline"] == "dell-r7725-epyc-9965"
    assert {run["system"] for run in bundle["runs"]} == set(comparison["systems"])


def test_bundles_name_no_files_of_the_documents() -> None:
    for path in BUNDLES:
        assert not re.search(r"\.txt|\bJA\b|\bKO\b|results\.csv", path.read_text(encoding="utf-8"))


def test_setups_use_tracked_names_or_plain_ones() -> None:
    for _, run, _ in measurements():
        tracked = {field.field for field in known(run["benchmark"]).tracked}
        assert set(run["setup"]) <= tracked, (run["benchmark"], set(run["setup"]) - tracked)


@pytest.mark.parametrize("slug", SLUGS)
def test_a_benchmark_describes_itself_completely(slug: str) -> None:
    benchmark = known(slug)
    assert benchmark.category in base.CATEGORIES
    assert re.fullmatch(r"https://\S+", benchmark.homepage)
    for text in (benchmark.name, benchmark.stresses, benchmark.rules):
        assert text.strip() == text != ""
    assert len(benchmark.stresses) < 260
    assert benchmark.workloads
    workloads = {workload.slug for workload in benchmark.workloads}
    assert workloads == {metric.workload for metric in benchmark.metrics}
    assert all(workload.title and workload.summary for workload in benchmark.workloads)
    rows = [
        (benchmark.row_title(metric), benchmark.workload(metric.workload).detail)
        for metric in benchmark.metrics
    ]
    assert len(set(rows)) == len(rows)


@pytest.mark.parametrize("slug", SLUGS)
def test_metrics_are_sound(slug: str) -> None:
    benchmark = known(slug)
    axes = {p.name for p in benchmark.parameters if p.role == "axis"}
    names = [metric.name for metric in benchmark.metrics]
    assert len(set(names)) == len(names)
    for metric in benchmark.metrics:
        assert metric.unit
        assert set(metric.per) <= set(base.NORMALISATIONS) - {"total"}
        assert metric.higher_is_better or not metric.per, metric.name
        assert metric.unit != "%" or not metric.per, metric.name
        assert set(metric.along) <= axes
    assert axes == {axis for metric in benchmark.metrics for axis in metric.along}


@pytest.mark.parametrize("slug", SLUGS)
def test_parameters_are_sound(slug: str) -> None:
    benchmark = known(slug)
    names = [parameter.name for parameter in benchmark.parameters]
    assert len(set(names)) == len(names)
    for parameter in benchmark.parameters:
        assert parameter.role in get_args(base.Role)
        assert parameter.label, parameter.name
        assert parameter.follows in {"", "processor", *names}
        assert parameter.kind != "text" or not parameter.counts
        assert set(parameter.assumed) | set(parameter.implied) <= set(base.SCOPES)
        for value in (*parameter.choices, *parameter.also, *parameter.words):
            assert str(parameter.clean(value)) == value
            assert parameter.say(value)


@pytest.mark.parametrize("slug", SLUGS)
def test_tracked_fields_are_listed_once_and_followers_are_tracked_somewhere(slug: str) -> None:
    benchmark = known(slug)
    fields = [tracked.field for tracked in benchmark.tracked]
    parameters = {p.name for p in benchmark.parameters if p.role == "tracked"}
    assert len(set(fields)) == len(fields)
    assert not parameters & set(fields)
    assert set(setup.BASE) <= set(benchmark.tracked)
    shared = {name for followers in setup.FOLLOWS.values() for name in followers}
    for factor, followers in benchmark.follows.items():
        assert factor not in followers
        assert set(followers) <= parameters | set(fields) | shared
    assert "os" not in benchmark.follows["system"]


@pytest.mark.parametrize("slug", SLUGS)
def test_a_benchmarks_file_says_what_it_is_and_where_it_comes_from(slug: str) -> None:
    files = {"7zip": "sevenzip"}
    module = importlib.import_module(f"results.catalogue.{files.get(slug, slug)}")
    assert benchmark_of(module).slug == slug
    assert re.search(r"Source: https://", module.__doc__ or "")


def benchmark_of(module: Any) -> base.Benchmark:
    """The module's benchmark, as the catalogue finds it."""
    found = module.BENCHMARK
    assert isinstance(found, base.Benchmark)
    return found


def test_rows_and_variants_read_as_a_reader_expects() -> None:
    hammerdb, valkey, tiny = known("hammerdb"), known("valkey"), known("tinymembench")
    payment = hammerdb.metric("tproc-c-payment.latency_p99")
    latency = tiny.metric("random_read.latency")
    assert payment is not None
    assert latency is not None
    assert hammerdb.row_title(payment) == "HammerDB PAYMENT p99"
    assert tiny.row_title(latency) == "Random read latency"
    engine: dict[str, base.Value | None] = {"engine": "mariadb", "engine_version": "12.3.3"}
    assert hammerdb.variant_phrases("socket", engine) == ("MariaDB 12.3.3",)
    assert tiny.variant_phrases("thread", {"threads": 1, "page": "2m", "placement": "local"}) == (
        "local",
        "2 MB pages",
    )
    assert valkey.variant_phrases(
        "shard",
        {"mode": "single_shard", "cores_per_shard": 9, "pipeline": 1, "dataset": "3m_keys"},
    ) == ("alone", "9 cores", "pipeline 1", "3 M keys")


def test_a_workload_is_found_by_the_name_that_the_program_prints() -> None:
    found = known("hammerdb").workload_named("NEWORD")
    assert found is not None
    assert found.slug == "tproc-c-new-order"
    assert known("renaissance").workload_named("akka-uct") == known("renaissance").workload("akka")
    assert known("gromacs").workload_named("benchpep") == known("gromacs").workload("benchPEP")
    assert known("gromacs").workload_named("nothing") is None


def test_categories_and_orders_give_the_tables_order() -> None:
    wanted = [
        "stream",
        "stream_pts",
        "tinymembench",
        "gromacs",
        "openfoam",
        "hpl",
        "clickbench",
        "valkey",
        "7zip",
        "openssl",
        "pyperformance",
        "kernel_build",
        "nginx",
        "renaissance",
        "schbench",
        "hammerdb",
        "infiniband",
    ]
    assert [slug for slug in benchmarks() if slug in wanted] == wanted


@pytest.mark.parametrize(
    ("slug", "name", "value"),
    [
        ("7zip", "threads", "al"),
        ("7zip", "threads", 0),
        ("7zip", "threads", True),
        ("7zip", "threads", "1e999"),
        ("stream", "placement", "elsewhere"),
        ("stream", "array_gib", "nan"),
        ("stream", "array_gib", -1),
        ("hammerdb", "engine", ""),
        ("hammerdb", "engine_version", 26.7),
        ("gromacs", "cores", 1.5),
    ],
)
def test_a_wrong_parameter_value_is_refused_and_the_expected_named(
    slug: str, name: str, value: object
) -> None:
    parameter = known(slug).parameter(name)
    assert parameter is not None
    with pytest.raises(base.ParameterError, match=r"number|text|one of") as caught:
        parameter.clean(value)
    assert caught.value.expected
