"""Which system the files of an upload describe: a stored one, several that fit, or a new one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.text import slugify
from django.utils.translation import ngettext

from results.intake.machine import (
    Contradiction,
    Machine,
    Told,
    display_name,
    plain_name,
    same_memory,
)
from results.models import Processor, System

MOST_OPTIONS = 8
Part = dict[str, Any]


@dataclass
class Match:
    """`certain`: the one stored system with this processor, sockets and memory.

    `likely` are those of which nothing known speaks against it. `proposal` describes the
    machine as a new system, where the files say enough.
    """

    certain: System | None = None
    likely: Sequence[System] = ()
    proposal: Proposal | None = None


@dataclass
class Proposal:
    """A system, and its processor if that is new too, as parts of a bundle."""

    system: Part
    processor: Part | None = None
    name: str = ""


def match(machine: Machine, seen: QuerySet[System]) -> Match:
    """Hold the machine against the systems of `seen`. Two queries."""
    if not machine.is_described:
        return Match()
    name = plain_name(str(machine.get("processor")))
    same_cpu = [s for s in seen.select_related("processor") if _is_called(s.processor, name)]
    fitting = [system for system in same_cpu if not contradictions(machine, system)]
    certain = [system for system in fitting if _fits_surely(machine, system)]
    return Match(
        certain=certain[0] if len(certain) == 1 else None,
        likely=fitting[:MOST_OPTIONS],
        proposal=propose(machine, seen),
    )


def _is_called(processor: Processor | None, name: str) -> bool:
    if processor is None:
        return False
    return name in {plain_name(processor.name), plain_name(processor.short_name)} - {""}


def _fits_surely(machine: Machine, system: System) -> bool:
    if machine.get("virtual") and not system.extra.get("virtual"):
        return False
    memory = same_memory(machine.memory_gb, system.memory_gb)
    return machine.get("sockets") == system.sockets and memory is True


def contradictions(machine: Machine, system: System) -> list[Contradiction]:
    """What the files say otherwise than what is stored of the system, and which decides."""
    processor = system.processor
    pairs = [
        ("sockets", system.sockets),
        ("cores_per_socket", processor.cores if processor else None),
    ]
    found = []
    if processor is not None and machine.get("processor"):
        name = plain_name(str(machine.get("processor")))
        if not _is_called(processor, name):
            found.append(_against(machine, "processor", processor.name))
    for name, stored in pairs:
        said = machine.get(name)
        if None not in (stored, said) and said != stored and not _is_part(name, said, stored):
            found.append(_against(machine, name, stored))
    return found


def _is_part(name: str, said: Any, stored: Any) -> bool:
    """Fewer cores than the processor has: some may be switched off."""
    return name == "cores_per_socket" and said < stored


def smaller_contradictions(machine: Machine, system: System) -> list[Contradiction]:
    """What the files say otherwise of memory and firmware: the stored one stays, both are told."""
    found = []
    if same_memory(machine.memory_gb, system.memory_gb) is False:
        name = "memory_gb" if machine.get("memory_gb") else "memory_total_gb"
        found.append(_against(machine, name, system.memory_gb))
    pairs = (
        ("memory_type", system.memory_type),
        ("memory_mts", system.memory_mts),
        ("cores_per_socket", system.processor.cores if system.processor else None),
    )
    for name, stored in pairs:
        if stored and machine.get(name) and str(machine.get(name)) != str(stored):
            found.append(_against(machine, name, stored))
    return found


def _against(machine: Machine, name: str, stored: Any) -> Contradiction:
    return Contradiction(name, (machine.facts[name], Told("", None, stored)))


def propose(machine: Machine, seen: QuerySet[System], *, slug: str = "") -> Proposal | None:
    """The machine as a new system, and its processor, unless one of that name is stored."""
    if not machine.is_described or not machine.get("sockets"):
        return None
    processor, new = _processor(machine, seen)
    product = " ".join(str(machine.get(n) or "") for n in ("maker", "product")).strip()
    sockets = int(machine.get("sockets"))
    title = product or _system_title(machine, sockets)
    system: Part = {
        "slug": slug or _free_slug(_slug(product, processor), seen),
        "name": title[:120],
        "processor": processor,
        "sockets": sockets,
        "memory": _memory(machine),
        "extra": {"virtual": machine.get("virtual")} if machine.get("virtual") else {},
    }
    if machine.get("maker"):
        system["vendor"] = str(machine.get("maker"))[:60]
    if machine.get("bios"):
        system["firmware"] = {"bios": str(machine.get("bios"))[:80]}
    return Proposal(system, new, title)


def _system_title(machine: Machine, sockets: int) -> str:
    processor = str(machine.get("processor")).strip()
    if machine.get("virtual"):
        kind, count = machine.get("virtual"), machine.get("threads")
        return f"{kind} virtual machine, {count} CPUs of {processor}"
    return processor if sockets == 1 else f"{sockets} × {processor}"


def _slug(product: str, processor: str) -> str:
    return slugify(product)[:45].strip("-") + "-" + processor[:30] if product else processor


def _free_slug(wanted: str, seen: QuerySet[System]) -> str:
    """`wanted`, or with the first number after it that no system of `seen` has.

    A hidden system that lost its runs was made for files that are being read again. What others
    hide is left to ingest: a number here would tell of it.
    """
    wanted = wanted[:70].strip("-") or "system"
    there = seen.filter(slug__startswith=wanted).exclude(is_public=False, runs=None)
    taken = set(there.values_list("slug", flat=True))
    numbers = (f"{wanted}-{number}" for number in range(2, len(taken) + 3))
    return wanted if wanted not in taken else next(slug for slug in numbers if slug not in taken)


def _processor(machine: Machine, seen: QuerySet[System]) -> tuple[str, Part | None]:
    """The slug of the machine's processor, and its description if it is new.

    Of the stored ones those count that all know, or that a system of `seen` has.
    """
    known = Processor.objects.filter(Q(is_public=True) | Q(pk__in=seen.values("processor")))
    name = str(machine.get("processor")).strip()
    cores = machine.get("cores_per_socket")
    for stored in known:
        if _is_called(stored, plain_name(name)) and cores in (None, stored.cores):
            return stored.slug, None
    short = display_name(name)
    if machine.get("virtual"):
        # A virtual machine is given some cores of a processor: it is not that processor.
        given = f" ({machine.get('threads') or cores} vCPUs)"
        name, short = name + given, short[:45] + given
    part = {
        "slug": _free_processor_slug(slugify(name)[:70], known),
        "name": name[:120],
        "short_name": short[:60],
        "vendor": machine.get("vendor"),
        "isa": machine.get("isa"),
        "cores": cores,
        "threads": _threads(machine),
        "base_ghz": machine.get("base_ghz"),
        "max_ghz": machine.get("max_ghz"),
        "l1i_kb": machine.get("l1i_kb"),
        "l1d_kb": machine.get("l1d_kb"),
        "l2_kb": machine.get("l2_kb"),
        "l3_mb": machine.get("l3_mb"),
    }
    return str(part["slug"]), {key: value for key, value in part.items() if value is not None}


def _threads(machine: Machine) -> int | None:
    cores, each = machine.get("cores_per_socket"), machine.get("threads_per_core")
    return int(cores) * int(each) if cores and each and int(each) > 1 else None


def _free_processor_slug(wanted: str, known: QuerySet[Processor]) -> str:
    taken = set(known.filter(slug__startswith=wanted).values_list("slug", flat=True))
    numbers = (f"{wanted}-{number}" for number in range(2, len(taken) + 3))
    return wanted if wanted not in taken else next(slug for slug in numbers if slug not in taken)


def _memory(machine: Machine) -> Part:
    modules, size = machine.get("memory_modules"), machine.get("memory_gb")
    each = f"{modules} × {size / modules:g} GB" if modules and size else None
    found = {
        "config": each,
        "type": machine.get("memory_type"),
        "speed_mts": machine.get("memory_mts"),
        "capacity_gb": machine.memory_gb,
    }
    return {key: value for key, value in found.items() if value is not None}


def described(system: System) -> str:
    """A system in a list to choose from: 'EPYC 9965 · PowerEdge R7725, 2 sockets, 1,536 GB'."""
    parts = [str(system)]
    if system.sockets:
        words = ngettext("%(count)d socket", "%(count)d sockets", system.sockets)
        parts.append(words % {"count": system.sockets})
    if system.memory_gb:
        parts.append(f"{system.memory_gb:,g} GB")
    return ", ".join(parts)
