"""7-Zip's built-in benchmark. Source: https://www.7-zip.org/"""

from __future__ import annotations

from results.catalogue.base import Benchmark, Metric, Parameter, Workload
from results.catalogue.setup import BASE, FOLLOWS
from results.catalogue.shared import PER_RATE, hw_threads, smt, threads

WORKLOADS = {
    "compress": "LZMA compression: integer work with many cache misses",
    "decompress": "LZMA decompression: integer work with many hard-to-guess branches",
    "total": "The mean of both ratings, as the program prints it",
}

BENCHMARK = Benchmark(
    slug="7zip",
    name="7-Zip",
    category="core",
    order=10,
    stresses=(
        "Packing and unpacking data with LZMA. Integer units, branch prediction and the caches "
        "decide, floating point plays no part."
    ),
    homepage="https://www.7-zip.org/",
    workloads=tuple(Workload(w, f"7-Zip {w}", text) for w, text in WORKLOADS.items()),
    metrics=tuple(
        Metric(f"{w}.rate", unit="MIPS", higher_is_better=True, per=PER_RATE) for w in WORKLOADS
    ),
    parameters=(
        threads("variant"),
        smt("tracked"),
        Parameter("dictionary_mb", "tracked", "number", "MB", label="Dictionary", minimum=0),
        hw_threads(),
    ),
    tracked=BASE,
    follows=FOLLOWS,
    rules="`7zz b` with its own dictionary sizes; the averages of the last lines.",
    caveat="MIPS are the program's own rating, worked out from the time; not instructions counted.",
)
