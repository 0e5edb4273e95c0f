"""The words in which a benchmark is described. Pure data: no Django, no database."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Literal

Role = Literal["variant", "axis", "tracked", "scale", "describes"]
Kind = Literal["text", "integer", "number"]
Value = str | int | float

SCOPES = ("system", "socket", "cores", "thread", "shard", "cluster")
NORMALISATIONS = ("total", "core", "thread", "socket", "watt", "peak", "price")
CATEGORIES: Mapping[str, str] = {
    "memory": "Memory",
    "hpc": "HPC",
    "data": "Analytics and in-memory data",
    "core": "Core",
    "services": "Services",
    "database": "Database",
    "network": "Network",
}


class ParameterError(ValueError):
    """A parameter's value that the catalogue does not allow; says what it expects."""

    def __init__(self, expected: str) -> None:
        super().__init__(expected)
        self.expected = expected


@dataclass(frozen=True)
class Metric:
    """What is read off a workload: `name` is `workload.metric`, in its canonical `unit`.

    `per` lists the normalisations that make sense beside the total. `along` says how a
    table reads the metric along an axis: "best" (the best point, and where it lies) or
    "each" (a row for every point). A negative value is refused unless `minimum` allows it.
    """

    name: str
    unit: str
    higher_is_better: bool
    per: tuple[str, ...] = ()
    along: Mapping[str, Literal["best", "each"]] = field(default_factory=dict)
    label: str = ""
    minimum: float | None = 0.0

    @property
    def workload(self) -> str:
        return self.name.rpartition(".")[0]

    @property
    def short(self) -> str:
        return self.name.rpartition(".")[2]


@dataclass(frozen=True)
class Parameter:
    """A setting of one run and the part it plays when runs are compared.

    `kind` is the type; `also` lists words allowed beside numbers ("all"); `choices` closes
    the set. `follows` names the parameter (or "processor") that this one comes with.
    `assumed` gives, by scope, the value taken where a run does not state one; the run is
    then marked. `counts` names what the value counts of the load ("cores", "threads",
    "nodes"): denominators are read from it. `words` put values into plain words,
    `phrase` does so for all others ("{} connections"). `implied` gives, by scope, the
    value that the scope already says, which words may leave out.
    """

    name: str
    role: Role
    kind: Kind = "text"
    unit: str = ""
    label: str = ""
    choices: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    minimum: float = 0
    maximum: float = 1e15
    follows: str = ""
    assumed: Mapping[str, Value] = field(default_factory=dict)
    counts: Literal["", "cores", "threads", "nodes"] = ""
    words: Mapping[str, str] = field(default_factory=dict)
    phrase: str = ""
    note: str = ""
    implied: Mapping[str, Value] = field(default_factory=dict)

    def clean(self, value: object) -> Value:
        """Return `value` in the parameter's type. Raises ParameterError: what is expected."""
        if isinstance(value, str) and value in self.also:
            return value
        if self.kind == "text":
            return self._clean_text(value)
        return self._clean_number(value)

    def _clean_text(self, value: object) -> str:
        if not isinstance(value, str) or not value or len(value) > 100:
            raise ParameterError("a text of 1 to 100 characters, in quotes")
        if self.choices and value not in self.choices:
            raise ParameterError("one of " + ", ".join(self.choices))
        return value

    def _clean_number(self, value: object) -> int | float:
        expected = self._number_expected()
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise ParameterError(expected)
        number = _number(value, whole=self.kind == "integer")
        if number is None or not self.minimum <= number <= self.maximum:
            raise ParameterError(expected)
        return number

    def _number_expected(self) -> str:
        noun = "a whole number" if self.kind == "integer" else "a number"
        words = "".join(f", or {word}" for word in self.also)
        return f"{noun} from {self.minimum:g} to {self.maximum:g}{words}"

    def say(self, value: Value | None) -> str:
        """The value in plain words: 'SMT off', '1000 connections'."""
        if value is None:
            return ""
        if str(value) in self.words:
            return self.words[str(value)]
        return self.phrase.format(value) if self.phrase else f"{self.label or self.name} {value}"


def _number(value: str | int | float, *, whole: bool) -> int | float | None:
    text = str(value).strip()
    if len(text) > 40 or not re.fullmatch(r"[+-]?\d+(\.\d+)?([eE][+-]?\d{1,3})?", text):
        return None
    number = float(text)
    if number.is_integer() and abs(number) < 2**53:
        return int(number)
    return None if whole or abs(number) > 1e300 else number


@dataclass(frozen=True)
class Tracked:
    """A setup field that counts when two runs are judged, compared to `depth` version parts.

    `depth` 0 compares the whole text; 3 compares 6.8.0-142 and 6.8.0-146 as 6.8.0, what
    lies deeper is a minor difference.
    """

    field: str
    label: str
    depth: int = 0

    def cut(self, value: str) -> str:
        """The part of `value` that counts: text up to its first version, cut to `depth` parts."""
        if not self.depth:
            return value
        match = re.match(rf"\D*\d+(?:\.\d+){{0,{self.depth - 1}}}", value)
        return match.group(0).strip() if match else value


@dataclass(frozen=True)
class Workload:
    """One exercise of a benchmark; `slug` keeps its case.

    `detail` is what tells it from others of the same title ("driverFastback"), shown
    beside the variant. `aka` are the names that programs print for it.
    """

    slug: str
    title: str
    summary: str = ""
    detail: str = ""
    aka: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Benchmark:
    """A program and its rules. `follows` says, by factor, which tracked fields come with it.

    There is one object of each; it equals itself alone.
    """

    slug: str
    name: str
    category: str
    stresses: str
    homepage: str
    workloads: tuple[Workload, ...]
    metrics: tuple[Metric, ...]
    parameters: tuple[Parameter, ...] = ()
    tracked: tuple[Tracked, ...] = ()
    follows: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rules: str = ""
    caveat: str = ""
    order: int = 100

    @cached_property
    def _metrics(self) -> Mapping[str, Metric]:
        return {metric.name: metric for metric in self.metrics}

    @cached_property
    def _parameters(self) -> Mapping[str, Parameter]:
        return {parameter.name: parameter for parameter in self.parameters}

    @cached_property
    def _workloads(self) -> Mapping[str, Workload]:
        return {workload.slug: workload for workload in self.workloads}

    def metric(self, name: str) -> Metric | None:
        return self._metrics.get(name)

    def parameter(self, name: str) -> Parameter | None:
        return self._parameters.get(name)

    def workload(self, slug: str) -> Workload:
        return self._workloads.get(slug) or Workload(slug, slug)

    def followers(self, name: str) -> tuple[str, ...]:
        """The parameters that come with parameter `name` and leave the row key with it."""
        return tuple(p.name for p in self.parameters if p.follows == name)

    def workload_named(self, name: str) -> Workload | None:
        """The workload of that slug or printed name, in any case; None if there is none."""
        wanted = name.casefold()
        names = ((w, (w.slug, *w.aka)) for w in self.workloads)
        return next((w for w, known in names if wanted in map(str.casefold, known)), None)

    def row_title(self, metric: Metric) -> str:
        """What a table calls the metric's rows: 'STREAM Triad', 'Valkey GET p99'."""
        return f"{self.workload(metric.workload).title} {metric.label}".rstrip()

    def variant_phrases(self, scope: str, variant: Mapping[str, Value | None]) -> tuple[str, ...]:
        """The variant in plain words, a phrase a parameter, in the catalogue's order.

        A follower stands behind its leader ('MariaDB 12.3.3'); what the scope already
        says ('one thread') is left out.
        """
        return _phrases(self, scope, tuple(variant.items()))


@lru_cache(maxsize=4096)
def _phrases(
    benchmark: Benchmark, scope: str, variant: tuple[tuple[str, Value | None], ...]
) -> tuple[str, ...]:
    values = dict(variant)
    said: dict[str, str] = {}
    for parameter in benchmark.parameters:
        value = values.get(parameter.name)
        if value is None or parameter.implied.get(scope) == value:
            continue
        if parameter.follows in said:
            said[parameter.follows] += f" {parameter.say(value)}"
        else:
            said[parameter.name] = parameter.say(value)
    return tuple(said.values())
