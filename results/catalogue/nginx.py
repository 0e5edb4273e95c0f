"""nginx under wrk, web serving. Source: https://nginx.org/"""

from __future__ import annotations

from results.catalogue.base import Benchmark, Metric, Parameter, Workload
from results.catalogue.setup import BASE, FOLLOWS
from results.catalogue.shared import PER_RATE, smt

WORKLOADS = {"https": "Small files over TLS", "http": "Small files without encryption"}
PERCENTILES = ("p50", "p99")

BENCHMARK = Benchmark(
    slug="nginx",
    name="nginx",
    category="services",
    order=10,
    stresses=(
        "A web server answering many open connections. The kernel's network stack, encryption "
        "and the hand-over between processes decide."
    ),
    homepage="https://nginx.org/",
    workloads=tuple(Workload(w, f"nginx {w.upper()}", text) for w, text in WORKLOADS.items()),
    metrics=(
        *(
            Metric(f"{w}.throughput", unit="requests/s", higher_is_better=True, per=PER_RATE)
            for w in WORKLOADS
        ),
        *(
            Metric(f"{w}.latency_{p}", unit="ms", higher_is_better=False, label=p)
            for w in WORKLOADS
            for p in PERCENTILES
        ),
    ),
    parameters=(
        smt("variant"),
        Parameter(
            "connections",
            "variant",
            "integer",
            label="Connections",
            minimum=1,
            words={"1": "1 connection"},
            phrase="{} connections",
        ),
        Parameter("workers", "tracked", "integer", label="Worker processes", minimum=1),
        Parameter("client", "describes", label="Client", words={"local_wrk": "local wrk"}),
    ),
    tracked=BASE,
    follows=FOLLOWS,
    rules="Connections kept alive; a run with socket errors or answers other than 2xx is refused.",
    caveat="With the client on the same machine both share its cores: it measures the pair.",
)
