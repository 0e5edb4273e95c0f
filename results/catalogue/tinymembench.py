"""tinymembench, memory latency and copy rates. Source: https://github.com/ssvb/tinymembench"""

from __future__ import annotations

from results.catalogue.base import Benchmark, Metric, Parameter, Workload
from results.catalogue.setup import BASE, BIOS_NPS, COMPILER_FLAGS, FOLLOWS
from results.catalogue.shared import PLACEMENT_WORDS, threads

BENCHMARK = Benchmark(
    slug="tinymembench",
    name="tinymembench",
    category="memory",
    order=30,
    stresses=(
        "How long one thread waits for a word at a random place of a large buffer. "
        "The memory controller, the path to it and the reach of the TLB decide."
    ),
    homepage="https://github.com/ssvb/tinymembench",
    workloads=(
        Workload("random_read", "Random read", "Dependent loads at random places of the buffer"),
        Workload("dual_random_read", "Dual random read", "Two such chains of loads at once"),
        Workload("memcpy", "Memory copy", "The C library's memcpy over large blocks, one thread"),
        Workload("memset", "Memory fill", "The C library's memset over large blocks, one thread"),
    ),
    metrics=(
        Metric("random_read.latency", unit="ns", higher_is_better=False, label="latency"),
        Metric("random_read.load_to_use", unit="ns", higher_is_better=False, label="load to use"),
        Metric("dual_random_read.latency", unit="ns", higher_is_better=False, label="latency"),
        Metric("memcpy.bandwidth", unit="GB/s", higher_is_better=True, per=("core", "thread")),
        Metric("memset.bandwidth", unit="GB/s", higher_is_better=True, per=("core", "thread")),
    ),
    parameters=(
        threads("variant"),
        Parameter(
            "placement",
            "variant",
            label="Placement",
            choices=tuple(PLACEMENT_WORDS),
            words=PLACEMENT_WORDS,
            note="Whose memory the thread reads: its own socket's or the other's.",
        ),
        Parameter(
            "page",
            "variant",
            label="Page size",
            words={
                "4k": "4 KB pages",
                "16k": "16 KB pages",
                "64k": "64 KB pages",
                "2m": "2 MB pages",
                "1g": "1 GB pages",
            },
        ),
        Parameter(
            "buffer_gib", "scale", "number", "GiB", label="Buffer", minimum=0, phrase="{} GiB"
        ),
        Parameter("repeats", "describes", "integer", label="Repeats", minimum=1),
    ),
    tracked=(*BASE, COMPILER_FLAGS, BIOS_NPS),
    follows=FOLLOWS,
    rules=(
        "One thread on the first socket. Latency is what a load takes beyond one that hits the "
        "first-level cache; load to use is the whole time."
    ),
    caveat="The larger the buffer, the longer the wait: buffers of different size are not ranked.",
)
