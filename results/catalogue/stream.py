"""STREAM, sustained memory bandwidth. Source: https://www.cs.virginia.edu/stream/"""

from __future__ import annotations

from results.catalogue.base import Benchmark, Metric, Parameter, Workload
from results.catalogue.setup import BASE, BIOS_NPS, COMPILER_FLAGS, FOLLOWS
from results.catalogue.shared import PER_MEMORY_BANDWIDTH, PLACEMENT_WORDS, smt, sockets

KERNELS = {
    "triad": "a[i] = b[i] + q × c[i]: two reads and a write for two operations",
    "copy": "c[i] = a[i]: a read and a write, no arithmetic",
    "scale": "b[i] = q × c[i]: a read and a write for one operation",
    "add": "c[i] = a[i] + b[i]: two reads and a write for one operation",
}


def bandwidth(kernel: str) -> Metric:
    """Bandwidth of one kernel, GB/s (10**9 bytes a second) as STREAM counts bytes."""
    return Metric(
        f"{kernel}.bandwidth",
        unit="GB/s",
        higher_is_better=True,
        per=PER_MEMORY_BANDWIDTH,
        along={"threads": "best", "array_gib": "best"},
    )


BENCHMARK = Benchmark(
    slug="stream",
    name="STREAM",
    category="memory",
    order=10,
    stresses=(
        "How fast all the loaded cores together can stream large arrays from and to memory. "
        "Caches are too small to help, so channels, their speed and the fabric decide."
    ),
    homepage="https://www.cs.virginia.edu/stream/",
    workloads=tuple(
        Workload(kernel, f"STREAM {kernel.title()}", text) for kernel, text in KERNELS.items()
    ),
    metrics=tuple(bandwidth(kernel) for kernel in KERNELS),
    parameters=(
        Parameter(
            "placement",
            "variant",
            label="Placement",
            choices=tuple(PLACEMENT_WORDS),
            words=PLACEMENT_WORDS,
            assumed={"system": "all"},
            note=(
                "Whose memory the threads use: with all sockets loaded, each its own socket's "
                "(own memory); with one socket loaded, its own (local) or another's (remote)."
            ),
        ),
        Parameter(
            "policy",
            "variant",
            label="Placed by",
            words={"os_auto": "placed by the OS", "numactl": "bound by numactl"},
        ),
        Parameter(
            "cpus",
            "variant",
            "integer",
            label="CPUs as listed",
            minimum=1,
            words={"1": "1 CPU"},
            phrase="{} CPUs",
            note="The CPU count that the published lists print.",
        ),
        Parameter(
            "threads",
            "axis",
            "integer",
            label="Threads",
            minimum=1,
            maximum=1_000_000,
            counts="threads",
            words={"1": "1 thread"},
            phrase="{} threads",
            implied={"thread": 1},
        ),
        Parameter(
            "array_gib", "axis", "number", "GiB", label="Array", minimum=1e-6, phrase="{} GiB array"
        ),
        smt("tracked"),
        Parameter("threads_per_core", "tracked", "integer", label="Threads per core", minimum=1),
        Parameter(
            "streaming_stores",
            "tracked",
            label="Streaming stores",
            choices=("no", "yes"),
            words={"no": "no streaming stores", "yes": "streaming stores"},
            note="Whether stores bypass the cache. Without them each written line is read first.",
        ),
        Parameter("nps", "tracked", "integer", label="NUMA nodes per socket", phrase="NPS{}"),
        Parameter(
            "cores",
            "tracked",
            "integer",
            label="Cores",
            also=("all",),
            minimum=1,
            maximum=1_000_000,
            counts="cores",
            words={"all": "all cores"},
            phrase="{} cores",
        ),
        sockets(),
        Parameter("data_size", "describes", label="Data size"),
        Parameter("list", "describes", label="List"),
        Parameter(
            "omp_threads",
            "describes",
            "integer",
            label="OpenMP threads",
            minimum=1,
            counts="threads",
        ),
        Parameter("numa_policy", "describes", label="NUMA policy"),
        Parameter("array_elements", "describes", "integer", label="Array elements", minimum=1),
        Parameter("ntimes", "describes", "integer", label="Passes", minimum=2),
    ),
    tracked=(*BASE, COMPILER_FLAGS, BIOS_NPS),
    follows={
        **FOLLOWS,
        "smt": ("threads_per_core",),
        # The same setting, stated once by the run and once by the firmware.
        "nps": ("bios.nps",),
        "bios.nps": ("nps",),
    },
    rules=(
        "Each array at least four times as large as all last-level caches together; the best of "
        "at least ten passes after the first; the program's own check of the result passed."
    ),
    caveat=(
        "STREAM counts the bytes that the source code names. Without streaming stores the "
        "hardware also reads each line before writing it, so Triad and Add move a third more."
    ),
)
