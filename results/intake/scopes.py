"""What of a machine a run loaded, worked out from its threads."""

from __future__ import annotations

from results.models import Scope


def scope_of(
    threads: int | None, *, cores: int | None, logical: int | None, sockets: int | None
) -> str | None:
    """The scope of a run with `threads` on a machine; None where that does not tell.

    As many threads as cores or logical CPUs load the system, one loads a thread. As many
    as one of several sockets has can be that socket or a part of all: that is asked.
    """
    if threads is None:
        return None
    if threads == 1 and cores != 1:
        return str(Scope.THREAD)
    if cores is None:
        return None
    whole = {cores, logical or cores, 2 * cores}
    if threads in whole or threads > max(whole):
        return str(Scope.SYSTEM)
    if sockets and sockets > 1 and threads in {count // sockets for count in whole}:
        return None
    return str(Scope.CORES)
