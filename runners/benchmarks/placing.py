"""Which CPUs and memory a placement means on a host, and what was loaded then. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest

from runners.benchmarks.base import Scope
from runners.machine import Cpu, Facts, Node

# Threads of one socket, with its own memory or with other memory.
ONE_SOCKET = ("local", "remote")


def home(placement: str, facts: Facts) -> tuple[Cpu, ...]:
    """The logical CPUs whose threads a placement uses: all, or those of the first socket.

    Where the first socket has all nodes (one socket, cut in several), its first node is home
    for remote memory.
    """
    if placement not in ONE_SOCKET or not facts.cpus:
        return facts.cpus
    socket = min(cpu.socket for cpu in facts.cpus)
    cpus = tuple(cpu for cpu in facts.cpus if cpu.socket == socket)
    if placement == "remote" and not far(cpus, facts):
        node = min(cpu.node for cpu in cpus)
        return tuple(cpu for cpu in cpus if cpu.node == node)
    return cpus


def far(cpus: Iterable[Cpu], facts: Facts) -> tuple[Node, ...]:
    """The nodes with memory to which none of these CPUs belongs."""
    near = {cpu.node for cpu in cpus}
    return tuple(node for node in with_memory(facts) if node.number not in near)


def with_memory(facts: Facts) -> tuple[Node, ...]:
    """The nodes that have memory, or of which it is not known."""
    return tuple(node for node in facts.nodes if node.memory_gib != 0)


def memory_nodes(placement: str, facts: Facts) -> tuple[Node, ...]:
    """The nodes whose memory a placement uses."""
    cpus = home(placement, facts)
    if placement == "remote":
        return far(cpus, facts)
    if placement == "local":
        near = {cpu.node for cpu in cpus}
        return tuple(node for node in with_memory(facts) if node.number in near)
    return with_memory(facts)


def chosen(cpus: Sequence[Cpu], threads: int, facts: Facts) -> tuple[Cpu, ...]:
    """`threads` of these CPUs: one a core and even over the sockets, then the cores' others."""
    first = facts.one_cpu_a_core(cpus)
    taken = set(first)
    others = [cpu for cpu in cpus if cpu not in taken]
    some = set([*_in_turn(first), *_in_turn(others)][:threads])
    return tuple(cpu for cpu in (*first, *others) if cpu in some)


def scope_of(placement: str, cpus: Sequence[Cpu], facts: Facts) -> Scope:
    """What one thread on each of these CPUs loads: a scope as the catalogue means it.

    Where a host has but one socket, a whole socket is the whole system too: the placement says
    which of the two was meant, and so beside which runs it stands.
    """
    cores = {(cpu.socket, cpu.core) for cpu in cpus}
    if len(cpus) == 1 and facts.cores > 1:
        return "thread"
    if len(cores) >= facts.cores and placement not in ONE_SOCKET:
        return "system"
    sockets = {cpu.socket for cpu in cpus}
    of_socket = {(cpu.socket, cpu.core) for cpu in facts.cpus if cpu.socket in sockets}
    return "socket" if len(sockets) == 1 and cores == of_socket else "cores"


def threads_per_core(cpus: Sequence[Cpu]) -> int:
    """The most of these CPUs that belong to one core; at least 1."""
    cores = [(cpu.socket, cpu.core) for cpu in cpus]
    return max((cores.count(core) for core in set(cores)), default=1)


def _in_turn(cpus: Sequence[Cpu]) -> list[Cpu]:
    """One of each socket, the next of each, and so on."""
    sockets = sorted({cpu.socket for cpu in cpus})
    columns = [[cpu for cpu in cpus if cpu.socket == socket] for socket in sockets]
    return [cpu for cpu in chain.from_iterable(zip_longest(*columns)) if cpu is not None]
