"""One module a benchmark: its parameters, presets and steps. Pure; found, not listed."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from runners.benchmarks.base import Runner


@cache
def runners() -> dict[str, Runner]:
    """Every runner by its benchmark's slug."""
    modules = (
        importlib.import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__)
    )
    found = [module.RUNNER for module in modules if hasattr(module, "RUNNER")]
    return {runner.benchmark: runner for runner in sorted(found, key=lambda r: r.benchmark)}


def get(benchmark: str) -> Runner | None:
    """The runner of a benchmark; None where it has none."""
    return runners().get(benchmark)
