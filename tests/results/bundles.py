"""Bundles for tests: small, valid, and changed where a test says so."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest

from results.bundle import BundleError, Document, Problem, read_bundle
from results.ingest import IngestResult, ingest_bundle
from results.models import Run

LAB = "storagereview"
SYSTEM = "nvidia-mgx-vera-c2"
OTHER = "dell-r7725-epyc-9965"

LOG = b"STREAM\nTriad: 100\n"
FILE = {"name": "stream.log", "sha256": sha256(LOG).hexdigest(), "size": len(LOG)}
NEW_SYSTEM = {
    "slug": "box",
    "name": "Box One",
    "processor": "cpu-x",
    "sockets": 2,
    "memory": {"channels": 24, "speed_mts": 6400},
    "storage": {"link": "PCIe Gen5 x4"},
    "extra": {"fans": 4},
}
NEW_CPU = {"slug": "cpu-x", "name": "CPU X", "cores": 64, "inferred": {"isa": "x86-64"}}


def measurement(value: Any = 100.0, **changes: Any) -> dict[str, Any]:
    """A measured triad bandwidth, GB/s."""
    given = {"metric": "triad.bandwidth", "value": value, "unit": "GB/s", **changes}
    return {name: v for name, v in given.items() if v is not None}


def run(*measurements: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A STREAM run on a system of the reference data; a change to None leaves a key out."""
    given = {
        "system": SYSTEM,
        "benchmark": "stream",
        "version": "5.10",
        "scope": "system",
        "setup": {"os": "Debian 12", "kernel": "6.1.0-40", "compiler": "GCC 12.2.0"},
        "parameters": {"placement": "all", "smt": "off", "threads": 64},
        "started_at": "2026-10-01T12:00:00Z",
        "measurements": list(measurements) or [measurement()],
        **changes,
    }
    return {name: v for name, v in given.items() if v is not None}


def bundle(*runs: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A bundle of these runs, of a lab that the reference data knows."""
    return {"bundle": 1, "lab": LAB, "runs": list(runs), **changes}


def as_bytes(given: Any) -> bytes:
    """The bundle as a file of several lines; NaN and infinity as Python writes them."""
    return json.dumps(given, indent=1).encode()


def read(given: Any) -> Document:
    """Read a bundle, given as data or as the file's bytes."""
    return read_bundle(given if isinstance(given, bytes) else as_bytes(given), name="b.json")


def ingest(given: Any, **options: Any) -> IngestResult:
    """Read and store a bundle, published unless said otherwise."""
    options = {"state": Run.State.PUBLISHED, **options}
    return ingest_bundle(read(given), **options)


def reading_problems(given: Any) -> list[Problem]:
    """What is wrong with a file before any database is asked."""
    try:
        document = read(given)
    except BundleError as error:
        return list(error.problems)
    return document.problems(document.findings)


def problems(given: Any, **options: Any) -> list[Problem]:
    """What ingest says is wrong with a bundle; it must be refused."""
    with pytest.raises(BundleError) as caught:
        ingest(given, **options)
    return list(caught.value.problems)


def only_problem(given: Any, **options: Any) -> Problem:
    """The one problem of a bundle."""
    found = problems(given, **options)
    assert len(found) == 1, [str(problem) for problem in found]
    return found[0]
