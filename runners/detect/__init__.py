"""What this machine is and how it is set. Free of Django.

`gather` asks the machine, tool by tool and file by file; `facts_of` and `drafts_of` read what
they said, and can be given what another machine said.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from runners.machine import Facts

if TYPE_CHECKING:
    from results.formats.base import Draft
    from runners.detect.words import Looked

# Formats are loaded where a machine is looked at, not by every page that shows a host.


def gather() -> Looked:
    """What this machine's tools and files say. Takes a second or so; never raises."""
    from runners.detect import gathering

    return gathering.gather()


def facts_of(looked: Looked) -> Facts:
    """The facts in what was gathered; what cannot be read is unknown."""
    from runners.detect import reading

    return reading.facts_of(looked)


def drafts_of(looked: Looked) -> Iterable[tuple[str, Draft]]:
    """The same as the formats of uploads read it, by the name of each file."""
    from runners.detect import reading

    return reading.drafts_of(looked)


def detect() -> Facts:
    """This machine's facts."""
    return facts_of(gather())
