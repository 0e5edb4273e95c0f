"""OpenFOAM, fluid dynamics. Source: https://openfoam.org/"""

from __future__ import annotations

from results.catalogue.base import Benchmark, Metric, Parameter, Workload
from results.catalogue.setup import BASE, BIOS_NPS, COMPILER_FLAGS, FOLLOWS, MPI
from results.catalogue.shared import engine_version, sockets

MESHES = ("small", "medium", "large")
CASES = (*(f"driverFastback-{mesh}" for mesh in MESHES), "motorBike")

BENCHMARK = Benchmark(
    slug="openfoam",
    name="OpenFOAM",
    category="hpc",
    order=20,
    stresses=(
        "Time to solve the flow of air around a car on an irregular mesh. Memory bandwidth and "
        "cache count more than arithmetic, the more so the larger the mesh."
    ),
    homepage="https://openfoam.org/",
    workloads=(
        *(
            Workload(
                f"driverFastback-{mesh}",
                f"OpenFOAM {mesh}",
                f"The DrivAer fastback car on the {mesh} mesh",
                detail="driverFastback",
            )
            for mesh in MESHES
        ),
        Workload("motorBike", "OpenFOAM motorBike", "A rider on a motorcycle, steady flow"),
    ),
    metrics=(
        *(Metric(f"{case}.time", unit="s", higher_is_better=False) for case in CASES),
        *(
            Metric(f"{case}.mesh_time", unit="s", higher_is_better=False, label="meshing")
            for case in CASES
        ),
    ),
    parameters=(
        Parameter(
            "cells",
            "scale",
            "integer",
            label="Mesh cells",
            minimum=1,
            phrase="{} cells",
            note="Another mesh is another exercise: times are shown, not ranked.",
        ),
        engine_version("tracked", follows=""),
        Parameter(
            "ranks_per_core", "tracked", "number", label="Ranks per core", phrase="{} ranks a core"
        ),
        sockets(),
    ),
    tracked=(*BASE, COMPILER_FLAGS, MPI, BIOS_NPS),
    follows=FOLLOWS,
    rules="Time of the solver alone, to its regular end; meshing is a metric of its own.",
    caveat="The two distributions of OpenFOAM differ: 13 and v1912 are not one line of versions.",
)
