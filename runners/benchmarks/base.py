"""The words in which a runner says what it runs. Pure: no Django, no database.

A runner is one module of this room with the name `RUNNER`, a `Runner`. Nothing lists the
modules: they are found. The engine does the rest for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from runners.machine import Facts

Value = str | int | float
Values = Mapping[str, Value]
Kind = Literal["integer", "number", "choice"]
Scope = Literal["system", "socket", "cores", "thread", "shard", "cluster"]


@dataclass(frozen=True)
class Bound:
    """What a parameter may be on a host: numbers from `minimum` to `maximum`, or `choices`.

    `default` is what stands where nothing was chosen. `because` says why the host allows no
    more ("2 logical CPUs", "one socket"), for a reader.
    """

    default: Value
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    because: str = ""


@dataclass(frozen=True)
class Parameter:
    """A setting that may be chosen. Its name is the catalogue's where the catalogue has it.

    `phrase` says a value in words with `{}` for it: "{} threads". `help` is a sentence.
    """

    name: str
    kind: Kind
    label: str
    unit: str = ""
    help: str = ""
    words: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Preset:
    """A choice of parameters with a name. `note` says what it is good for and how long it takes."""

    name: str
    label: str
    note: str
    values: Values = field(default_factory=dict)


@dataclass(frozen=True)
class Check:
    """Whether the host has what the runner needs: the version found, or what to install."""

    ready: bool
    version: str = ""
    missing: str = ""


@dataclass(frozen=True)
class Step:
    """A program with its arguments, never a shell's line. Its output goes to files.

    `argv` may hold `{scratch}` for the scratch folder. `env` is added to the clean environment.
    `cpus` are the logical CPUs it is bound to, None: all. `weight` is its share of the job's
    time, for the progress; `progress` reads how far it is, from 0 to 1, off the end of its
    output, None where that cannot be told. `finished` is an expression that a line of its
    output must match: without it the step failed, whatever its exit code. `measures` is False
    for a step that only prepares (compiling): it is not watched for what disturbs a measurement.
    """

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    cpus: tuple[int, ...] | None = None
    time_limit_s: float = 600.0
    weight: float = 1.0
    progress: Callable[[str], float | None] | None = None
    finished: str = ""
    measures: bool = True


@dataclass(frozen=True)
class Plan:
    """What is run for a choice of parameters on a host.

    `output` names the step whose standard output is the run's log, the artefact that the format
    `reads` reads. `scope` is what was loaded. `parameters` and `setup` are those of the run that
    the output does not say itself. `shortest_s`: a measuring step that took less is flagged.
    """

    steps: tuple[Step, ...]
    output: str
    reads: str
    scope: Scope | None = None
    parameters: Values = field(default_factory=dict)
    setup: Mapping[str, str] = field(default_factory=dict)
    shortest_s: float = 0.5
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Adapted:
    """A stored run's parameters as this host can do them; `cannot` names what it cannot, and
    what stands instead, a sentence each ("16 GiB arrays: this host has 24 GiB of memory; 0.5
    GiB instead")."""

    values: Values
    cannot: tuple[str, ...] = ()


@dataclass(frozen=True)
class Runner:
    """How a benchmark is run. `benchmark` is its slug in the catalogue, `version` what our runs
    of it are stored under where the program does not say it.

    `check(facts)` looks whether the host has what is needed; `bounds(facts)` what may be chosen
    there; `plan(values, facts, kernels)` makes the steps, its values checked and complete before
    (`kernels`: the folder of compiled kernels); `adapt(parameters, scope, facts)` takes those of
    a stored run of any machine. `within(values, facts)` gives the bounds that depend on other
    values (the threads of one socket, where one is chosen), in place of those of `bounds`.
    """

    benchmark: str
    parameters: tuple[Parameter, ...]
    presets: tuple[Preset, ...]
    check: Callable[[Facts], Check]
    bounds: Callable[[Facts], Mapping[str, Bound]]
    plan: Callable[[Values, Facts, str], Plan]
    adapt: Callable[[Values, str, Facts], Adapted]
    version: str = ""
    within: Callable[[Values, Facts], Mapping[str, Bound]] | None = None

    def preset(self, name: str) -> Preset | None:
        """The preset of that name."""
        return next((preset for preset in self.presets if preset.name == name), None)


class ParameterError(ValueError):
    """Values that cannot be taken: a message for each parameter, by its name."""

    def __init__(self, messages: Mapping[str, str]) -> None:
        super().__init__("; ".join(messages.values()))
        self.messages = dict(messages)


Steps = Sequence[Step]
