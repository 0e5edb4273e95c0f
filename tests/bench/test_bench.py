"""The bench itself: it measures what it says, and judges nothing by the clock."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from results.models import Measurement, Run, Summary
from results.summaries import rebuild
from tests.bench.fill import fill
from tests.bench.ingesting import Load, Round, Taken, lines
from tests.bench.remote import ROOT
from tests.bench.report import OVER, Line, table
from tests.bench.sample import LAB, METRICS, SHOWN, Shape, compare_query, make_bundle

LINES = (
    "comparison page, made anew: time with 1,800 / with 1,000 stored",
    "comparison page, made anew: queries",
    "comparison page, kept: time with 1,800 / with 1,000 stored",
    "comparison page, kept: queries",
    "comparison API, made anew: time with 1,800 / with 1,000 stored",
    "comparison API, made anew: queries",
    "comparison API, kept: time with 1,800 / with 1,000 stored",
    "comparison API, kept: queries",
    "ingest of whole runs: rate / that of a bare bulk_create of the same rows",
    "ingest of whole runs: rate with 1,800 stored / into an empty database",
    "ingest of runs of one measurement: rate / that of a bare bulk_create of the same rows",
    "ingest of runs of one measurement: rate with 1,800 stored / into an empty database",
    "memory: PSS of the 2 web workers",
    "page: /compare/ with css and js, packed, without the chart library",
    "page: /compare/ alone, its HTML unpacked",
    "engine: a run of `true`",
    "engine: memory that it adds",
    "bandwidth kernel beside STREAM (STREAM_C=)",
    "latency kernel beside tinymembench (TINYMEMBENCH=)",
)
# Paths to programs that a developer may have; here they are not given.
REFERENCES = ("STREAM_C", "TINYMEMBENCH")


def test_the_bench_prints_every_line_and_ends_well() -> None:
    argv = [sys.executable, "-m", "tests.bench", "--quick"]
    env = {name: text for name, text in os.environ.items() if name not in REFERENCES}
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    printed = [text.strip() for text in done.stdout.splitlines()]
    missing = [what for what in LINES if not any(text.startswith(what) for text in printed)]
    assert missing == [], done.stdout
    assert done.stdout.count("not measured") == len(REFERENCES)


@pytest.mark.django_db
def test_filling_directly_leaves_the_cells_that_the_product_would_work_out() -> None:
    shape = Shape(systems=3, repeats=5)
    assert fill(shape) == shape.measurements == 3 * METRICS * 5
    filled = _cells()
    assert [cell["n"] for cell in filled] == [5] * (3 * METRICS)
    rebuild(systems=set(Run.objects.filter(lab__slug=LAB).values_list("system_id", flat=True)))
    assert _cells() == filled


def _cells() -> list[dict[str, Any]]:
    cells = Summary.objects.filter(lab__slug=LAB).order_by("key").values()
    return [{name: value for name, value in cell.items() if name != "id"} for cell in cells]


@pytest.mark.django_db
def test_copied_measurements_point_to_runs_of_their_own() -> None:
    fill(Shape(systems=2, repeats=3))
    stored = Measurement.objects.filter(run__lab__slug=LAB)
    pairs = set(stored.values_list("run_id", "metric_id"))
    assert len(pairs) == stored.count() == 2 * METRICS * 3
    runs = Run.objects.filter(lab__slug=LAB)
    assert runs.values("identity").distinct().count() == runs.count() == 2 * 8 * 3


@pytest.mark.django_db
def test_the_measured_comparison_is_one_of_six_systems_and_forty_metrics(client: Any) -> None:
    fill(Shape(systems=7, repeats=1))
    answer = client.get("/api/v1/compare/" + compare_query()).json()
    assert len(answer["columns"]) == 6
    assert len(answer["rows"]) == 40
    assert all(len(row["cells"]) == 6 for row in answer["rows"])
    assert {row["benchmark"] for row in answer["rows"]} == set(SHOWN)


def test_bundles_of_two_batches_differ_and_one_batch_is_always_the_same() -> None:
    assert make_bundle(2, 1, batch=1) == make_bundle(2, 1, batch=1)
    assert make_bundle(2, 1, batch=1) != make_bundle(2, 1, batch=2)


def test_a_split_bundle_has_a_run_for_every_measurement() -> None:
    runs = json.loads(make_bundle(2, 1, split=True))["runs"]
    assert len(runs) == 2 * METRICS == len({run["started_at"] for run in runs})
    assert {len(run["measurements"]) for run in runs} == {1}


@pytest.mark.parametrize(
    ("line", "is_over"),
    [
        (Line("ratio", 1.51, 1.5), True),
        (Line("ratio", 1.5, 1.5), False),
        (Line("rate", 0.49, 0.5, "at least"), True),
        (Line("rate", 0.5, 0.5, "at least"), False),
        (Line("only told", 1e9), False),
        (Line("no reference program", None, 0.98, "at least"), False),
    ],
)
def test_a_line_is_marked_only_on_the_wrong_side_of_its_budget(line: Line, is_over: bool) -> None:
    assert line.is_over is is_over
    assert (OVER in table("What", [line])) is is_over


def test_a_table_says_what_could_not_be_measured_and_rounds_the_rest() -> None:
    text = table("Title", [Line("a", None, 2), Line("b", 1234.567, unit="kB", digits=1)])
    assert text.splitlines()[0] == "Title"
    assert "not measured" in text
    assert "1,234.6 kB" in text


def test_ingest_is_judged_by_the_median_of_its_rounds() -> None:
    quick = Round(Taken(1.0, 1.0), Taken(2.0, 1.0), Taken(2.5, 1.0))
    slow = Round(Taken(10.0, 1.0), Taken(20.0, 1.0), Taken(25.0, 1.0))
    disturbed = Round(Taken(30.0, 1.0), Taken(3.0, 1.0), Taken(300.0, 1.0))
    load = Load("ingest", systems=2, repeats=6, split=False, rounds=3)
    to_bare, to_empty = lines(load, [quick, disturbed, slow], 1000)
    assert (to_bare.found, to_empty.found) == (0.5, 0.8)
    assert not to_bare.is_over
    assert not to_empty.is_over
    assert to_bare.remark == "200 / 60 measurements a second here; 1.00 by processor time"
