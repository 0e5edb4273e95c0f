"""Where another app adds to what `results` shows, without `results` knowing of it.

The app adds callables in `AppConfig.ready()`; what nothing was added to shows nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from results.models import Run

Added = TypeVar("Added")


@dataclass(frozen=True)
class Link:
    """Words that lead to an address. `mark`: names of pages, apart by blanks, that
    count as being there."""

    text: str
    address: str
    mark: str = ""


@dataclass(frozen=True)
class Panel:
    """A part of a page: a template and what it shows."""

    template: str
    context: Mapping[str, Any] = field(default_factory=dict)


class Hook(Generic[Added]):
    """What was added, in its order; the same thing once."""

    def __init__(self) -> None:
        self._added: list[Added] = []

    def add(self, one: Added) -> Added:
        """Add one; gives it back, so that it can decorate."""
        if one not in self._added:
            self._added.append(one)
        return one

    def __iter__(self) -> Iterator[Added]:
        return iter(self._added)


# Links in the head of every page, for a reader (a user); beside those of `results`.
head_links: Hook[Callable[[Any], Iterable[Link]]] = Hook()
# Links below a run's numbers, for a run and a reader.
run_links: Hook[Callable[[Run, Any], Iterable[Link]]] = Hook()
# A link in a comparison's cell: for a reader, the words and an address to which a run's id is
# added; None for readers who get none.
cell_links: Hook[Callable[[Any], Link | None]] = Hook()
# Parts of the front page, for a reader. They must not differ between readers without account.
home_panels: Hook[Callable[[Any], Panel | None]] = Hook()
# Actions of the admin's list of runs: methods of an admin class (admin, request, queryset).
run_actions: Hook[Callable[..., Any]] = Hook()
# What is put right from time to time, by a process beside the web server. They do not raise
# for what passes, and take at most a second.
sweeps: Hook[Callable[[], None]] = Hook()
# Further lists of the API, for its router; asked when its addresses are first read.
api_lists: Hook[Callable[[Any], None]] = Hook()


def present(hook: Hook[Any], *about: Any) -> list[Any]:
    """What the callables of a hook give, without those that give nothing."""
    return [one for make in hook if (one := make(*about)) is not None]


def all_links(hook: Hook[Any], *about: Any) -> list[Link]:
    """The links of all callables of a hook."""
    return [link for make in hook for link in make(*about)]
