"""GROMACS, molecular dynamics. Source: https://www.gromacs.org/"""

from __future__ import annotations

from results.catalogue.base import Benchmark, Metric, Parameter, Workload
from results.catalogue.setup import BASE, BIOS_NPS, COMPILER_FLAGS, FOLLOWS, MPI
from results.catalogue.shared import PER_RATE, dataset, engine_version, smt, sockets

CASES = {
    "benchPEP": "12 million atoms, peptides in water: loads a whole server",
    "benchRIB": "2 million atoms, a ribosome in water",
    "benchMEM": "82 thousand atoms, a protein in a membrane: suits a few cores",
}

BENCHMARK = Benchmark(
    slug="gromacs",
    name="GROMACS",
    category="hpc",
    order=10,
    stresses=(
        "Simulated nanoseconds a day of moving atoms. Vector arithmetic in the cores counts "
        "most; large cases also need fast exchange between them."
    ),
    homepage="https://www.gromacs.org/",
    workloads=tuple(Workload(case, f"GROMACS {case}", text) for case, text in CASES.items()),
    metrics=tuple(
        Metric(f"{case}.performance", unit="ns/day", higher_is_better=True, per=PER_RATE)
        for case in CASES
    ),
    parameters=(
        smt("variant"),
        Parameter(
            "cores",
            "variant",
            "integer",
            label="Cores",
            minimum=1,
            maximum=1_000_000,
            counts="cores",
            words={"1": "1 core"},
            phrase="{} cores",
            note="A fixed slice of cores; absent where the whole system or socket is loaded.",
        ),
        engine_version("tracked", follows=""),
        Parameter("pme_tuning", "tracked", label="PME tuning", choices=("off", "on")),
        Parameter(
            "simd",
            "tracked",
            label="SIMD build",
            follows="processor",
            note="The vector instructions it was built for: what the processor offers.",
        ),
        Parameter("ranks", "describes", "integer", label="Ranks", minimum=1, phrase="{} ranks"),
        dataset("describes"),
        Parameter("atoms", "describes", "integer", label="Atoms", minimum=1, phrase="{} atoms"),
        sockets(),
    ),
    tracked=(*BASE, COMPILER_FLAGS, MPI, BIOS_NPS),
    # Another processor offers other vector instructions, which the build then uses.
    follows={**FOLLOWS, "system": (*FOLLOWS["system"], "simd")},
    rules=(
        "The published inputs unchanged; threads pinned; counters reset half-way; "
        "a run that was stopped early does not count, even where it prints a figure."
    ),
    caveat="Builds of a distribution often leave wide vectors unused: compare the SIMD build.",
)
