"""Our latency kernel beside tinymembench, on this machine.

tinymembench is no part of the project: `TINYMEMBENCH=` names its program. It takes no options and
some minutes: bandwidths first, then a table of latencies for each page size.
"""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from runners import kernels
from tests.bench.report import Line

BUDGET = 1.03
SIZE = 64 * 2**20
# As its tables are headed, in their order, and what we call the same.
TABLES = {"MADV_NOHUGEPAGE": "4k", "MADV_HUGEPAGE": "2m"}
HEAD = re.compile(r"block size : single random read .*\[(MADV_\w+)\]")
ROW = re.compile(r"\s*(\d+) :\s+([\d.]+) ns\s+/\s+[\d.]+ ns")
# It times a size ten times over and keeps the best; each of our pauses spoils one of the ten.
PAUSES, PAUSE_EACH_S, LONGEST_S = 4, 3.0, 1800.0
OURS_REPEATS = 3


def latency_ratios(reference: str | Path | None, *, size: int = SIZE) -> list[Line]:
    """Nanoseconds beyond an L1 hit by ours over tinymembench's, for each page size.

    While it times buffers of `size` bytes it is stopped some times, and ours measures instead:
    so what else the machine does meets both. Without a reference: not measured. Raises ValueError
    where it prints no such figure.
    """
    if not reference:
        return [Line("latency kernel beside tinymembench (TINYMEMBENCH=)", None, BUDGET)]
    with tempfile.TemporaryDirectory() as folder, _Running(Path(reference)) as running:
        pair = _Pair(running, _ours(Path(folder)), size)
        pair.follow()
    return [
        line for page in TABLES.values() for line in _lines(page, pair.theirs[page], pair.own[page])
    ]


def _lines(page: str, theirs: float, own: float) -> list[Line]:
    """One ratio, whichever of both is the slower: apart is apart."""
    apart = max(own / theirs, theirs / own)
    remark = f"{own:.1f} by {theirs:.1f} ns: {own / theirs:.3f}"
    return [Line(f"latency, {page} pages: ours and tinymembench's", apart, BUDGET, remark=remark)]


class _Running:
    """tinymembench, started; it and nothing else is ended at the end."""

    def __init__(self, program: Path) -> None:
        self.program = program.resolve(strict=True)

    def __enter__(self) -> _Running:
        # It fills whole blocks of output where nobody looks: stdbuf makes it print lines.
        command = ("taskset", "-c", str(_cpu()), "stdbuf", "-oL", str(self.program))
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()  # type: ignore[union-attr]

    def lines(self, patience_s: float) -> Iterator[str | None]:
        """Its lines; None whenever it printed nothing for so long."""
        pipe = self.process.stdout
        assert pipe is not None
        waiting, ends = b"", time.monotonic() + LONGEST_S
        while time.monotonic() < ends:
            if not select.select([pipe], [], [], patience_s)[0]:
                yield None
                continue
            data = os.read(pipe.fileno(), 65536)
            if not data:
                return
            *whole, waiting = (waiting + data).split(b"\n")
            yield from (line.decode("ascii", "replace") for line in whole)

    def pause(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)


@dataclass
class _Pair:
    """Both programs' figures in ns by page size, of buffers of `size` bytes."""

    running: _Running
    kernel: str
    size: int
    theirs: dict[str, float] = field(default_factory=dict)
    own: dict[str, float] = field(default_factory=dict)

    def follow(self) -> None:
        """Read it to the last figure. Raises ValueError without one."""
        page, seen, pauses = "", 0, 0
        for line in self.running.lines(PAUSE_EACH_S):
            head, row = HEAD.search(line or ""), ROW.match(line or "")
            if head:
                page, seen, pauses = TABLES.get(head[1], ""), 0, 0
            elif page and row:
                seen = int(row[1])
                if seen == self.size:
                    self.theirs[page] = float(row[2])
                    self._measure(page)
            elif page and line is None and 2 * seen == self.size and pauses < PAUSES:
                pauses += 1
                self._measure(page)
            if len(self.theirs) == len(TABLES):
                return
        raise ValueError(f"{self.running.program} printed no latencies of {self.size} bytes")

    def _measure(self, page: str) -> None:
        """Ours, alone on the CPU of both."""
        self.running.pause()
        command = (
            *(self.kernel, f"--buffer-bytes={self.size}", f"--page={page}"),
            *(f"--repeats={OURS_REPEATS}", f"--cpu={_cpu()}"),
        )
        done = subprocess.run(command, check=True, timeout=600, capture_output=True, text=True)
        self.running.go_on()
        found = re.search(r"(?m)^Beyond an L1 hit: best ([\d.]+) ", done.stdout)
        if not found:
            raise ValueError("the latency kernel printed no result")
        self.own[page] = min(float(found[1]), self.own.get(page, float("inf")))


def _ours(folder: Path) -> str:
    built = kernels.build("latency", folder)
    for step in built.steps:
        subprocess.run(step.argv, check=True, timeout=120, capture_output=True)
    return built.path


def _cpu() -> int:
    return max(os.sched_getaffinity(0))


def main() -> None:
    """Print the ratios: `TINYMEMBENCH=… python -m tests.bench.latency`."""
    for line in latency_ratios(os.environ.get("TINYMEMBENCH")):
        sys.stdout.write("  ".join(line.cells()).rstrip() + "\n")


if __name__ == "__main__":
    main()
