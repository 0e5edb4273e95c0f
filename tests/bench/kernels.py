"""Our kernels beside the programs whose definition they follow, on this machine.

Those are no part of the project: `STREAM_C=` names a built STREAM 5.10, or its stream.c, which is
then compiled with the flags of our kernel.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from runners import kernels
from tests.bench.report import Line

BUDGET = 0.98
ELEMENTS, PASSES = 20_000_000, 20
STREAM_KERNELS = ("copy", "scale", "add", "triad")
Rates = Mapping[str, float]


def stream_ratios(
    reference: str | Path | None, *, threads: Sequence[int] = (1, 2), rounds: int = 8
) -> list[Line]:
    """Best rate of ours by best rate of STREAM's, for each kernel and number of threads.

    Both run in turn, `rounds` times each, over arrays of the same size with threads bound in
    the same way; what else the machine does meets both. Without a reference: not measured.
    """
    if not reference:
        what = "bandwidth kernel beside STREAM (STREAM_C=)"
        return [Line(what, None, BUDGET, "at least")]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        theirs = _reference(Path(reference), folder)
        elements = _elements(theirs)
        ours = _ours(folder)
        lines: list[Line] = []
        for count in threads:
            lines += _beside(count, rounds, theirs, ours, elements)
        return lines


def _beside(count: int, rounds: int, theirs: Path, ours: Path, elements: int) -> list[Line]:
    options = (f"--elements={elements}", f"--threads={count}", f"--passes={PASSES}")
    found = _in_turn(
        rounds,
        lambda: _rates(_run((str(theirs),), count), 1e-3),
        lambda: _rates(_run((str(ours), *options), count), 1.0),
    )
    other, own = (_best(rates) for rates in found)
    words = "1 thread" if count == 1 else f"{count} threads"
    return [
        Line(
            f"{kernel}, {words}: ours by STREAM's",
            own[kernel] / other[kernel],
            BUDGET,
            "at least",
            digits=3,
            remark=f"{own[kernel]:.1f} by {other[kernel]:.1f} GB/s",
        )
        for kernel in STREAM_KERNELS
    ]


def _in_turn(
    rounds: int, first: Callable[[], Rates], second: Callable[[], Rates]
) -> tuple[list[Rates], list[Rates]]:
    """Both, one after the other; who begins changes with each round."""
    found: tuple[list[Rates], list[Rates]] = ([], [])
    pair = ((first, found[0]), (second, found[1]))
    for number in range(rounds):
        for measure, kept in pair if number % 2 == 0 else reversed(pair):
            kept.append(measure())
    return found


def _best(rates: Sequence[Rates]) -> Rates:
    return {kernel: max(one[kernel] for one in rates) for kernel in STREAM_KERNELS}


def _reference(path: Path, folder: Path) -> Path:
    """The program, made from its source where that is given. Raises where it cannot be made."""
    if path.suffix != ".c":
        return path.resolve(strict=True)
    found = kernels.compiler()
    if found is None:
        raise LookupError("no C compiler: install gcc")
    made = folder / "stream"
    sizes = (f"-DSTREAM_ARRAY_SIZE={ELEMENTS}", f"-DNTIMES={PASSES}")
    command = (found.path, *kernels.flags(found), *sizes, str(path), "-o", str(made))
    subprocess.run(command, check=True, timeout=120, capture_output=True)
    return made


def _ours(folder: Path) -> Path:
    built = kernels.build("bandwidth", folder)
    for step in built.steps:
        subprocess.run(step.argv, check=True, timeout=120, capture_output=True)
    return Path(built.path)


def _elements(program: Path) -> int:
    """How many elements the program's arrays have, as it says."""
    found = re.search(r"(?m)^Array size = (\d+) ", _run((str(program),), 1))
    if not found:
        raise ValueError(f"{program} does not print STREAM's 'Array size = …'")
    return int(found[1])


def _run(command: Sequence[str], threads: int) -> str:
    """The output of a program whose threads are bound, one a CPU."""
    cpus = sorted(os.sched_getaffinity(0))[:threads]
    env = {
        "PATH": os.environ["PATH"],
        "OMP_NUM_THREADS": str(threads),
        "OMP_PROC_BIND": "close",
        "OMP_PLACES": ",".join(f"{{{cpu}}}" for cpu in cpus),
    }
    done = subprocess.run(command, env=env, check=True, timeout=600, capture_output=True, text=True)
    return done.stdout


def _rates(output: str, to_gb: float) -> Rates:
    """The best rate of each kernel, in GB/s, off either program's table."""
    found = re.findall(r"(?m)^(Copy|Scale|Add|Triad):? +([\d.]+) ", output)
    return {kernel.lower(): float(rate) * to_gb for kernel, rate in found}


def main() -> None:
    """Print the ratios: `STREAM_C=… python -m tests.bench.kernels`."""
    for line in stream_ratios(os.environ.get("STREAM_C")):
        sys.stdout.write("  ".join(line.cells()).rstrip() + "\n")


if __name__ == "__main__":
    main()
