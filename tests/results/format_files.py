"""Real outputs for the formats' tests, and what is read of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from results.bundle import BundleError, Problem
from results.formats import Draft, detect, parse
from results.formats.base import File

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
# Outputs as others published them: no part of the project, walked where they are.
SAMPLES = ROOT.parent / "shared" / "samples"
OUTPUTS = ROOT.parent / "shared" / "outputs"
HERE = ("benchhub_bandwidth", "benchhub_latency", "stream", "system")


def file(path: str | Path) -> File:
    """A file below tests/data, or of any place where the path is a whole one."""
    path = DATA / path
    return File(path.name, path.read_bytes())


def made(text: str, name: str = "made.txt") -> File:
    """A text as if it had been uploaded."""
    return File(name, text.encode())


def kept() -> list[Path]:
    """Every real output in the repository."""
    return sorted(path for room in HERE for path in (DATA / room).iterdir())


def facts(given: File) -> dict[str, tuple[object, int | None]]:
    """Each fact's value and line."""
    return {name: (fact.value, fact.line) for name, fact in parse(given).facts.items()}


def values(given: File) -> dict[str, object]:
    """Each fact's value."""
    return {name: fact.value for name, fact in parse(given).facts.items()}


def remarks(draft: Draft) -> list[tuple[str, int | None]]:
    return [(remark.text, remark.line) for remark in draft.remarks]


def refusal(given: File, *, by: str) -> Problem:
    """The one problem for which the format `by` refuses the file."""
    assert detect(given) == by
    with pytest.raises(BundleError) as caught:
        parse(given)
    (problem,) = caught.value.problems
    assert problem.file == given.name
    return problem
