"""What is known of a host's hardware and settings. Pure: nothing here looks at a machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self


@dataclass(frozen=True)
class Cpu:
    """A logical CPU and what it belongs to, by the kernel's numbers."""

    number: int
    core: int
    socket: int = 0
    node: int = 0


@dataclass(frozen=True)
class Node:
    """A NUMA node: its memory in GiB (None: not known) and its logical CPUs."""

    number: int
    memory_gib: float | None = None
    cpus: tuple[int, ...] = ()


@dataclass(frozen=True)
class Detail:
    """One detected value as a page shows it, and the tool or file that said it."""

    name: str
    label: str
    value: str
    source: str


@dataclass(frozen=True)
class Facts:
    """A host as detected. Everything may be missing; nothing is guessed.

    `cpus` are the logical CPUs that this process may use. `llc_mib` is the sum of all last-level
    caches; `l1d_kib` of one core. `memory_gib` is what programs can use. `smt` is "on", "off"
    or "". `governor`, `thp` (transparent huge pages: always, madvise, never), `virtual` (the
    hypervisor) are empty where not known. `huge_pages_2m` are reserved and free. `setup` holds
    the fields of a run's Setup by their Bundle names. `details` is all of it, to be shown.
    """

    cpus: tuple[Cpu, ...] = ()
    nodes: tuple[Node, ...] = ()
    processor: str = ""
    arch: str = ""
    llc_mib: float | None = None
    l1d_kib: float | None = None
    memory_gib: float | None = None
    smt: str = ""
    governor: str = ""
    thp: str = ""
    huge_pages_2m: int | None = None
    virtual: str = ""
    setup: Mapping[str, str] = field(default_factory=dict)
    details: tuple[Detail, ...] = ()

    @property
    def threads(self) -> int:
        """Logical CPUs that may be used; at least 1."""
        return max(len(self.cpus), 1)

    @property
    def cores(self) -> int:
        """Physical cores of those; at least 1."""
        return max(len({(cpu.socket, cpu.core) for cpu in self.cpus}), 1)

    @property
    def sockets(self) -> int:
        """Sockets of those; at least 1."""
        return max(len({cpu.socket for cpu in self.cpus}), 1)

    def one_cpu_a_core(self, cpus: Iterable[Cpu] | None = None) -> list[Cpu]:
        """The first logical CPU of each core, in the kernel's order."""
        first: dict[tuple[int, int], Cpu] = {}
        for cpu in self.cpus if cpus is None else cpus:
            first.setdefault((cpu.socket, cpu.core), cpu)
        return list(first.values())

    def as_json(self) -> dict[str, Any]:
        """As a Host keeps it."""
        return asdict(self)

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> Self:
        """From what a Host keeps; names that are not known any more are left out."""
        known = {name: kept[name] for name in cls.__dataclass_fields__ if name in kept}
        known["cpus"] = tuple(Cpu(**cpu) for cpu in kept.get("cpus", ()))
        known["nodes"] = tuple(
            Node(**{**node, "cpus": tuple(node.get("cpus", ()))}) for node in kept.get("nodes", ())
        )
        known["details"] = tuple(Detail(**one) for one in kept.get("details", ()))
        return cls(**known)


def gib_words(gib: float) -> str:
    """'23.5 GiB', '1,511 GiB'."""
    return f"{gib:,.1f}".removesuffix(".0") + " GiB"
