"""ClickBench, analytic queries. Source: https://github.com/ClickHouse/ClickBench"""

from __future__ import annotations

from results.catalogue.base import Benchmark, Metric, Parameter, Workload
from results.catalogue.setup import BASE, FOLLOWS, STORAGE_LINK
from results.catalogue.shared import dataset, engine, engine_version, smt

BENCHMARK = Benchmark(
    slug="clickbench",
    name="ClickBench",
    category="data",
    order=10,
    stresses=(
        "43 analytic queries over one wide table of web traffic. Hot runs live in memory and "
        "load all cores; cold runs and loading also depend on the drive and its link."
    ),
    homepage="https://github.com/ClickHouse/ClickBench",
    workloads=(
        Workload("hot", "ClickBench hot", "Sum over the queries, data already in memory"),
        Workload("cold", "ClickBench cold", "Sum over the queries, each with empty caches"),
        Workload("load", "ClickBench load", "Loading the table"),
    ),
    metrics=(
        Metric("hot.time", unit="s", higher_is_better=False),
        Metric("cold.time", unit="s", higher_is_better=False),
        Metric("load.time", unit="s", higher_is_better=False),
        Metric("load.data_size", unit="GB", higher_is_better=False, label="size on disk"),
    ),
    parameters=(
        engine(),
        smt("variant"),
        engine_version("tracked"),
        dataset("scale", "Another table is another exercise; a synthetic one is not ClickBench's."),
        Parameter("queries", "scale", "integer", label="Queries", minimum=1, phrase="{} queries"),
    ),
    tracked=(*BASE, STORAGE_LINK),
    follows=FOLLOWS,
    rules="Every query three times: the first counts as cold, the best of the others as hot.",
    caveat="Cold and load times say as much about the drive as about the processor.",
)
