"""Units: MB is 10**6 bytes, MiB 2**20; what does not convert is an error, never a guess.

Pint does the arithmetic of units, over definitions of our own: only units that benchmarks
print, no prefixes put together freely ("mb" is neither a millibit nor a megabyte here).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from threading import Lock
from typing import Any, NamedTuple

PREFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
TIMES = {
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "ms": Fraction(1, 10**3),
    "s": Fraction(1),
    "min": Fraction(60),
    "h": Fraction(3600),
    "day": Fraction(86400),
}
# What is counted, each a kind of its own: a request is not an operation.
COUNTED = {
    "requests": "request",
    "operations": "operation",
    "messages": "message",
    "queries": "query",
    "transactions": "transaction",
    "instructions": "instruction",
    "FLOP": "flop",
    "orders": "order",
    "rows": "row",
    "signatures": "signature",
    "verifications": "verification",
}
# One unit, several spellings.
SPELLINGS = {
    "sec": "s", "secs": "s", "second": "s", "seconds": "s",
    "msec": "ms", "millisecond": "ms", "milliseconds": "ms",
    "µs": "us", "μs": "us", "usec": "us", "microsecond": "us", "microseconds": "us",
    "nsec": "ns", "nanosecond": "ns", "nanoseconds": "ns",
    "minute": "min", "minutes": "min", "hour": "h", "hours": "h", "d": "day", "days": "day",
    "KB": "kB", "byte": "B", "bytes": "B", "Byte": "B", "Bytes": "B",
    "bit": "b", "bits": "b", "kbit": "kb", "Mbit": "Mb", "Gbit": "Gb", "Tbit": "Tb",
    "req": "requests", "reqs": "requests", "request": "requests",
    "op": "operations", "ops": "operations", "operation": "operations",
    "msg": "messages", "msgs": "messages", "message": "messages",
    "query": "queries", "transaction": "transactions", "row": "rows",
    "sign": "signatures", "signs": "signatures", "verify": "verifications",
    "percent": "%",
}  # fmt: skip
# Units that stand for a whole ratio.
WHOLE = {
    "NOPM": "orders/min", "kNOPM": "korders/min", "MNOPM": "Morders/min",
    "TPM": "transactions/min", "TPS": "transactions/s", "tps": "transactions/s",
    "QPS": "queries/s", "qps": "queries/s",
    "IPS": "instructions/s", "KIPS": "kinstructions/s",
    "MIPS": "Minstructions/s", "GIPS": "Ginstructions/s", "TIPS": "Tinstructions/s",
    "bps": "b/s", "kbps": "kb/s", "Mbps": "Mb/s", "Gbps": "Gb/s",
    **{f"{p}FLOPS": f"{p}FLOP/s" for p in PREFIXES},
    "Mflops": "MFLOP/s", "Gflops": "GFLOP/s", "Tflops": "TFLOP/s",
    "Mflop/s": "MFLOP/s", "Gflop/s": "GFLOP/s", "Tflop/s": "TFLOP/s",
    # Simulated time in a time: no plain number, whatever the two times would cancel to.
    **{f"{t}/{d}": f"simulated_{t}/{d}" for t in ("ns", "us", "ms") for d in ("day", "h", "s")},
}  # fmt: skip
SYMBOL = r"[A-Za-zµμ_%]{1,30}"
FORM = re.compile(rf"{SYMBOL}(/{SYMBOL})?")
# Beside the canonical unit an error names these first.
COMMON = ("B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "b", "kb", "Mb", "Gb")


class UnitError(ValueError):
    """A unit that does not convert to the one asked for; `accepted` names those that do."""

    def __init__(self, found: str, accepted: Iterable[str]) -> None:
        self.found = found
        self.accepted = tuple(accepted)
        super().__init__(f"found unit {found[:60]!r}, expected one of {', '.join(self.accepted)}")


class Factor(NamedTuple):
    """The exact ratio of two units: a value is multiplied, then divided.

    In decimal, so that 82629.4 MB/s are 82.6294 GB/s and not the double next to it.
    """

    multiply: int
    divide: int

    def __call__(self, value: float) -> float:
        if self == SAME:
            return value
        return float(Decimal(repr(value)) * self.multiply / self.divide)


SAME = Factor(1, 1)
_one_at_a_time = Lock()


@lru_cache(maxsize=1024)
def factor(found: str, canonical: str) -> Factor:
    """What turns a value in unit `found` into `canonical`. Raises UnitError."""
    if found == canonical:
        return SAME
    try:
        ratio = _quantity(found) / _quantity(canonical)
    except LookupError:
        raise UnitError(found, accepted(canonical)) from None
    if not ratio.dimensionless:
        raise UnitError(found, accepted(canonical))
    exact = Fraction(ratio.to_base_units().magnitude)
    return Factor(exact.numerator, exact.denominator)


@cache
def accepted(canonical: str) -> tuple[str, ...]:
    """The units that convert to `canonical`, it first."""
    try:
        top, _, bottom = _spelled(canonical).partition("/")
        kind = _kind(canonical)
        same = [unit for unit in WHOLE if _kind(unit) == kind]
        names = [] if "_" in top else _like(top)
    except LookupError:
        return (canonical,)
    found = [f"{name}/{bottom}" if bottom else name for name in names]
    return tuple(dict.fromkeys([canonical, *same, *found]))


def _like(symbol: str) -> list[str]:
    """The usual units of the kind of `symbol`."""
    kind = _kind(symbol)
    names = [unit for unit in _definitions() if _kind(unit) == kind]
    return [unit for unit in names if unit in COMMON] or [u for u in names if "_" not in u][:7]


def _kind(unit: str) -> tuple[str, ...]:
    """What a unit measures, by the names of the base units above and below its stroke.

    For lists of units, which pages show: without Pint, whose import takes 27 MB. Raises
    LookupError.
    """
    top, _, bottom = _spelled(unit).partition("/")
    return tuple(_definitions()[part][1].rpartition(" * ")[2] for part in (top, bottom) if part)


def _spelled(unit: str) -> str:
    """The unit in the spelling of the definitions. Raises LookupError for another form."""
    text = re.sub(r"\s+per\s+", "/", unit.strip()).replace(" ", "")
    text = WHOLE.get(text, text)
    if len(text) > 40 or not FORM.fullmatch(text):
        raise LookupError(unit)
    spelled = "/".join(SPELLINGS.get(part, part) for part in text.split("/"))
    return WHOLE.get(spelled, spelled)


@lru_cache(maxsize=1024)
def _quantity(unit: str) -> Any:
    """One `unit` as Pint knows it. Raises LookupError for what is not defined."""
    top, _, bottom = _spelled(unit).partition("/")
    names = [_name(part) for part in (top, bottom) if part]
    quantity = _registry().Quantity(Fraction(1), names[0])
    if bottom:
        quantity = quantity / _registry().Quantity(Fraction(1), names[1])
    return quantity


def _name(symbol: str) -> str:
    """The definition's name of a symbol. Raises LookupError."""
    return _definitions()[symbol][0]


@cache
def _definitions() -> Mapping[str, tuple[str, str]]:
    """By symbol: a name that Pint can parse, and its definition."""
    scales: dict[str, tuple[str, Fraction | int]] = {}
    for symbol, seconds in TIMES.items():
        scales[symbol] = ("second", seconds)
        scales[f"simulated_{symbol}"] = ("simulated", seconds)
    for prefix, times in (PREFIXES | BINARY).items():
        scales[f"{prefix}B"] = ("bit", 8 * times)
        scales[f"{prefix}b"] = ("bit", times)
        scales[f"{prefix}Hz"] = ("hertz", times)
    for symbol, base in COUNTED.items():
        for prefix, times in PREFIXES.items():
            scales[f"{prefix}{symbol}"] = (base, times)
    scales |= {"%": ("share", 1), "W": ("watt", 1), "kW": ("watt", 1000), "J": ("joule", 1)}
    return {
        symbol: (f"unit_{n}", f"unit_{n} = {Fraction(scale)} * base_{base}")
        for n, (symbol, (base, scale)) in enumerate(scales.items())
    }


def _registry() -> Any:
    """Pint with our definitions only; imported when a unit first differs from the canonical.

    One for all threads: quantities of two registries do not mix.
    """
    with _one_at_a_time:
        return _built_registry()


@cache
def _built_registry() -> Any:
    import pint

    registry: Any = pint.UnitRegistry(None, non_int_type=Fraction)
    definitions = _definitions().values()
    for base in sorted({text.rpartition(" * ")[2] for _, text in definitions}):
        registry.define(f"{base} = [{base}]")
    for _, text in definitions:
        registry.define(text)
    return registry
