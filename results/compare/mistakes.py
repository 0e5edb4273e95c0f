"""Which mistaken unit would explain that a value is so far off."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

NEAR = 0.05  # how near a quotient must come to a factor that nobody takes for a difference
FINE = 0.003  # and to one that could be one

Name = Literal["bits", "sixty", "thousand", "kibi", "million", "mebi", "gibi"]
FACTORS: tuple[tuple[Name, float], ...] = (
    ("bits", 8),
    ("sixty", 60),
    ("thousand", 1_000),
    ("kibi", 1_024),
    ("million", 1_000_000),
)
FINE_FACTORS: tuple[tuple[Name, float], ...] = (("mebi", 2**20 / 10**6), ("gibi", 2**30 / 10**9))
OF_BYTES = ("bits", "kibi", "mebi", "gibi")
TIMES = ("s", "ms", "us", "ns")
A_MINUTE = ("NOPM", "TPM")


@dataclass(frozen=True)
class Mistake:
    """A factor by which a value is off, and whether it is too large by it or too small."""

    name: Name
    too_large: bool
    unit: str


def mistake(times: float | None, unit: str, *, fine: bool) -> Mistake | None:
    """The factor that `times` (found / expected) is near to, of those the unit can be off by.

    `fine`: also MiB for MB and GiB for GB, which only a value of the same system tells.
    """
    if times is None or times <= 0:
        return None
    known = [(name, factor, NEAR) for name, factor in FACTORS]
    if fine:
        known += [(name, factor, FINE) for name, factor in FINE_FACTORS]
    off = abs(math.log(times))
    near = [
        (abs(off - math.log(factor)), name)
        for name, factor, most in known
        if _fits(name, unit) and abs(math.exp(off) / factor - 1) <= most
    ]
    return Mistake(min(near)[1], times > 1, unit) if near else None


def _fits(name: Name, unit: str) -> bool:
    if name in OF_BYTES:
        return "B" in unit
    return name != "sixty" or unit in TIMES or unit.endswith("/s") or unit in A_MINUTE
