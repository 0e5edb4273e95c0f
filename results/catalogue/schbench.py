"""schbench, scheduler latency.

Source: https://git.kernel.org/pub/scm/linux/kernel/git/mason/schbench.git/
"""

from __future__ import annotations

from results.catalogue.base import Benchmark, Metric, Parameter, Workload
from results.catalogue.setup import BASE, COMPILER_FLAGS, FOLLOWS
from results.catalogue.shared import PER_RATE

WORKLOADS = {
    "wakeup": ("schbench wake-up", "From the signal to a waiting worker until it runs"),
    "request": ("schbench request", "From the start of a request to its end"),
}
PERCENTILES = {"p50": "p50", "p90": "p90", "p99": "p99", "p99_9": "p99.9"}

BENCHMARK = Benchmark(
    slug="schbench",
    name="schbench",
    category="services",
    order=30,
    stresses=(
        "How soon the scheduler lets a woken thread run when more threads than CPUs want to. "
        "Mostly the kernel's choices, partly the machine's size."
    ),
    homepage="https://git.kernel.org/pub/scm/linux/kernel/git/mason/schbench.git/",
    workloads=tuple(Workload(slug, title, text) for slug, (title, text) in WORKLOADS.items()),
    metrics=(
        *(
            Metric(f"{w}.latency_{p}", unit="us", higher_is_better=False, label=label)
            for w in WORKLOADS
            for p, label in PERCENTILES.items()
        ),
        Metric(
            "request.throughput",
            unit="requests/s",
            higher_is_better=True,
            per=PER_RATE,
            label="rate",
        ),
    ),
    parameters=(
        Parameter(
            "message_threads",
            "variant",
            "integer",
            label="Message threads",
            minimum=1,
            words={"1": "1 message thread"},
            phrase="{} message threads",
        ),
        Parameter(
            "workers_per_cpu",
            "variant",
            "number",
            label="Workers per CPU",
            words={"1": "1 worker a CPU"},
            phrase="{} workers a CPU",
        ),
        Parameter("workers", "describes", "integer", label="Workers", minimum=1),
        Parameter("runtime_s", "describes", "number", "s", label="Run time"),
    ),
    tracked=(*BASE, COMPILER_FLAGS),
    follows=FOLLOWS,
    rules="The percentiles of the last block that the program prints, over the whole run.",
    caveat=(
        "The number of workers grows with the number of CPUs, so a larger machine carries more "
        "of them: systems of different size are not measured like for like."
    ),
)
