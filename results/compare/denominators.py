"""Normalisation: what a value is divided by, from what its scope loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from results.catalogue.base import Metric
from results.models import System
from results.queries import Stored

UNKNOWN = {
    "core": "the number of cores is not known",
    "thread": "the number of threads is not known",
    "socket": "the number of sockets is not known",
    "watt": "the power is not known",
    "peak": "the peak is not known",
    "price": "the price is not known",
}
WHOLE_ONLY = ("socket", "watt", "peak")
UNITS = {
    "core": "{} per core",
    "thread": "{} per thread",
    "socket": "{} per socket",
    "watt": "{} per W",
    "peak": "% of peak",
    "price": "{} per USD",
}


@dataclass(frozen=True)
class Denominator:
    """What to divide by; `amount` None says in `missing` why there is none."""

    amount: float | None
    inferred: bool = False
    missing: str = ""
    basis: str = ""


class Load(NamedTuple):
    """What a run loaded: its system, scope and counts, as far as known."""

    system: System
    scope: str
    cores: int | None
    threads: int | None
    nodes: int | None
    watts: float | None
    smt: str

    @classmethod
    def of(cls, system: System, row: Stored) -> Load:
        smt = row.variant.get("smt", row.tracked.get("smt", ""))
        return cls(system, row.scope, row.cores, row.threads, row.nodes, row.watts, str(smt))


def applies(metric: Metric, per: str) -> bool:
    """Whether the metric lists the normalisation; one that does not keeps its total."""
    return per != "total" and per in metric.per


def unit(metric: Metric, per: str) -> str:
    """The unit of the normalised value."""
    return UNITS[per].format(metric.unit) if applies(metric, per) else metric.unit


def denominator(load: Load, per: str, *, measured_watts: bool) -> Denominator:
    """What to divide a value of this load by.

    per core: all cores at scope system, one socket's at socket, those the run names at
    cores and shard, 1 at thread, nodes × cores at cluster. Socket, watt and peak only
    where whole sockets were loaded. `measured_watts`: all columns measured their power,
    else TDP serves all.
    """
    if per in WHOLE_ONLY and load.scope not in ("system", "socket", "cluster"):
        return Denominator(None, missing="not meant for a part of a socket")
    inferred = False
    basis = ""
    if per == "core":
        amount = _cores(load)
    elif per == "thread":
        amount, inferred = _threads(load)
    elif per == "socket":
        amount = _sockets(load)
    elif per == "watt":
        amount = load.watts if measured_watts else _tdp(load)
        basis = "measured" if measured_watts else "tdp"
    elif per == "peak":
        amount, inferred = _peak(load)
    else:
        amount = _price(load)
    return Denominator(amount, inferred, "" if amount else UNKNOWN[per], basis)


def _cores(load: Load) -> float | None:
    processor = load.system.processor
    if load.scope == "thread":
        return 1
    if load.scope in ("cores", "shard"):
        return load.cores
    if load.scope == "socket":
        return processor.cores if processor else None
    return _times_nodes(load, load.system.cores)


def _threads(load: Load) -> tuple[float | None, bool]:
    """Those the run used; else cores × 2 with SMT on, × 1 else (inferred if SMT is not stated)."""
    if load.scope == "thread":
        return 1, False
    if load.threads:
        return load.threads, False
    cores = _cores(load)
    if cores is None:
        return None, False
    return cores * (2 if load.smt == "on" else 1), load.smt not in ("on", "off")


def _sockets(load: Load) -> float | None:
    return 1 if load.scope == "socket" else _times_nodes(load, load.system.sockets)


def _tdp(load: Load) -> float | None:
    processor = load.system.processor
    if load.scope == "socket":
        return processor.tdp_w if processor else None
    return _times_nodes(load, load.system.tdp_w)


def _peak(load: Load) -> tuple[float | None, bool]:
    if load.scope == "socket":
        return load.system.socket_peak()
    peak, inferred = load.system.peak()
    return _times_nodes(load, peak), inferred


def _price(load: Load) -> float | None:
    if load.scope not in ("system", "cluster"):
        return None
    return _times_nodes(load, load.system.price_usd)


def _times_nodes(load: Load, amount: float | None) -> float | None:
    if load.scope != "cluster":
        return amount
    return amount * load.nodes if amount and load.nodes else None
