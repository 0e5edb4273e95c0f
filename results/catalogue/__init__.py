"""The benchmarks that BenchHub knows: one module each, found by its BENCHMARK attribute."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

from results.catalogue.base import CATEGORIES, Benchmark


@cache
def benchmarks() -> Mapping[str, Benchmark]:
    """All benchmarks by slug, in the order of categories and of their own `order`."""
    found = []
    for module in pkgutil.iter_modules(__path__):
        benchmark = getattr(importlib.import_module(f"{__name__}.{module.name}"), "BENCHMARK", None)
        if isinstance(benchmark, Benchmark):
            found.append(benchmark)
    return {b.slug: b for b in sorted(found, key=_position)}


def _position(benchmark: Benchmark) -> tuple[int, int, str]:
    return list(CATEGORIES).index(benchmark.category), benchmark.order, benchmark.slug


def get(slug: str) -> Benchmark | None:
    """The benchmark of that slug, or None."""
    return benchmarks().get(slug)
