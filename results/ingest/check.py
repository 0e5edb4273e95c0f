"""A bundle held against the catalogue and against what is stored; nothing is written here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from hashlib import sha256
from typing import Any

from results import catalogue
from results.bundle import model
from results.bundle.document import Document
from results.bundle.problems import Finding, Path, did_you_mean, show
from results.catalogue.base import Benchmark, Metric, Value
from results.ingest.known import Known
from results.roles import Roles, canonical, fill
from results.units import SAME, Factor, UnitError, factor

A_DAY = timedelta(hours=24)
# Looking for the name that was meant takes time; whoever gets all wrong learns it from a few.
MOST_HINTS = 30


@dataclass(frozen=True, slots=True)
class SetupOf:
    """A run's setup as text, and its digest."""

    digest: str
    fields: Mapping[str, str]
    inferred: Mapping[str, str]

    @classmethod
    def of(cls, run: model.Run) -> SetupOf:
        fields = {name: text for name, text in run.setup.items() if text}
        inferred = {name: text for name, text in run.setup_inferred.items() if text}
        return cls(sha256(canonical([fields, inferred]).encode()).hexdigest(), fields, inferred)


@dataclass(frozen=True, slots=True)
class Typed:
    """Parameters in their types and by their roles; equal ones are worked out once."""

    parameters: Mapping[str, Value]
    assumed: tuple[str, ...]
    roles: Roles
    refused: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """A measurement in the metric's unit. `covered` are the further variants of a range."""

    given: model.Measurement
    metric: Metric
    value: float | None
    low: float | None
    high: float | None
    samples: list[float] | None
    printed: str
    covers: Sequence[Mapping[str, Value | None]]
    covered: Sequence[Typed]


@dataclass(slots=True)
class Ready:
    """A run that may be stored. `base` is its identity but for the ordinal."""

    given: model.Run
    path: Path
    benchmark: Benchmark
    typed: Typed
    assumed: list[str]
    setup: SetupOf
    readings: list[Reading]
    base: str
    ordinal: int = 0
    identity: str = ""


class Checker:
    """Checks the runs of one document; `findings` tells what is wrong with them."""

    def __init__(self, document: Document, known: Known, now: datetime) -> None:
        self.document = document
        self.bundle = document.bundle
        self.known = known
        self.latest = now + A_DAY
        self.findings: list[Finding] = []
        self._typed: dict[Any, Typed] = {}
        self._setups: dict[Any, SetupOf] = {}
        self._hints: dict[tuple[str, str], str] = {}

    @cached_property
    def artefacts(self) -> Mapping[str, model.Artefact]:
        """The bundle's files by name."""
        return {artefact.name: artefact for artefact in self.bundle.artefacts}

    def runs(self) -> list[Ready]:
        """The runs that pass, with their identities."""
        ready = []
        for index, run in enumerate(self.bundle.runs):
            before = len(self.findings)
            found = self._run(run, self.document.run_path(index))
            if found is not None and len(self.findings) == before:
                ready.append(found)
        self._number(ready)
        return ready

    def say(self, path: Path, found: str, expected: str, message: str = "") -> None:
        """Write a finding down."""
        self.findings.append(Finding(path, found, expected, message))

    def refer(self, path: Path, kind: str, slug: str | None, known: Collection[str]) -> None:
        """A finding if `slug` is given and not among the `known`."""
        if slug is not None and slug not in known:
            expected = self._hint(kind, slug, known)
            message = f"unknown {kind} {show(slug)}, expected {expected}"
            self.say(path, show(slug), expected, message)

    def _hint(self, kind: str, slug: str, known: Collection[str]) -> str:
        key = (kind, slug)
        if key not in self._hints and len(self._hints) < MOST_HINTS:
            self._hints[key] = did_you_mean(slug, known)
        return self._hints.get(key, "one that is known here")

    def _run(self, run: model.Run, path: Path) -> Ready | None:
        self.refer((*path, "system"), "system", run.system, self.known.systems)
        self.refer((*path, "source"), "source", run.source, self.known.sources)
        if run.started_at is not None and run.started_at > self.latest:
            found, expected = run.started_at.isoformat(), "a time that is not in the future"
            self.say((*path, "started_at"), found, expected)
        benchmark = catalogue.get(run.benchmark)
        if benchmark is None:
            self.refer((*path, "benchmark"), "benchmark", run.benchmark, catalogue.benchmarks())
            return None
        typed = self._run_parameters(benchmark, run, path)
        readings = self._measurements(benchmark, run, path)
        setup = self._setup(run)
        assumed = sorted({*run.assumed, *typed.assumed})
        base = self._base(run, typed, setup)
        return Ready(run, path, benchmark, typed, assumed, setup, readings, base)

    def _setup(self, run: model.Run) -> SetupOf:
        key = (tuple(run.setup.items()), tuple(run.setup_inferred.items()))
        found = self._setups.get(key)
        if found is None:
            found = self._setups[key] = SetupOf.of(run)
        return found

    def _run_parameters(self, benchmark: Benchmark, run: model.Run, path: Path) -> Typed:
        typed = self.parameters(benchmark, run.scope, run.parameters, (*path, "parameters"))
        for name in run.assumed:
            if run.parameters.get(name) is None and name not in run.setup:
                expected = "the name of a parameter that this run gives"
                self.say((*path, "assumed"), show(name), expected)
        return typed

    def parameters(
        self, benchmark: Benchmark, scope: str, given: Mapping[str, Any], path: Path
    ) -> Typed:
        """Parameters in their types; a finding for each that the catalogue does not allow."""
        typed = self.typed(benchmark, scope, given)
        self._refused(benchmark, typed, given, path)
        return typed

    def typed(self, benchmark: Benchmark, scope: str, given: Mapping[str, Any]) -> Typed:
        """Parameters in their types and roles."""
        # 1 and True and 1.0 are one key in Python, and so is their place: the type is part of it.
        key = (benchmark.slug, scope, *((k, type(v), v) for k, v in given.items()))
        found = self._typed.get(key)
        if found is None:
            parameters, assumed, refused = fill(benchmark, scope, given)
            found = Typed(parameters, assumed, Roles.of(benchmark, parameters), refused)
            self._typed[key] = found
        return found

    def _refused(
        self, benchmark: Benchmark, typed: Typed, given: Mapping[str, Any], path: Path
    ) -> None:
        for name, expected in typed.refused:
            self.say((*path, name), show(given[name]), expected)
        known = {parameter.name: parameter for parameter in benchmark.parameters}
        for name in given:
            if name not in known:
                self.refer((*path, name), f"parameter of {benchmark.slug}", name, known)

    def _measurements(self, benchmark: Benchmark, run: model.Run, path: Path) -> list[Reading]:
        found = []
        seen = set()
        for index, measurement in enumerate(run.measurements):
            place = (*path, "measurements", index)
            metric = benchmark.metric(measurement.metric)
            if metric is None:
                known = {metric.name: metric for metric in benchmark.metrics}
                kind = f"metric of {benchmark.slug}"
                self.refer((*place, "metric"), kind, measurement.metric, known)
                continue
            if metric.name in seen:
                self.say((*place, "metric"), show(metric.name), "each metric once in a run")
            seen.add(metric.name)
            reading = self._reading(benchmark, run, measurement, metric, place)
            if reading is not None:
                found.append(reading)
        return found

    def _reading(
        self,
        benchmark: Benchmark,
        run: model.Run,
        given: model.Measurement,
        metric: Metric,
        path: Path,
    ) -> Reading | None:
        into = self.unit(given.unit, metric, path)
        self._shape(given, path)
        self._evidence(given, path)
        wider = [self._cover(benchmark, run, c, (*path, "covers")) for c in given.covers]
        if into is None:
            return None
        value = self.number(given.value, into, metric, (*path, "value"))
        low = high = None
        if value is None:
            low = self.number(given.low, into, metric, (*path, "low"))
            high = self.number(given.high, into, metric, (*path, "high"))
        samples = given.samples
        if samples is not None:
            samples = [self.number(s, into, metric, (*path, "samples")) or 0.0 for s in samples]
        printed = given.printed or ("" if into == SAME else _printed(given))
        covers = [
            {name: typed.parameters.get(name) for name in cover}
            for cover, typed in zip(given.covers, wider, strict=True)
        ]
        return Reading(given, metric, value, low, high, samples, printed, covers, wider)

    def _cover(
        self, benchmark: Benchmark, run: model.Run, cover: Mapping[str, Any], path: Path
    ) -> Typed:
        given = {**run.parameters, **cover}
        typed = self.typed(benchmark, run.scope, given)
        self._refused(benchmark, typed, {k: given[k] for k in cover}, path)
        return typed

    def unit(self, unit: str, metric: Metric, path: Path) -> Factor | None:
        """What turns `unit` into the metric's; None, and a finding, if it does not convert."""
        if unit == metric.unit:
            return SAME
        try:
            return factor(unit, metric.unit)
        except UnitError as error:
            expected = "one of " + ", ".join(error.accepted)
            self.say((*path, "unit"), show(unit), expected)
            return None

    def number(self, value: float | None, into: Factor, metric: Metric, path: Path) -> float | None:
        """A value in the metric's unit; a finding if it is below what the metric can be."""
        if value is None:
            return None
        converted = float(into(value))
        if metric.minimum is not None and converted < metric.minimum:
            expected = f"{metric.name} of {metric.minimum:g} {metric.unit} or more"
            self.say(path, show(value), expected)
        if abs(converted) > model.BIGGEST:
            self.say(path, show(value), f"a number below {model.BIGGEST:g} {metric.unit}")
        return converted

    def _shape(self, given: model.Measurement, path: Path) -> None:
        """A value, or a range: not both, not neither, and the range in order."""
        low, high = given.low, given.high
        if given.value is None and low is None and high is None:
            self.say(path, "neither value nor range", "a value, or low and high")
        elif given.value is not None and (low is not None or high is not None):
            self.say((*path, "value"), "a value and a range", "one of them")
        elif low is not None and high is not None and low > high:
            self.say((*path, "low"), f"{show(low)} above high {show(high)}", "low not above high")
        if given.value is None and given.samples:
            self.say((*path, "samples"), "samples without a value", "the value that sums them up")
        if given.value is not None and given.covers:
            self.say((*path, "covers"), "a value", "a range, where it covers several variants")

    def _evidence(self, given: model.Measurement, path: Path) -> None:
        if given.evidence is None:
            return
        here = (*path, "evidence")
        name, lines = given.evidence.artefact, given.evidence.lines
        self.refer((*here, "artefact"), "artefact", name, self.artefacts)
        last = self.known.line_counts.get(name)
        if lines and lines[0] > lines[1]:
            self.say((*here, "lines"), f"lines {lines[0]} to {lines[1]}", "the first line first")
        elif lines and last is not None and lines[1] > last:
            self.say((*here, "lines"), f"line {lines[1]}", f"at most {last}, as {name} has")

    def _base(self, run: model.Run, typed: Typed, setup: SetupOf) -> str:
        """What makes a run this run and no other, but for its ordinal."""
        started = run.started_at
        digests = {
            self.artefacts[m.evidence.artefact].sha256
            for m in run.measurements
            if m.evidence and m.evidence.artefact in self.artefacts
        }
        return canonical(
            [
                self.bundle.lab,
                run.system,
                run.node or "",
                run.benchmark,
                run.version or "",
                run.scope,
                typed.parameters,
                setup.digest,
                started.isoformat() if started else "",
                sorted(digests),
            ]
        )

    def _number(self, ready: Iterable[Ready]) -> None:
        """Give equal runs their ordinals and all runs their identities."""
        counted: Counter[str] = Counter()
        taken: dict[str, Path] = {}
        for run in ready:
            if run.given.ordinal is not None:
                run.ordinal = run.given.ordinal
            else:
                run.ordinal = counted[run.base]
                counted[run.base] += 1
            run.identity = sha256(f"{run.base}#{run.ordinal}".encode()).hexdigest()
            if run.identity in taken:
                expected = "another: an equal run of this bundle has it"
                self.say((*run.path, "ordinal"), f"ordinal {run.ordinal}", expected)
            taken[run.identity] = run.path


def _printed(given: model.Measurement) -> str:
    """What the file said, where the stored value is converted."""
    numbers = (given.value,) if given.value is not None else (given.low, given.high)
    text = " to ".join(f"{number:.15g}" for number in numbers if number is not None)
    return f"{text} {given.unit}"
