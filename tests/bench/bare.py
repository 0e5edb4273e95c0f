"""What ingest is held against: the same rows through Django's bulk_create, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.db import connection, transaction

from results.models import Measurement, Run, Summary


@dataclass
class Rows:
    """Rows as if never stored. The indexes say which run and cell each measurement is of."""

    runs: list[Run]
    cells: list[Summary]
    measurements: list[Measurement]
    run_of: list[int]
    cell_of: list[int]
    best_of: list[int]


def rows_of(ingest: Callable[[], None]) -> Rows:
    """The rows that `ingest` leaves in a database that had no runs; they are taken out again.

    Labs, systems, setups and whatever else the rows point to stay.
    """
    ingest()
    runs = list(Run.objects.order_by("pk"))
    cells = list(Summary.objects.order_by("pk"))
    measurements = list(Measurement.objects.order_by("pk"))
    run_at = {run.pk: place for place, run in enumerate(runs)}
    cell_at = {cell.pk: place for place, cell in enumerate(cells)}
    rows = Rows(
        runs=runs,
        cells=cells,
        measurements=measurements,
        run_of=[run_at[one.run_id] for one in measurements],
        cell_of=[cell_at[one.summary_id or 0] for one in measurements],
        best_of=[run_at[cell.best_run_id] for cell in cells],
    )
    for row in (*runs, *cells, *measurements):
        row.pk = None
        row._state.adding = True
    _empty()
    return rows


def _empty() -> None:
    """Delete all runs by plain statements, and leave a file as small as a new one."""
    with connection.cursor() as cursor:
        for model in (Measurement, Summary, Run):
            cursor.execute(f"DELETE FROM {model._meta.db_table}")  # noqa: S608
        cursor.execute("VACUUM")
    connection.close()


def store(rows: Rows) -> None:
    """Three bulk_create in one transaction, each row pointing where it should."""
    with transaction.atomic():
        Run.objects.bulk_create(rows.runs)
        for cell, best in zip(rows.cells, rows.best_of, strict=True):
            cell.best_run_id = rows.runs[best].pk
        Summary.objects.bulk_create(rows.cells)
        for one, run, at in zip(rows.measurements, rows.run_of, rows.cell_of, strict=True):
            one.run_id = rows.runs[run].pk
            one.summary_id = rows.cells[at].pk
        Measurement.objects.bulk_create(rows.measurements)
