"""Runs the steps of a benchmark: bounded, watched, recorded, and nothing left behind.

outcome = run(steps, scratch, watch=watch, marker="…")
"""

from runners.engine.execution import run

__all__ = ["run"]
