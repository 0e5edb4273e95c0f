"""Helpers for tests that start real processes."""

import socket
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import psutil

ROOT = Path(__file__).resolve().parents[2]
DEADLINE_S = 120.0  # generous: it only bounds a failing test
T = TypeVar("T")


def wait_for(look: Callable[[], T]) -> T:
    """The first true value of `look`; AssertionError at the deadline."""
    end_s = time.monotonic() + DEADLINE_S
    while time.monotonic() < end_s:
        if found := look():
            return found
        time.sleep(0.05)
    raise AssertionError("did not happen in time")


def running(number: int) -> bool:
    """Is there a process of this id that is not merely waiting to be buried?"""
    try:
        return psutil.Process(number).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def gone(numbers: Iterable[int]) -> bool:
    return not any(running(number) for number in numbers)


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def processes_of(folder: Path) -> list[psutil.Process]:
    """Every process whose environment names `folder` as its VAR."""
    return [process for process in psutil.process_iter() if _var(process) == str(folder)]


def _var(process: psutil.Process) -> str | None:
    try:
        return process.environ().get("VAR")
    except psutil.Error:
        return None
