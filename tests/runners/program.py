"""What the given runner starts: `program.py WAY MILLISECONDS LOG`."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path


def wait(milliseconds: int) -> None:
    """Sleep, saying how far it is."""
    for number in range(10):
        time.sleep(milliseconds / 10_000)
        print(f"part {number + 1} of 10", flush=True)  # noqa: T201


def leave_one_behind() -> None:
    """A process in a session of its own that does not listen to TERM and holds the output."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(600)
        os._exit(0)


def main(way: str, milliseconds: int, log: Path) -> int:
    if way in ("stubborn", "kill"):
        leave_one_behind()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if way == "kill":
        os.kill(os.getppid(), signal.SIGKILL)
    wait(milliseconds)
    if way == "flood":
        while True:
            os.write(1, b"y\n" * 500_000)
    text = log.read_text(encoding="utf-8")
    if way == "cut":
        text = text[: len(text) // 2] + "\nSolution Validates\n"
    if way == "unfinished":
        text = text.replace("Solution Validates", "")
    sys.stdout.write(text)
    return 3 if way == "badly" else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])))
