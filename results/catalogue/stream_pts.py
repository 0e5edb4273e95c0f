"""STREAM as the Phoronix Test Suite builds it. Source: https://openbenchmarking.org/test/pts/stream"""

from __future__ import annotations

from results.catalogue.base import Benchmark, Metric, Parameter, Workload
from results.catalogue.setup import BASE, BIOS_NPS, COMPILER_FLAGS, FOLLOWS
from results.catalogue.shared import PER_MEMORY_BANDWIDTH, smt

KERNELS = ("copy", "scale", "triad", "add")

BENCHMARK = Benchmark(
    slug="stream_pts",
    name="STREAM, Phoronix build",
    category="memory",
    order=20,
    stresses=(
        "The same four memory kernels as STREAM, compiled and started by the Phoronix Test "
        "Suite. Threads are left to the operating system."
    ),
    homepage="https://openbenchmarking.org/test/pts/stream",
    workloads=tuple(
        Workload(k, f"STREAM {k.title()}, Phoronix", f"STREAM's {k} kernel in the suite's build")
        for k in KERNELS
    ),
    metrics=tuple(
        Metric(f"{k}.bandwidth", unit="GB/s", higher_is_better=True, per=PER_MEMORY_BANDWIDTH)
        for k in KERNELS
    ),
    parameters=(
        smt("variant"),
        Parameter("build", "describes", label="Build"),
    ),
    tracked=(*BASE, COMPILER_FLAGS, BIOS_NPS),
    follows=FOLLOWS,
    rules="The suite's own test profile, unchanged; the mean of its counted passes.",
    caveat=(
        "Its compiler may replace the copy loop by a memory copy with streaming stores: "
        "the figures stand well above those of a plain STREAM build and are no match for them."
    ),
)
