"""Valkey, an in-memory key-value store. Source: https://valkey.io/topics/benchmark/"""

from __future__ import annotations

from results.catalogue.base import Benchmark, Metric, Parameter, Workload
from results.catalogue.setup import BASE, FOLLOWS
from results.catalogue.shared import PER_RATE, dataset

COMMANDS = {"get": "Reading one key a request", "set": "Writing one key a request"}
PERCENTILES = ("p50", "p95", "p99")


def metrics(command: str) -> tuple[Metric, ...]:
    """Throughput and latency percentiles of one command."""
    rate = Metric(f"{command}.throughput", unit="requests/s", higher_is_better=True, per=PER_RATE)
    latency = (
        Metric(f"{command}.latency_{p}", unit="ms", higher_is_better=False, label=p)
        for p in PERCENTILES
    )
    return (rate, *latency)


BENCHMARK = Benchmark(
    slug="valkey",
    name="Valkey",
    category="data",
    order=20,
    stresses=(
        "Small requests to a store that works mostly on one thread. Single-thread speed and "
        "memory latency decide; with deep pipelines also how work is spread over cores."
    ),
    homepage="https://valkey.io/topics/benchmark/",
    workloads=tuple(
        Workload(command, f"Valkey {command.upper()}", text) for command, text in COMMANDS.items()
    ),
    metrics=tuple(metric for command in COMMANDS for metric in metrics(command)),
    parameters=(
        Parameter(
            "mode",
            "variant",
            label="Mode",
            words={"single_shard": "alone", "socket_packed": "socket packed"},
            phrase="{}",
            note="One instance alone on the machine, or a socket full of them.",
        ),
        Parameter(
            "cores_per_shard",
            "variant",
            "integer",
            label="Cores per shard",
            minimum=1,
            maximum=100_000,
            counts="cores",
            words={"1": "1 core"},
            phrase="{} cores",
        ),
        Parameter(
            "pipeline", "variant", "integer", label="Pipeline", minimum=1, phrase="pipeline {}"
        ),
        dataset("variant"),
        Parameter("clients", "tracked", "integer", label="Clients", minimum=1),
        Parameter("value_bytes", "tracked", "integer", "bytes", label="Value size", minimum=1),
        Parameter("io_threads", "tracked", "integer", label="I/O threads", minimum=1),
        Parameter("shards", "describes", "integer", label="Shards", minimum=1, phrase="{} shards"),
        Parameter("shard_cores", "describes", "integer", label="Cores of each shard", minimum=1),
    ),
    tracked=BASE,
    follows=FOLLOWS,
    rules="Persistence off; the client on cores of its own; no errors in the client's report.",
    caveat=(
        "Socket totals add up shards of the size that suits each processor: "
        "the sizes may differ between systems."
    ),
)
