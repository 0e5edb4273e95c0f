"""The ratios beside reference programs: read right, and said where they are not measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.kernels import stream_ratios

DATA = Path(__file__).parents[1] / "data" / "stream"


def test_without_a_reference_it_is_not_measured() -> None:
    (line,) = stream_ratios(None)
    assert line.cells()[1] == "not measured"


def test_each_kernel_is_set_beside_what_the_reference_prints(tmp_path: Path) -> None:
    """A program that prints a real output of STREAM, its arrays said to be small."""
    text = (DATA / "gcc_1t.txt").read_text()
    said = tmp_path / "said.txt"
    said.write_text(text.replace("Array size = 20000000", "Array size = 100000"))
    program = tmp_path / "stream"
    program.write_text(f"#!/bin/sh\ncat {said}\n")
    program.chmod(0o755)
    lines = stream_ratios(program, threads=(1,), rounds=1)
    assert [line.what.partition(",")[0] for line in lines] == ["copy", "scale", "add", "triad"]
    assert [line.remark.partition(" by ")[2] for line in lines] == [
        "39.7 GB/s",
        "39.8 GB/s",
        "40.6 GB/s",
        "40.7 GB/s",
    ]
    assert all(line.found and line.found > 0 for line in lines)


def test_another_program_is_refused(tmp_path: Path) -> None:
    program = tmp_path / "other"
    program.write_text("#!/bin/sh\necho hello\n")
    program.chmod(0o755)
    with pytest.raises(ValueError, match="does not print STREAM's"):
        stream_ratios(program)
