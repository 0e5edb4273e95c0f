"""One module a benchmark: its parameters, presets and steps. Pure; found, not listed.

A lab's own runners live outside: `EXTRA_RUNNERS` names their modules, with commas between. One
for a benchmark that has a runner here takes its place.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from functools import cache

from runners.benchmarks.base import Runner


@cache
def runners() -> dict[str, Runner]:
    """Every runner by its benchmark's slug."""
    own = [f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__)]
    extra = [name.strip() for name in os.environ.get("EXTRA_RUNNERS", "").split(",")]
    modules = [importlib.import_module(name) for name in (*sorted(own), *filter(None, extra))]
    found = {m.RUNNER.benchmark: m.RUNNER for m in modules if hasattr(m, "RUNNER")}
    return dict(sorted(found.items()))


def get(benchmark: str) -> Runner | None:
    """The runner of a benchmark; None where it has none."""
    return runners().get(benchmark)
