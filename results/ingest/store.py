"""Writing the runs of a checked bundle, in as few statements as the database allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from django.db import connection

from results import actors
from results.actors import Actor
from results.bundle.problems import Finding
from results.chunks import chunks
from results.ingest.check import Reading, Ready, Typed
from results.ingest.parts import Parts
from results.models import Benchmark, Lab, Measurement, Metric, Run, System
from results.summaries import POWER, groups, shape_of, system_facts
from results.summaries.merging import Entry, Place, Shape, add, entries


@dataclass(slots=True)
class Row:
    """A row of the measurements' table before it is there; names are the columns'."""

    run_id: int
    metric_id: int
    value: float | None
    low: float | None
    high: float | None
    samples: Sequence[float] | None
    qualifier: str
    printed: str
    covers: Sequence[Mapping[str, Any]]
    artefact_id: int | None
    line_from: int | None
    line_to: int | None
    note: str
    summary_id: int | None = None


COLUMNS = tuple(field.name for field in fields(Row))
AS_JSON = ("samples", "covers")


def insert(rows: Sequence[Row]) -> None:
    """Write measurements with one plain statement, several times as fast as bulk_create.

    They are most of what an ingest writes, and nothing asks for their ids.
    """
    quote = connection.ops.quote_name
    columns = ", ".join(quote(name) for name in COLUMNS)
    table, marks = quote(Measurement._meta.db_table), ", ".join(["%s"] * len(COLUMNS))
    kinds: dict[str, Any] = {name: Measurement._meta.get_field(name) for name in AS_JSON}
    places = [(COLUMNS.index(name), kind.get_db_prep_save) for name, kind in kinds.items()]
    empty = kinds["covers"].get_db_prep_save([], connection)

    def values(row: Row) -> list[Any]:
        found: list[Any] = [getattr(row, name) for name in COLUMNS]
        for place, prepare in places:
            value = found[place]
            if value is not None:
                found[place] = prepare(value, connection) if value else empty
        return found

    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {table} ({columns}) VALUES ({marks})",  # noqa: S608
            [values(row) for row in rows],
        )


@dataclass(frozen=True)
class Standing:
    """How the runs of one ingest are to stand: published or not, by whom, how trusted."""

    state: str
    trust: int
    actor: Actor | None
    now: datetime

    @property
    def is_published(self) -> bool:
        return self.state == Run.State.PUBLISHED


@dataclass
class Writer:
    """Turns ready runs into rows; what all rows have in common is looked up once."""

    parts: Parts
    lab: Lab
    setups: Mapping[str, int]
    standing: Standing

    def __post_init__(self) -> None:
        self.benchmarks = {row.slug: row for row in Benchmark.objects.all()}
        rows = Metric.objects.select_related("benchmark")
        self.metrics = {(row.benchmark.slug, row.full_name): row.pk for row in rows}
        self.facts = {slug: system_facts(row) for slug, row in self.parts.systems.items()}
        self.account = actors.account(self.standing.actor)
        self.groups = groups([row.pk for row in self.parts.systems.values()])
        self._shapes: dict[Any, Shape] = {}

    def write(self, ready: Sequence[Ready]) -> list[Run]:
        """Store runs, their measurements and, if published, their summaries."""
        shapes = [self.shape(run, run.typed) for run in ready]
        runs = [self._run(run, shape) for run, shape in zip(ready, shapes, strict=True)]
        Run.objects.bulk_create(runs)
        measurements: list[Row] = []
        found: list[Entry] = []
        for item, run, shape in zip(ready, runs, shapes, strict=True):
            rows = [self._measurement(item, reading, run) for reading in item.readings]
            measurements += rows
            if self.standing.is_published:
                place = self._place(item, run)
                for row, reading in zip(rows, item.readings, strict=True):
                    wider = [self.shape(item, typed) for typed in reading.covered]
                    better = reading.metric.higher_is_better
                    found += entries(place, row, shape, wider, higher_is_better=better)
        add(found)
        insert(measurements)
        self._link_artefacts(ready, runs)
        return runs

    def shape(self, run: Ready, typed: Typed) -> Shape:
        """What a run's parameters, or those of a variant it covers, make of a cell."""
        given = run.given
        head = (run.benchmark.slug, given.version, given.system, run.setup.digest)
        key = (*head, id(typed))
        found = self._shapes.get(key)
        if found is None:
            found = self._shapes[key] = shape_of(
                run.benchmark,
                version=given.version or "",
                roles=typed.roles,
                parameters=typed.parameters,
                setup=run.setup.fields,
                facts=self.facts[given.system],
            )
        return found

    def _run(self, run: Ready, shape: Shape) -> Run:
        given, standing = run.given, self.standing
        return Run(
            identity=run.identity,
            ordinal=run.ordinal,
            lab_id=self.lab.pk,
            system_id=self._system(run).pk,
            node=given.node or "",
            benchmark_id=self.benchmarks[given.benchmark].pk,
            version=given.version or "",
            scope=given.scope,
            setup_id=self.setups[run.setup.digest],
            parameters=run.typed.parameters,
            assumed=run.assumed,
            fingerprint=shape.fingerprint,
            started_at=given.started_at,
            source_id=self.parts.sources[given.source].pk if given.source else None,
            note=given.note or "",
            state=standing.state,
            published_at=standing.now if standing.is_published else None,
            not_ranked_because=given.not_ranked_because or "",
            trust=standing.trust,
            created_by=self.account,
        )

    def _system(self, run: Ready) -> System:
        return self.parts.systems[run.given.system]

    def _measurement(self, item: Ready, reading: Reading, run: Run) -> Row:
        given, evidence = reading.given, reading.given.evidence
        lines = evidence.lines if evidence else None
        return Row(
            run.pk,
            self.metrics[item.benchmark.slug, reading.metric.name],
            reading.value,
            reading.low,
            reading.high,
            reading.samples,
            given.qualifier,
            reading.printed,
            reading.covers,
            self.parts.artefacts[evidence.artefact].pk if evidence else None,
            lines[0] if lines else None,
            lines[1] if lines else None,
            given.note or "",
        )

    def _place(self, item: Ready, run: Run) -> Place:
        given = item.given
        return Place(
            run_id=run.pk,
            system_id=run.system_id,
            lab_id=run.lab_id,
            benchmark_id=run.benchmark_id,
            benchmark=given.benchmark,
            version=run.version,
            scope=run.scope,
            ranked=run.system_id not in self.groups and not run.not_ranked_because,
            node=run.node,
            trust=run.trust,
            moment=given.started_at or self.standing.now,
            assumed=item.assumed,
            watts=_watts(item.readings),
        )

    def _link_artefacts(self, ready: Sequence[Ready], runs: Sequence[Run]) -> None:
        through = Run.artefacts.through
        pairs = {
            (run.pk, self.parts.artefacts[reading.given.evidence.artefact].pk)
            for item, run in zip(ready, runs, strict=True)
            for reading in item.readings
            if reading.given.evidence
        }
        rows = [through(run_id=run, artefact_id=artefact) for run, artefact in sorted(pairs)]
        through.objects.bulk_create(rows)


def _watts(readings: Sequence[Reading]) -> float | None:
    for reading in readings:
        if reading.metric.short == POWER and reading.metric.unit == "W":
            return reading.value
    return None


def known_runs(ready: Sequence[Ready]) -> dict[str, int]:
    """Ids of the runs that are stored already, by identity."""
    found: dict[str, int] = {}
    for part in chunks([run.identity for run in ready]):
        rows = Run.objects.filter(identity__in=part)
        found.update(rows.values_list("identity", "pk"))
    return found


def contradictions(ready: Sequence[Ready], known: Mapping[str, int]) -> list[Finding]:
    """Where a bundle gives a stored run other values than it has."""
    ids = [known[run.identity] for run in ready]
    stored: dict[tuple[int, str], tuple[float | None, float | None, float | None]] = {}
    for part in chunks(ids):
        for row in Measurement.objects.filter(run__in=part).select_related("metric"):
            stored[row.run_id, row.metric.full_name] = (row.value, row.low, row.high)
    found = []
    for run, pk in zip(ready, ids, strict=True):
        for index, reading in enumerate(run.readings):
            there = stored.get((pk, reading.metric.name))
            here = (reading.value, reading.low, reading.high)
            if there != here:
                path = (*run.path, "measurements", index)
                found.append(_contradiction(path, reading, here, there, pk))
    return found


def _contradiction(
    path: tuple[str | int, ...],
    reading: Reading,
    here: tuple[float | None, ...],
    there: tuple[float | None, ...] | None,
    pk: int,
) -> Finding:
    unit, name = reading.metric.unit, reading.metric.name
    found = f"{name} of {_range(here)} {unit}"
    expected = f"{_range(there)} {unit}" if there else f"no {name}"
    message = (
        f"this run is stored as run {pk}: found {found}, stored {expected}. For a repeat, give "
        "started_at or ordinal; for a correction, withdraw or supersede the stored run"
    )
    return Finding(path, found, expected, message)


def _range(numbers: tuple[float | None, ...]) -> str:
    return " to ".join(f"{number:.15g}" for number in numbers if number is not None)
