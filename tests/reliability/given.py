"""Files to upload, as many different ones as are wanted, each with one run of its own."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.reliability.hub import File
from tests.results.format_files import DATA

BEGAN = datetime(2026, 10, 1, 12, tzinfo=UTC)
SYSTEM = "nvidia-mgx-vera-c2"
LOG = DATA / "stream" / "gcc_2t.txt"
# What a log cannot say, so that nothing is open and a draft is made.
FIELDS = [("system", SYSTEM), ("set", "scope=system")]


def upload(number: int) -> tuple[File, list[tuple[str, str]]]:
    """A file that no other number has, and what is said beside it: logs and bundles in turn."""
    if number % 2:
        return (f"{number}.txt", log(number)), FIELDS
    return (f"{number}.json", bundle(number)), []


def log(number: int, size: int = 0) -> bytes:
    """A real STREAM log with rates of its own, filled up with blank lines to `size` bytes."""
    text = LOG.read_text()
    line = next(line for line in text.split("\n") if line.startswith("Triad:"))
    rate = line.split()[1]
    data = text.replace(rate, f"{82_000 + number}.5").encode()
    return data + b"\n" * (size - len(data))


def bundle(number: int) -> bytes:
    """A bundle of one STREAM run with a value of its own."""
    value = {"metric": "triad.bandwidth", "value": 100 + number, "unit": "GB/s"}
    run = {
        # Repeats of a run are told apart by when they began.
        "started_at": (BEGAN + timedelta(seconds=number)).isoformat(),
        "system": SYSTEM,
        "benchmark": "stream",
        "version": "5.10",
        "scope": "system",
        "parameters": {"threads": 64},
        "measurements": [value],
    }
    return json.dumps({"bundle": 1, "runs": [run]}, indent=1).encode()


def hostile() -> list[Path]:
    """Files that once did harm, or might: replayed by every run."""
    return sorted((DATA / "hostile").iterdir())
