"""HPL, the LINPACK benchmark. Source: https://www.netlib.org/benchmark/hpl/"""

from __future__ import annotations

from results.catalogue.base import Benchmark, Metric, Parameter, Workload
from results.catalogue.setup import (
    BASE,
    BIOS_DETERMINISM,
    BIOS_NPS,
    BLAS,
    COMPILER_FLAGS,
    FOLLOWS,
    MPI,
)
from results.catalogue.shared import PER_RATE, fabric, sockets

BENCHMARK = Benchmark(
    slug="hpl",
    name="HPL",
    category="hpc",
    order=30,
    stresses=(
        "Solving one huge dense system of linear equations in double precision. Arithmetic "
        "units, and the clock that heat and power allow, set the pace."
    ),
    homepage="https://www.netlib.org/benchmark/hpl/",
    workloads=(
        Workload("single-node", "HPL single-node", "One server"),
        Workload("multi-node", "HPL multi-node", "Several servers over a network"),
    ),
    metrics=(
        Metric("single-node.performance", unit="GFLOP/s", higher_is_better=True, per=PER_RATE),
        Metric("single-node.efficiency", unit="%", higher_is_better=True, label="efficiency"),
        Metric(
            "multi-node.performance",
            unit="GFLOP/s",
            higher_is_better=True,
            per=PER_RATE,
            along={"nodes": "each"},
        ),
        Metric(
            "multi-node.efficiency",
            unit="%",
            higher_is_better=True,
            label="efficiency",
            along={"nodes": "each"},
        ),
    ),
    parameters=(
        Parameter(
            "step",
            "variant",
            "integer",
            label="Step",
            minimum=1,
            phrase="step {}",
            note="Place in a series of growing node counts that the source does not name.",
        ),
        Parameter(
            "nodes",
            "axis",
            "integer",
            label="Nodes",
            minimum=1,
            maximum=1_000_000,
            counts="nodes",
            words={"1": "1 node"},
            phrase="{} nodes",
        ),
        fabric(),
        sockets(),
        Parameter("n", "describes", "integer", label="Problem size N", minimum=1),
        Parameter("nb", "describes", "integer", label="Block size NB", minimum=1),
        Parameter("ranks", "describes", "integer", label="Ranks", minimum=1, phrase="{} ranks"),
    ),
    tracked=(*BASE, COMPILER_FLAGS, MPI, BLAS, BIOS_NPS, BIOS_DETERMINISM),
    follows=FOLLOWS,
    rules=(
        "Problem size, blocking and grid are free; the residual check must pass. Efficiency is "
        "the rate over cores × clock × operations a cycle; above 100 % means a clock above base."
    ),
    caveat="The BLAS library alone makes a difference of several times.",
)
