"""What is known of a system, fact by fact, each stated or inferred."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from results.models import Processor, System


@dataclass(frozen=True)
class Fact:
    """A name and a value in words; `inferred`: no source states it."""

    name: str
    value: str
    inferred: bool = False


@dataclass(frozen=True)
class Group:
    """Facts under one heading."""

    title: str
    facts: list[Fact]


def system_facts_table(system: System) -> list[Group]:
    """All that is known of a system, its processor first; what is not known is left out."""
    groups = []
    if system.processor:
        groups.append(Group(_("Processor"), _processor(system.processor)))
    groups += [
        Group(_("Memory"), _memory(system)),
        Group(_("Machine"), _machine(system)),
        Group(_("Further facts"), _extra(system.extra, system.inferred, _FIELDS_OF_SYSTEM)),
    ]
    return [group for group in groups if group.facts]


def _processor(processor: Processor) -> list[Fact]:
    inferred = processor.inferred
    known = [
        _fact(_("Model"), processor.name),
        _fact(_("Vendor"), processor.vendor),
        _either(_("Instruction set"), processor.isa, inferred.get("isa")),
        _either(
            _("Microarchitecture"), processor.microarchitecture, inferred.get("microarchitecture")
        ),
        _either(_("Cores"), processor.cores, inferred.get("cores")),
        _either(_("Threads"), processor.threads, inferred.get("threads")),
        _either(_("Base clock"), processor.base_ghz, inferred.get("base_ghz"), "GHz"),
        _either(_("Highest clock"), processor.max_ghz, inferred.get("max_ghz"), "GHz"),
        _either(_("TDP"), processor.tdp_w, inferred.get("tdp_w"), "W"),
        _either(_("L1 instruction cache"), processor.l1i_kb, inferred.get("l1i_kb"), "kB"),
        _either(_("L1 data cache"), processor.l1d_kb, inferred.get("l1d_kb"), "kB"),
        _either(_("L2 cache"), processor.l2_kb, inferred.get("l2_kb"), "kB"),
        _either(_("L3 cache"), processor.l3_mb, inferred.get("l3_mb"), "MB"),
    ]
    more = _extra(processor.extra, inferred, _FIELDS_OF_PROCESSOR)
    return [*(fact for fact in known if fact), *more]


def _memory(system: System) -> list[Fact]:
    peak, peak_inferred = system.peak()
    share, share_inferred = system.socket_peak()
    known = [
        _fact(_("Modules"), system.memory_config),
        _either(_("Type"), system.memory_type, system.inferred.get("memory_type")),
        _fact(_("Speed"), system.memory_mts, "MT/s"),
        _either(_("Channels"), system.memory_channels, system.inferred.get("memory_channels")),
        _fact(_("Capacity"), system.memory_gb, "GB"),
        _fact(_("Peak bandwidth"), peak, "GB/s", inferred=peak_inferred),
        _fact(_("Peak bandwidth per socket"), share, "GB/s", inferred=share_inferred),
    ]
    return [fact for fact in known if fact]


def _machine(system: System) -> list[Fact]:
    known = [
        _fact(_("Vendor"), system.vendor),
        _either(_("Sockets"), system.sockets, system.inferred.get("sockets")),
        _fact(_("Cores in all"), system.cores),
        _fact(_("TDP of all sockets"), system.tdp_w, "W"),
        _fact(_("Storage"), system.storage_device),
        _fact(_("Storage link"), system.storage_link),
        _fact(_("Firmware"), system.firmware),
        _fact(_("Firmware profile"), system.firmware_profile),
        _fact(_("Price"), system.price_usd, "USD"),
    ]
    return [fact for fact in known if fact]


def _fact(name: str, value: object, unit: str = "", *, inferred: bool = False) -> Fact | None:
    if value in (None, ""):
        return None
    return Fact(name, f"{_words(value)} {unit}".rstrip(), inferred)


def _either(name: str, stated: object, guessed: object, unit: str = "") -> Fact | None:
    """The stated value, else the inferred one, marked."""
    return _fact(name, stated, unit) or _fact(name, guessed, unit, inferred=True)


def _words(value: object) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, (int, float)):
        return f"{value:,.12g}"
    if isinstance(value, list):
        return ", ".join(_words(one) for one in value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {_words(one)}" for key, one in value.items())
    return str(value)


_FIELDS_OF_PROCESSOR = (
    *("isa", "microarchitecture", "cores", "threads", "base_ghz", "max_ghz", "tdp_w"),
    *("l1i_kb", "l1d_kb", "l2_kb", "l3_mb"),
)
_FIELDS_OF_SYSTEM = (
    *("memory_channels", "memory_type", "sockets"),
    *("peak_gbs", "peak_gbs_per_socket"),
)

# Parts of names that say a unit, and parts that are not plain words.
_UNITS = {
    "gbs": "GB/s",
    "tbs": "TB/s",
    "ghz": "GHz",
    "mts": "MT/s",
    "kb": "kB",
    "mb": "MB",
    "gb": "GB",
    "tb": "TB",
    "usd": "USD",
    "nm": "nm",
    "w": "W",
}
_SPELLED = {
    name: name.upper()
    for name in ("tdp", "cxl", "ipc", "nic", "numa", "l1", "l2", "l3", "ccd", "ccx", "io")
}
_SPELLED |= {
    "alus": "ALUs",
    "c2c": "C2C",
    "ccds": "CCDs",
    "cpu": "CPU",
    "crc": "CRC",
    "dp": "double-precision",
    "flop": "operations",
    "int": "integer",
    "l1d": "L1d",
    "l1i": "L1i",
    "max": "at most",
    "min": "at least",
    "openmp": "OpenMP",
    "pcie": "PCIe",
}


def _extra(
    stated: Mapping[str, Any], guessed: Mapping[str, Any], known: Iterable[str]
) -> list[Fact]:
    """Facts without a column of their own, under their names made readable."""
    facts = [_named(name, value, inferred=False) for name, value in stated.items()]
    facts += [
        _named(name, value, inferred=True)
        for name, value in guessed.items()
        if name not in set(known) and name not in stated
    ]
    return [fact for fact in facts if fact]


def _named(name: str, value: object, *, inferred: bool) -> Fact | None:
    """'tdp_w_min' and 250 become 'TDP at least' and '250 W'."""
    parts = name.split("_")
    numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
    unit = next((part for part in parts[1:] if part in _UNITS), "") if numeric else ""
    words = " ".join(_SPELLED.get(part, part) for part in parts if part != unit)
    return _fact(words[:1].upper() + words[1:], value, _UNITS.get(unit, ""), inferred=inferred)
