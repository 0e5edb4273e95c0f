"""Made-up results to measure with, as bundles. Pure: no Django, the same on every call."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from results import catalogue
from results.catalogue.base import Benchmark, Metric

LAB = "bench-lab"
SCOPE = "system"
EARLY = datetime(2020, 1, 1, tzinfo=UTC)
# Their metrics are the rows that the measured pages show: 4 + 5 + 8 + 17 + 6 = 40.
SHOWN = ("stream", "tinymembench", "valkey", "hammerdb", "nginx")
# Stored beside them, and never shown: 3 + 3 + 4 = 10 metrics.
HIDDEN = ("gromacs", "7zip", "stream_pts")
METRICS = 50
COLUMNS = 6
PARAMETERS: dict[str, dict[str, str | int]] = {
    "stream": {"placement": "all", "smt": "off", "threads": 128},
    "tinymembench": {"placement": "local", "page": "4k"},
    "valkey": {"mode": "socket_packed", "cores_per_shard": 4, "pipeline": 16},
    "hammerdb": {"engine": "postgresql", "engine_version": "18.4", "virtual_users": 256},
    "nginx": {"smt": "on", "connections": 1000},
    "gromacs": {"smt": "on"},
    "7zip": {"threads": "all"},
    "stream_pts": {"smt": "off"},
}
SETUP = {
    "os": "Debian GNU/Linux 12 (bookworm)",
    "kernel": "6.1.0-40-amd64",
    "compiler": "GCC 12.2.0",
    "glibc": "2.36",
    "bios.profile": "performance",
    "governor": "performance",
}


@dataclass(frozen=True)
class Shape:
    """How much is stored: each system has each of METRICS so many times."""

    systems: int
    repeats: int

    @property
    def measurements(self) -> int:
        return self.systems * METRICS * self.repeats


def system_slug(number: int) -> str:
    return f"bench-system-{number:03d}"


def make_bundle(systems: int, repeats: int, *, batch: int = 0, split: bool = False) -> bytes:
    """A bundle's JSON: `repeats` runs of every benchmark on every system, 50 metrics in all.

    `batch` sets other start times, so that bundles of two batches have no run in common;
    batch 0 is the newest, later ones lie before it. `split`: every measurement is a run
    of its own, a second later than the last.
    """
    start = EARLY - timedelta(days=batch)
    document = {
        "bundle": 1,
        "lab": LAB,
        "labs": [{"slug": LAB, "name": "Bench lab", "kind": "review"}],
        "processors": [_processor(number) for number in range(systems)],
        "systems": [_system(number) for number in range(systems)],
        "runs": list(_runs(systems, repeats, start, split=split)),
    }
    return json.dumps(document).encode()


def _processor(number: int) -> dict[str, Any]:
    return {
        "slug": f"bench-cpu-{number:03d}",
        "name": f"Bench CPU {number:03d}",
        "vendor": "Bench",
        "cores": 32 + number,
        "threads": 64 + 2 * number,
        "tdp_w": 300,
    }


def _system(number: int) -> dict[str, Any]:
    return {
        "slug": system_slug(number),
        "name": f"Bench server {number:03d}",
        "processor": f"bench-cpu-{number:03d}",
        "sockets": 2,
        "memory": {"type": "DDR5", "speed_mts": 6400, "channels": 24},
    }


def _runs(systems: int, repeats: int, start: datetime, *, split: bool) -> Iterator[dict[str, Any]]:
    chance = random.Random(start.toordinal())
    benchmarks = [catalogue.benchmarks()[slug] for slug in (*SHOWN, *HIDDEN)]
    moment = start
    for _ in range(repeats):
        for number in range(systems):
            for benchmark in benchmarks:
                metrics = benchmark.metrics
                for part in [[one] for one in metrics] if split else [metrics]:
                    moment += timedelta(seconds=1)
                    yield _run(benchmark, part, number, moment, chance)


def _run(
    benchmark: Benchmark,
    metrics: Sequence[Metric],
    number: int,
    moment: datetime,
    chance: random.Random,
) -> dict[str, Any]:
    factor = 100 * (1 + number / 50)
    return {
        "system": system_slug(number),
        "benchmark": benchmark.slug,
        "version": "1.0",
        "scope": SCOPE,
        "setup": SETUP,
        "parameters": PARAMETERS[benchmark.slug],
        "started_at": moment.isoformat(),
        "measurements": [
            {
                "metric": metric.name,
                "value": round(factor * chance.gauss(1, 0.02), 3),
                "unit": metric.unit,
            }
            for metric in metrics
        ],
    }


def compare_query(*, baseline: int = 0, per: str = "total") -> str:
    """The query string that sets COLUMNS systems side by side in the 40 shown metrics.

    `baseline` is a system's number; other ones, and other normalisations, are other pages.
    """
    systems = [f"system={system_slug(number)}" for number in range(COLUMNS)]
    benchmarks = [f"benchmark={slug}" for slug in SHOWN]
    asked = [*systems, *benchmarks, f"baseline={system_slug(baseline % COLUMNS)}", f"per={per}"]
    return "?" + "&".join(asked)
