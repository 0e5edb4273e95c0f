"""How our latency kernel is set beside tinymembench; how near they are is not judged."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tests.bench.latency import _lines, latency_ratios

SIZE = 2 * 2**20
# As tinymembench prints its tables, without the rows of smaller buffers, and at once.
PRINTED = """#!/bin/sh
cat <<'END'
tinymembench v0.4.9 (simple benchmark for memory throughput and latency)

block size : single random read / dual random read, [MADV_NOHUGEPAGE]
   1048576 :    5.1 ns          /     6.9 ns
   2097152 :   10.1 ns          /    13.9 ns

block size : single random read / dual random read, [MADV_HUGEPAGE]
   1048576 :    4.1 ns          /     5.9 ns
   2097152 :    8.0 ns          /    11.9 ns
END
"""


@pytest.fixture
def printing(tmp_path: Path) -> Path:
    """A program that prints such tables."""
    program = tmp_path / "printing"
    program.write_text(PRINTED)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def test_without_a_reference_nothing_is_measured() -> None:
    (line,) = latency_ratios(None)
    assert line.cells()[1] == "not measured"


def test_each_page_size_is_set_beside_its_own_table(printing: Path) -> None:
    small, large = latency_ratios(printing, size=SIZE)
    assert (small.what, large.what) == (
        "latency, 4k pages: ours and tinymembench's",
        "latency, 2m pages: ours and tinymembench's",
    )
    assert " by 10.1 ns: " in small.remark
    assert " by 8.0 ns: " in large.remark


def test_a_program_without_such_tables_is_named(printing: Path) -> None:
    with pytest.raises(ValueError, match="printed no latencies of 4194304 bytes"):
        latency_ratios(printing, size=2 * SIZE)


def test_either_side_may_be_the_slower() -> None:
    (line,) = _lines("4k", theirs=100.0, own=96.0)
    assert line.found == 100 / 96
    assert line.is_over
    assert line.remark == "96.0 by 100.0 ns: 0.960"
    (line,) = _lines("4k", theirs=100.0, own=102.0)
    assert line.found == 1.02
    assert not line.is_over
