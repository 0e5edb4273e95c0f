"""The machine that the files of an upload describe: facts put together, never averaged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Pages hold machines against systems, and load no format for it.
    from results.formats.base import Draft, Fact, Scalar

# Of one machine, tools round differently: what the system sees of its memory, what a
# processor may clock at. Further apart than this is another machine.
NEAR = {
    "memory_gb": 0.02,
    "memory_total_gb": 0.02,
    "base_ghz": 0.05,
    "max_ghz": 0.05,
    "l3_mb": 0.02,
}
DESIGN = re.compile(r"(Neoverse|Cortex)-", re.IGNORECASE)
# What the kernel and firmware keep for themselves.
HIDDEN_MEMORY = 0.12
NOISE = re.compile(
    r"\((r|tm|c)\)|\(\d+ vcpus\)|®|™|@.*$"
    r"|\bcpu\b|\bprocessors?\b|\b\d+-cores?\b|\b(genuine|authenticamd)\b"
    r"|\b(amd|intel|nvidia|arm|ampere|ibm)\b|\bwith\b.*$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Told:
    """What one file says of a field."""

    file: str
    line: int | None
    value: Scalar


@dataclass(frozen=True)
class Contradiction:
    """A field of which two files, or a file and what is stored, say different things."""

    field: str
    told: tuple[Told, ...]

    def as_dict(self) -> dict[str, Any]:
        """As a report keeps it."""
        told = [{"file": t.file, "line": t.line, "value": t.value} for t in self.told]
        return {"field": self.field, "told": told}


@dataclass
class Machine:
    """Facts by name with where they stand; what files disagree on is left out of them."""

    facts: dict[str, Told] = field(default_factory=dict)
    setup: dict[str, Told] = field(default_factory=dict)
    contradictions: list[Contradiction] = field(default_factory=list)

    def get(self, name: str) -> Any:
        """A fact's value, or None."""
        told = self.facts.get(name)
        return told.value if told else None

    @property
    def cores(self) -> int | None:
        """Physical cores of all sockets."""
        sockets, each = self.get("sockets"), self.get("cores_per_socket")
        return int(sockets) * int(each) if sockets and each else None

    @property
    def memory_gb(self) -> float | None:
        """Of all modules; else what the system sees."""
        found = self.get("memory_gb") or self.get("memory_total_gb")
        return float(found) if found else None

    @property
    def is_described(self) -> bool:
        """Whether enough is known to tell this machine from others."""
        return bool(self.get("processor"))


def merge(drafts: Iterable[tuple[str, Draft]]) -> Machine:
    """The facts of all files (name, draft); where two disagree, both are told."""
    machine = Machine()
    named = list(drafts)
    machine.facts = _merge(((n, d.facts) for n, d in named), machine.contradictions)
    machine.setup = _merge(((n, d.setup) for n, d in named), machine.contradictions)
    _check_memory(machine)
    return machine


def _merge(
    parts: Iterable[tuple[str, Mapping[str, Fact]]], told_apart: list[Contradiction]
) -> dict[str, Told]:
    by_name: dict[str, list[Told]] = {}
    for file, facts in parts:
        for name, fact in facts.items():
            by_name.setdefault(name, []).append(Told(file, fact.line, fact.value))
    found = {}
    for name, every in by_name.items():
        told = _settle(name, every)
        if all(agrees(name, told[0].value, other.value) for other in told[1:]):
            found[name] = told[0]
        else:
            told_apart.append(Contradiction(name, tuple(told)))
    return found


def _settle(name: str, told: list[Told]) -> list[Told]:
    """Of honest differences, what says more of the machine as it ran.

    Some tools name an Arm core's design, others the processor that it is in; firmware counts
    the threads that the hardware offers, the system those that are switched on.
    """
    if name == "processor":
        return [t for t in told if not DESIGN.match(str(t.value))] or told
    if name == "vendor":
        return [t for t in told if t.value != "Arm"] or told
    if name in ("threads", "threads_per_core"):
        least, most = min(int(t.value) for t in told), max(int(t.value) for t in told)
        if most in (2 * least, 4 * least):
            return [t for t in told if int(t.value) == least]
    return told


def _check_memory(machine: Machine) -> None:
    """What the system sees is somewhat less than its modules hold, never more."""
    modules, seen = machine.facts.get("memory_gb"), machine.facts.get("memory_total_gb")
    if modules is None or seen is None:
        return
    ratio = float(seen.value) / float(modules.value) if modules.value else 0.0
    if not 1 - HIDDEN_MEMORY <= ratio <= 1.001:
        machine.contradictions.append(Contradiction("memory_gb", (modules, seen)))
        del machine.facts["memory_gb"], machine.facts["memory_total_gb"]


def agrees(name: str, one: Any, other: Any) -> bool:
    """Whether two values of a field can be of one machine."""
    if name == "processor":
        return plain_name(str(one)) == plain_name(str(other))
    if isinstance(one, str) or isinstance(other, str):
        return str(one).casefold() == str(other).casefold()
    return bool(abs(one - other) <= NEAR.get(name, 0.0) * max(abs(one), abs(other)))


def plain_name(name: str) -> str:
    """A name without maker, marks and clock: 'AMD EPYC 9965 192-Core' is 'epyc 9965'."""
    return " ".join(NOISE.sub(" ", name).casefold().split())


def display_name(name: str) -> str:
    """A name as tables show it: 'AMD EPYC 9965 192-Core Processor' is 'EPYC 9965'."""
    return " ".join(NOISE.sub(" ", name).split()) or name


def same_memory(one: float | None, other: float | None) -> bool | None:
    """Whether two sizes in GB can be of one machine; None where one is not known.

    One may be of the modules, the other what the system sees.
    """
    if not one or not other:
        return None
    return abs(one - other) <= HIDDEN_MEMORY * max(one, other)
