"""Results made for tests, stored the way all results are: as a Bundle, through ingest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from results.bundle import read_bundle
from results.ingest import ingest_bundle
from results.models import Trust

LAB = "made-lab"
# Equal but for rounding; typed so that it may stand for a number anywhere.
near: Any = pytest.approx


def system(slug: str, *, cores: int | None = 64, sockets: int = 2, **fields: Any) -> dict[str, Any]:
    """A system of two sockets with its own processor, as bundle parts."""
    cpu = {"slug": f"cpu-{slug}", "name": f"CPU {slug}", "cores": cores, "tdp_w": 300}
    return {
        "processors": [cpu],
        "systems": [
            {"slug": slug, "name": slug, "processor": cpu["slug"], "sockets": sockets, **fields}
        ],
    }


def run(
    on: str,
    metric: str,
    value: float | tuple[float | None, float | None],
    *,
    benchmark: str = "stream",
    scope: str = "system",
    parameters: Mapping[str, Any] | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """A run with one measurement, in the metric's own unit; a tuple is a reported range."""
    number = {"low": value[0], "high": value[1]} if isinstance(value, tuple) else {"value": value}
    if benchmark == "stream" and parameters is None:
        parameters = {"placement": "all"}
    unit = fields.pop("unit", "GB/s")
    return {
        "system": on,
        "benchmark": benchmark,
        "scope": scope,
        "parameters": dict(parameters or {}),
        "measurements": [{"metric": metric, "unit": unit, **number}],
        **fields,
    }


def store(
    *parts: Mapping[str, Any],
    lab: str = LAB,
    trust: int = Trust.COMMUNITY,
    state: str = "published",
) -> list[int]:
    """Ingest systems and runs as one bundle; ids of the new runs."""
    bundle: dict[str, Any] = {"bundle": 1, "lab": lab, "labs": [{"slug": lab, "name": lab}]}
    for part in parts:
        if "benchmark" in part:
            bundle.setdefault("runs", []).append(part)
        for name in ("processors", "systems") if "systems" in part else ():
            bundle.setdefault(name, []).extend(part[name])
    document = read_bundle(json.dumps(bundle).encode(), name="made.json")
    return ingest_bundle(document, state=state, trust=trust, allow_new_labs=True).created
