"""What this machine is and how it is set. Free of Django.

`gather` asks the machine, tool by tool and file by file; `facts_of` and `drafts_of` read what
they said, and can be given what another machine said.
"""

from __future__ import annotations

from runners.detect.gathering import gather
from runners.detect.reading import drafts_of, facts_of
from runners.machine import Facts


def detect() -> Facts:
    """This machine's facts. Takes a few seconds; never raises: what cannot be read is unknown."""
    return facts_of(gather())


__all__ = ["detect", "drafts_of", "facts_of", "gather"]
