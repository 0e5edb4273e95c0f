"""What a bundle may refer to: what it describes itself, and what is stored."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Model

from results.bundle import model
from results.chunks import chunks
from results.models import Lab, Processor, Source, System


class Names(Collection[str]):
    """Slugs that may be referred to; all stored ones are read only to suggest one."""

    def __init__(self, kind: type[Model], declared: Iterable[str], wanted: Iterable[str]) -> None:
        self._kind = kind
        self._known = set(declared)
        self._known |= stored(kind, sorted(set(wanted) - self._known))

    def __contains__(self, slug: object) -> bool:
        return slug in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @cached_property
    def _all(self) -> list[str]:
        every = self._kind._default_manager.values_list("slug", flat=True)[:5_000]
        return sorted({*every, *self._known})


def stored(kind: type[Model], slugs: Iterable[str]) -> set[str]:
    """Those of the slugs that the database has."""
    found: set[str] = set()
    for part in chunks(list(slugs)):
        rows = kind._default_manager.filter(slug__in=part)
        found.update(rows.values_list("slug", flat=True))
    return found


@dataclass(frozen=True)
class Known:
    """The names that a bundle's references are checked against."""

    labs: Names
    systems: Names
    sources: Names
    processors: Names
    line_counts: Mapping[str, int]

    @classmethod
    def of(cls, bundle: model.Bundle, files: Mapping[str, bytes]) -> Known:
        """Look up, once, everything that the bundle refers to."""
        systems, lists = bundle.systems, bundle.lists
        entries = [entry.system for ranked in lists for entry in ranked.entries]
        members = [slug for system in systems for slug in system.members]
        columns = [key.partition("@")[0] for c in bundle.comparisons for key in c.systems]
        return cls(
            labs=Names(Lab, (lab.slug for lab in bundle.labs), [bundle.lab]),
            systems=Names(
                System,
                (system.slug for system in systems),
                _given([*(run.system for run in bundle.runs), *members, *entries, *columns]),
            ),
            sources=Names(
                Source,
                (source.id for source in bundle.sources),
                sources_named(bundle),
            ),
            processors=Names(
                Processor,
                (processor.slug for processor in bundle.processors),
                _given(system.processor for system in systems),
            ),
            line_counts={name: data.count(b"\n") + 1 for name, data in files.items()},
        )


def sources_named(bundle: model.Bundle) -> set[str]:
    """The sources that the bundle's parts refer to."""
    return _given(
        [
            *(run.source for run in bundle.runs),
            *(system.source for system in bundle.systems),
            *(ranked.source for ranked in bundle.lists),
        ]
    )


def _given(slugs: Iterable[str | None]) -> set[str]:
    return {slug for slug in slugs if slug}
