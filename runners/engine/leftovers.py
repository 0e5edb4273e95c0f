"""Ends what the steps of a dead worker left on this host.

ended = end("attempt's marker", (session_id, session_started))
"""

from __future__ import annotations

import os
from pathlib import Path

from runners.engine import ending, processes, scratch
from runners.engine.processes import Process


def end(marker: str, session: tuple[int, int] | None, *, grace_s: float = 5.0) -> int:
    """End every process of that attempt by TERM, wait and KILL: how many there were.

    `session` is the last known one of a step: its id, and its leader's start in ticks since
    boot. The caller sees to it that the attempt ran in this very place (processes.place()),
    and that the engine which ran it is dead.
    """

    def find() -> list[Process]:
        # The second look is for what was being started during the first.
        return _find(marker, session) or _find(marker, session)

    return len(ending.end(find, grace_s=grace_s).found)


def _find(marker: str, session: tuple[int, int] | None) -> list[Process]:
    """What is alive of it. Never this process or one that it comes from."""
    all_there = processes.table()
    roots = {one for one in all_there if _is_of(one, marker)}
    if session is not None:
        roots |= _of_session(all_there, session, marker)
    found = processes.with_descendants(all_there, roots)
    found -= processes.ancestors(all_there, os.getpid())
    return [all_there[one] for one in found if one in all_there and not all_there[one].is_over]


def _is_of(number: int, marker: str) -> bool:
    """Marked; or its output goes to the scratch folder, which bears the marker's name: what
    lost its environment is found so. Its working folder alone is no sign: a person who looks
    into the folder works there, too."""
    return processes.is_marked(number, marker) or _points_into(number, ("fd/1", "fd/2"), marker)


def _of_session(all_there: dict[int, Process], session: tuple[int, int], marker: str) -> set[int]:
    """The session's processes, if it is still the same.

    With its leader there its start tells. Without, the id may have been given again to one
    that ended since: then a process must have to do with the scratch folder besides.
    """
    number, since = session
    found = processes.members(all_there, number)
    leader = all_there.get(number)
    if leader is not None:
        return found if leader.started == since else set()
    return {
        one
        for one in found
        if all_there[one].started >= since and _points_into(one, ("cwd", "fd/1", "fd/2"), marker)
    }


def _points_into(number: int, links: tuple[str, ...], marker: str) -> bool:
    """Whether one of those links of /proc/PID lies in the attempt's scratch folder."""
    name = scratch.folder_name(marker)
    for link in links:
        try:
            if name in Path(f"/proc/{number}/{link}").readlink().parts:
                return True
        except OSError:
            continue
    return False
