"""Whether a comparison costs the same, whatever is stored: time and queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from tests.bench.remote import Remote
from tests.bench.report import Line
from tests.bench.sample import compare_query

PATHS = {"comparison page": "/compare/", "comparison API": "/api/v1/compare/"}
MOST_QUERIES = 12
MOST_TIMES_LONGER = 1.5
WARM_UP = 1


def measure(remotes: Mapping[int, Remote], rounds: int) -> list[Line]:
    """Lines for page and API, made anew for each request and kept from an earlier one.

    `remotes` are by what they store, the smallest first.
    """
    lines = []
    for name, path in PATHS.items():
        for anew in (True, False):
            full_name = f"{name}, {'made anew' if anew else 'kept'}"
            lines += _measure(full_name, path + compare_query(), remotes, rounds, anew=anew)
    return lines


def _measure(
    name: str, path: str, remotes: Mapping[int, Remote], rounds: int, *, anew: bool
) -> list[Line]:
    seconds = _interleaved(path, remotes, rounds, anew=anew)
    queries = {
        size: remote.ask("count_queries", path=path, anew=anew) for size, remote in remotes.items()
    }
    smallest, *others = remotes
    base = median(seconds[smallest])
    lines = [
        Line(
            f"{name}: time with {size:,} / with {smallest:,} stored",
            median(seconds[size]) / base,
            MOST_TIMES_LONGER,
            remark=f"{1000 * median(seconds[size]):.1f} ms / {1000 * base:.1f} ms here",
        )
        for size in others
    ]
    return [*lines, _queries_line(name, queries)]


def _interleaved(
    path: str, remotes: Mapping[int, Remote], rounds: int, *, anew: bool
) -> Mapping[int, Sequence[float]]:
    """Seconds of each request by size; the sizes take turns, so that a slower minute hits all."""
    seconds: dict[int, list[float]] = {size: [] for size in remotes}
    for turn in range(WARM_UP + rounds):
        for size, remote in remotes.items():
            taken = remote.ask("get", path=path, anew=anew)
            if turn >= WARM_UP:
                seconds[size].append(taken)
    return seconds


def _queries_line(name: str, queries: Mapping[int, int]) -> Line:
    counts = sorted(set(queries.values()))
    same = "the same at all sizes" if len(counts) == 1 else f"not the same: {counts}"
    return Line(f"{name}: queries", counts[-1], MOST_QUERIES, digits=0, remark=same)
