"""/proc/meminfo of Linux: the memory that the system sees."""

from __future__ import annotations

import re

from results.bundle.problems import show
from results.formats.base import Draft, File
from results.formats.machine import Gathering

NAME = "/proc/meminfo"
ORDER = 70


def detect(file: File) -> bool:
    """MemTotal among the first lines, and nothing of another tool before."""
    return any(line.startswith("MemTotal:") for line in file.top[:3])


def parse(file: File) -> Draft:
    """MemTotal, printed in kB of 1,024 bytes. Raises FormatError where it is cut or 0."""
    log = file.log
    total = log.require(r"^\s*MemTotal:\s*(.{0,60})", "a line 'MemTotal:'")
    size = re.fullmatch(r"([0-9]{1,15}) kB\s*", total[1])
    if not size or not int(size[1]):
        log.refuse(total.line, show(total[1]), "a size above 0 in kB")
    log.require(r"^\s*MemFree:\s+\d", "a line 'MemFree:', as every kernel prints it")
    gathering = Gathering(file)
    gathering.say("memory_total_gb", round(int(size[1]) / 2**20, 1), total.line)
    return gathering.draft()
