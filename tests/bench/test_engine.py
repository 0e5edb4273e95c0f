"""What the engine costs is measured, and told beside its budgets; how much it is, is not judged."""

from __future__ import annotations

from tests.bench.engine import Cost, lines, measure


def test_a_run_takes_time_and_memory() -> None:
    cost = measure(processes=1, runs=2)
    assert cost.run_ms > 0
    assert cost.memory_mb > 0


def test_costs_stand_beside_their_budgets() -> None:
    assert [line.cells() for line in lines(Cost(run_ms=14.2, memory_mb=66.58))] == [
        ("engine: a run of `true`", "14 ms", "≤ 200", ""),
        ("engine: memory that it adds", "66.6 MB", "≤ 60", "over budget"),
    ]
