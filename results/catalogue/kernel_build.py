"""Building the Linux kernel. Source: https://www.kernel.org/"""

from __future__ import annotations

from results.catalogue.base import Benchmark, Metric, Parameter, Workload
from results.catalogue.setup import BASE, FOLLOWS
from results.catalogue.shared import smt

CONFIGURATIONS = {
    "allmodconfig": "Everything that can be a module: the longest build",
    "defconfig": "The architecture's default configuration",
    "tinyconfig": "The smallest kernel: a build of a minute",
}

BENCHMARK = Benchmark(
    slug="kernel_build",
    name="Kernel build",
    category="core",
    order=40,
    stresses=(
        "Compiling thousands of files at once, with short serial parts between. Many cores help; "
        "large caches and fast single threads do too."
    ),
    homepage="https://www.kernel.org/",
    workloads=tuple(
        Workload(c, "Kernel build", text, detail=c) for c, text in CONFIGURATIONS.items()
    ),
    metrics=tuple(Metric(f"{c}.time", unit="s", higher_is_better=False) for c in CONFIGURATIONS),
    parameters=(
        smt("variant"),
        Parameter(
            "tree",
            "scale",
            label="Tree",
            words={"arm64": "arm64 tree", "x86-64": "x86-64 tree"},
            phrase="{} tree",
            note="The architectures build different files: their times are not ranked together.",
        ),
    ),
    tracked=BASE,
    follows=FOLLOWS,
    rules="A clean tree, no compiler cache, as many jobs as hardware threads.",
    caveat="arm64 and x86-64 build different things and are never set in a ratio.",
)
