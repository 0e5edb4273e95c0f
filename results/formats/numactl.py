"""`numactl -H`: nodes, their CPUs and their memory. Its MB are of 2**20 bytes."""

from __future__ import annotations

import re

from results.formats.base import LONGEST_LINE, Draft, File, Log
from results.formats.machine import Gathering

NAME = "numactl -H"
ORDER = 70
AVAILABLE = r"^\s*available: (\d{1,5}) nodes? \("


def detect(file: File) -> bool:
    """Its first line, behind a prompt at most."""
    return any(re.match(AVAILABLE, line) for line in file.top[:3])


def parse(file: File) -> Draft:
    """The machine's NUMA nodes. Raises FormatError where the output ends before the last."""
    log, gathering = file.log, Gathering(file)
    head = log.require(AVAILABLE, "a line 'available: 2 nodes (0-1)'")
    nodes = gathering.count(head[1], head.line) or 0
    gathering.say("numa_nodes", nodes, head.line)
    sizes = list(log.all(r"^\s*node (\d{1,5}) size: (\d{1,12}) MB"))
    if len({size[1] for size in sizes}) != nodes or not log.find(r"^\s*node distances:"):
        found = f"the size of {len(sizes)} nodes before the end of the output"
        log.refuse(log.last, found, f"that of {nodes}, and 'node distances:'")
    total = sum(int(size[2]) for size in sizes) / 1024
    gathering.say("memory_total_gb", round(total, 1) or None, sizes[0].line)
    _threads(log, gathering)
    return gathering.draft()


def _threads(log: Log, gathering: Gathering) -> None:
    """Logical CPUs of all nodes; not where a list is longer than what is read of a line."""
    listed = list(log.all(r"^\s*node \d{1,5} cpus:"))
    lines = [log.lines[found.line - 1] for found in listed]
    if listed and all(len(line) < LONGEST_LINE for line in lines):
        cpus = {cpu for line in lines for cpu in line.partition(":")[2].split()}
        gathering.say("threads", len(cpus) or None, listed[0].line)
