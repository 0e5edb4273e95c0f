"""Filling a database with a given number of measurements, quickly, on SQLite.

One repeat goes in through ingest; the others are copies of its rows, made by the database
itself, and the summaries are then brought up to them. `test_bench` holds the outcome
against what `results.summaries` works out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db import connection, transaction
from django.db.models import Max, Model

from results.bundle import read_bundle
from results.ingest import ingest_bundle
from results.models import Lab, Measurement, Run
from results.summaries.merging import write_samples
from tests.bench.sample import LAB, Shape, make_bundle

STEPS = "WITH RECURSIVE step(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM step WHERE k < %s)"
# A number from 0 to 999 that looks like chance and is the same every time.
CHANCE = "((copied.id * 7919 + k * 104729) %% 1000)"
Row = tuple[Any, ...]  # cell, whether higher is better, value, run


def fill(shape: Shape) -> int:
    """Store `shape.measurements` measurements of lab LAB; returns how many there are now."""
    ingest(make_bundle(shape.systems, 1))
    if shape.repeats > 1:
        with transaction.atomic():
            _copy_rows(shape.repeats - 1)
            _update_summaries()
    return Measurement.objects.filter(run__lab__slug=LAB).count()


def ingest(bundle: bytes) -> None:
    """What an upload by somebody who may publish comes to: read, check, store, publish."""
    ingest_bundle(read_bundle(bundle), state=Run.State.PUBLISHED, allow_new_labs=True)


def _copy_rows(copies: int) -> None:
    """Copy the lab's runs and measurements, each copy a day older and up to 2 % off."""
    lab = Lab.objects.get(slug=LAB).pk
    runs = Run.objects.aggregate(last=Max("pk"))["last"]
    readings = Measurement.objects.aggregate(last=Max("pk"))["last"]
    of_run = {
        "id": f"copied.id + k * {runs}",
        "identity": f"printf('%%064d', copied.id + k * {runs})",
        "started_at": "datetime(copied.started_at, printf('-%%d days', k))",
    }
    of_reading = {
        "id": f"copied.id + k * {readings}",
        "run_id": f"copied.run_id + k * {runs}",
        "value": f"copied.value * (0.98 + {CHANCE} / 25000.0)",
    }
    _copy(
        Measurement,
        of_reading,
        "run_id IN (SELECT id FROM results_run WHERE lab_id = %s)",
        lab,
        copies,
    )
    _copy(Run, of_run, "lab_id = %s", lab, copies)


def _copy(
    model: type[Model], changed: Mapping[str, str], of_lab: str, lab: int, copies: int
) -> None:
    """INSERT … SELECT of a table into itself; `changed` gives SQL for columns that differ."""
    table = model._meta.db_table
    columns = [str(field.column) for field in model._meta.concrete_fields]
    taken = [changed.get(column, f'copied."{column}"') for column in columns]
    names = ", ".join(f'"{column}"' for column in columns)
    statement = (
        f"{STEPS} INSERT INTO {table} ({names}) SELECT {', '.join(taken)} "  # noqa: S608
        f"FROM step CROSS JOIN {table} AS copied WHERE copied.{of_lab}"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [copies, lab])


def _update_summaries() -> None:
    """Bring n, median, low, high, samples and best run of the lab's cells up to their rows."""
    statement = (
        "UPDATE results_summary SET n = %s, median = %s, low = %s, high = %s, samples = %s, "
        "best_run_id = %s WHERE id = %s"
    )
    with connection.cursor() as cursor:
        cursor.executemany(statement, list(_cells()))


def _cells() -> Iterator[tuple[Any, ...]]:
    rows = (
        Measurement.objects.filter(summary__lab__slug=LAB, value__isnull=False)
        .order_by("summary_id", "value", "run_id")
        .values_list("summary_id", "metric__higher_is_better", "value", "run_id")
    )
    for _, group in groupby(rows.iterator(chunk_size=50_000), key=itemgetter(0)):
        yield _cell(list(group))


def _cell(rows: list[Row]) -> tuple[Any, ...]:
    """The columns of a cell from its rows by value; of equal ones the first run is the best."""
    summary, higher_is_better, _, _ = rows[0]
    values = [value for _, _, value, _ in rows]
    middle = len(values) // 2
    median = values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2
    best = values[-1] if higher_is_better else values[0]
    run = next(run for _, _, value, run in rows if value == best)
    low, high = values[0], values[-1]
    return len(values), median, low, high, write_samples(values), run, summary
