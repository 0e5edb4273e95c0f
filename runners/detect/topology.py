"""Logical CPUs, cores, sockets, NUMA nodes and caches."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from runners.detect.words import (
    Looked,
    Sheet,
    kib_words,
    listed,
    matching,
    row,
    size_kib,
    spans,
    whole,
)
from runners.machine import Cpu, Node, gib_words

LSCPU, NUMACTL, STATUS = "lscpu -p=CPU,CORE,SOCKET,NODE", "numactl -H", "/proc/self/status"
CPUS = "/sys/devices/system/cpu"
NODES = "/sys/devices/system/node"
MOST_NODES_TOLD = 16
KINDS = {"Data": "d", "Instruction": "i", "Unified": ""}


def cpus_of(looked: Looked) -> tuple[Cpu, ...]:
    """The logical CPUs that are on."""
    return _from_lscpu(looked) or _from_kernel(looked)


def _from_lscpu(looked: Looked) -> tuple[Cpu, ...]:
    found = []
    for line in looked.get(LSCPU, "").splitlines():
        numbers = [whole(part) for part in line.split(",")]
        if line.startswith("#") or len(numbers) != 4:
            continue
        number, core, socket, node = numbers
        if number is None or core is None:
            return ()
        found.append(Cpu(number, core, socket or 0, node or 0))
    return tuple(sorted(found, key=lambda cpu: cpu.number))


def _from_kernel(looked: Looked) -> tuple[Cpu, ...]:
    """A core has the number of its first logical CPU: the kernel's own repeat in each die."""
    siblings = _by_cpu(looked, "topology/thread_siblings_list")
    sockets = _by_cpu(looked, "topology/physical_package_id")
    home = {cpu: node.number for node in nodes_of(looked) for cpu in node.cpus}
    cores = {cpu: (listed(text) or (cpu,))[0] for cpu, text in siblings.items()}
    # Where there is no such thing as a socket, the kernel says -1.
    return tuple(
        Cpu(cpu, core, whole(sockets.get(cpu, "")) or 0, home.get(cpu, 0))
        for cpu, core in sorted(cores.items())
    )


def _by_cpu(looked: Looked, name: str) -> dict[int, str]:
    """What the kernel says of each CPU under a name."""
    found = matching(looked, rf"{CPUS}/cpu(\d+)/{name}")
    return {int(match[1]): text for match, text in found}


def nodes_of(looked: Looked) -> tuple[Node, ...]:
    """The NUMA nodes, those without CPUs too."""
    found = {
        int(match[1]): Node(
            int(match[1]), _node_gib(looked.get(f"{NODES}/node{match[1]}/meminfo", "")), cpus
        )
        for match, text in matching(looked, rf"{NODES}/node(\d+)/cpulist")
        for cpus in [listed(text)]
    }
    # Without CPUs the list is empty, and what is empty has said nothing.
    for match, text in matching(looked, rf"{NODES}/node(\d+)/meminfo"):
        found.setdefault(int(match[1]), Node(int(match[1]), _node_gib(text)))
    return tuple(found[number] for number in sorted(found)) or _from_numactl(looked)


def _node_gib(text: str) -> float | None:
    kib = re.search(r"MemTotal:\s+([0-9]{1,15}) kB", text)
    return round(int(kib[1]) / 2**20, 2) if kib else None


def _from_numactl(looked: Looked) -> tuple[Node, ...]:
    text = looked.get(NUMACTL, "")
    cpus = {
        int(found[1]): tuple(sorted(int(cpu) for cpu in found[2].split()))
        for found in re.finditer(r"(?m)^node (\d{1,5}) cpus:((?: \d{1,5})*)\s*$", text)
    }
    sizes = {
        int(found[1]): round(int(found[2]) / 1024, 2)
        for found in re.finditer(r"(?m)^node (\d{1,5}) size: (\d{1,12}) MB", text)
    }
    numbers = sorted(cpus.keys() | sizes.keys())
    return tuple(Node(number, sizes.get(number), cpus.get(number, ())) for number in numbers)


def usable(looked: Looked, cpus: Iterable[Cpu]) -> tuple[Cpu, ...]:
    """Those that this process may use; all where that is not known."""
    allowed = set(listed(row(looked.get(STATUS, ""), "Cpus_allowed_list")))
    return tuple(cpu for cpu in cpus if not allowed or cpu.number in allowed)


def usable_nodes(looked: Looked, nodes: Iterable[Node], cpus: Iterable[Cpu]) -> tuple[Node, ...]:
    """Nodes whose memory this process may use, with those of their CPUs that it may."""
    allowed = set(listed(row(looked.get(STATUS, ""), "Mems_allowed_list")))
    there = {cpu.number for cpu in cpus}
    return tuple(
        Node(node.number, node.memory_gib, tuple(cpu for cpu in node.cpus if cpu in there))
        for node in nodes
        if not allowed or node.number in allowed
    )


def say_topology(sheet: Sheet, looked: Looked, cpus: tuple[Cpu, ...]) -> None:
    """What of the CPUs may be used, where it is a part, and the NUMA nodes."""
    may = usable(looked, cpus)
    if may and len(may) < len(cpus):
        numbers = f"{len(may)} of {len(cpus)} ({spans(cpu.number for cpu in may)})"
        sheet.say("cpu.usable", "Usable by jobs", numbers, STATUS)
    nodes = nodes_of(looked)
    source = NODES if any(name.startswith(f"{NODES}/") for name in looked) else NUMACTL
    if nodes:
        sheet.say("numa.nodes", "NUMA nodes", len(nodes), source)
        sheet.set("numa_nodes", str(len(nodes)))
    for node in nodes[:MOST_NODES_TOLD] if len(nodes) > 1 else ():
        parts = [f"CPUs {spans(node.cpus)}" if node.cpus else "no CPUs"]
        if node.memory_gib is not None:
            parts.append(gib_words(node.memory_gib))
        sheet.say(f"numa.node{node.number}", f"Node {node.number}", ", ".join(parts), source)


def smt_of(looked: Looked, cpus: Iterable[Cpu]) -> str:
    """ "on" where a core has several logical CPUs, "off" where each has one."""
    active = looked.get(f"{CPUS}/smt/active", "").strip()
    if active in {"0", "1"}:
        return "on" if active == "1" else "off"
    counts: dict[tuple[int, int], int] = defaultdict(int)
    for cpu in cpus:
        counts[cpu.socket, cpu.core] += 1
    return ("on" if max(counts.values()) > 1 else "off") if counts else ""


def say_smt(sheet: Sheet, looked: Looked, cpus: Iterable[Cpu]) -> None:
    """With what the kernel says of switching it, where it says that."""
    source = f"{CPUS}/smt" if f"{CPUS}/smt/active" in looked else LSCPU
    control = looked.get(f"{CPUS}/smt/control", "").strip()
    smt = smt_of(looked, cpus)
    more = {
        "forceoff": ", switched off for good",
        "notsupported": ", the processor shows none",
        "notimplemented": ", the kernel cannot switch it",
    }
    sheet.say("cpu.smt", "SMT", smt and f"{smt}{more.get(control, '')}", source)


@dataclass(frozen=True)
class Cache:
    """One cache: level, kind ("d", "i" or "" for both), size in KiB, and who shares it."""

    level: int
    kind: str
    kib: int
    shared: tuple[int, ...]


def caches_of(looked: Looked) -> tuple[Cache, ...]:
    """Every cache once, however many CPUs list it."""
    found = set()
    for match, _ in matching(looked, rf"({CPUS}/cpu\d+/cache/index\d+)/level"):
        cache = _cache(match[1], looked)
        if cache is not None:
            found.add(cache)
    return tuple(sorted(found, key=lambda cache: (cache.level, cache.kind, cache.shared)))


def _cache(folder: str, looked: Mapping[str, str]) -> Cache | None:
    level = whole(looked[f"{folder}/level"])
    kind = KINDS.get(looked.get(f"{folder}/type", "").strip())
    kib = size_kib(looked.get(f"{folder}/size", ""))
    shared = listed(looked.get(f"{folder}/shared_cpu_list", ""))
    if level is None or kind is None or kib is None or not shared:
        return None
    return Cache(level, kind, kib, shared)


def llc_mib(caches: Iterable[Cache]) -> float | None:
    """All last-level caches together, MiB: of each CPU the outermost that holds data."""
    outermost: dict[int, Cache] = {}
    for cache in caches:
        if cache.kind == "i":
            continue
        for cpu in cache.shared:
            if cpu not in outermost or outermost[cpu].level < cache.level:
                outermost[cpu] = cache
    return sum(cache.kib for cache in set(outermost.values())) / 1024 if outermost else None


def l1d_kib(caches: Iterable[Cache]) -> float | None:
    """The first core's; cores of another kind may have others."""
    own = [cache for cache in caches if cache.level == 1 and cache.kind != "i"]
    return float(min(own, key=lambda cache: cache.shared).kib) if own else None


def say_caches(sheet: Sheet, caches: Iterable[Cache]) -> None:
    """Of each level how many there are of which size."""
    kinds: dict[tuple[int, str], list[int]] = defaultdict(list)
    for cache in caches:
        kinds[cache.level, cache.kind].append(cache.kib)
    for (level, kind), sizes in sorted(kinds.items()):
        parts = [
            f"{sizes.count(size)} × {kib_words(size)}" for size in sorted(set(sizes), reverse=True)
        ]
        name = f"L{level}{kind}"
        sheet.say(f"cpu.{name.lower()}", f"{name} caches", ", ".join(parts), f"{CPUS}/cpu*/cache")
    total = llc_mib(caches)
    if total is not None:
        text = kib_words(total * 1024)
        sheet.say("cpu.llc", "Last-level caches in all", text, f"{CPUS}/cpu*/cache")
