"""A correction that is told from the run it corrects by its values alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from hashlib import sha256

from results.ingest.check import Ready
from results.ingest.store import contradictions, known_runs


def make_way(ready: Sequence[Ready], corrected: Collection[int]) -> None:
    """Give runs that say otherwise than one of `corrected` (ids) the next free ordinal.

    Same lab, system, parameters, time: without that they would be a contradiction of what
    is stored, and that is just what they are meant to be.
    """
    known = known_runs(ready)
    rivals = [run for run in ready if known.get(run.identity) in set(corrected)]
    said = {finding.path[:2] for finding in contradictions(rivals, known)}
    taken = {run.identity for run in ready}
    for run in rivals:
        if run.path[:2] in said:
            _renumber(run, taken)


def _renumber(run: Ready, taken: set[str]) -> None:
    while run.identity in taken or known_runs([run]):
        run.ordinal += 1
        run.identity = sha256(f"{run.base}#{run.ordinal}".encode()).hexdigest()
    taken.add(run.identity)
