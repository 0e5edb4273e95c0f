"""What a bundle may refer to: what it describes itself, and what is stored."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Exists, Model, OuterRef, Q, QuerySet

from results import queries
from results.bundle import model
from results.chunks import chunks
from results.models import Lab, Processor, Run, Source, System


@dataclass(frozen=True)
class Sight:
    """Whose bundle it is: a lab (slug) knows public systems and its own, an operator all."""

    lab: str
    all: bool = False

    def of(self, kind: type[Model]) -> QuerySet[Any]:
        """The rows that a bundle may refer to."""
        if not self.all and kind is System:
            return queries.systems_free_for(self.lab)
        if not self.all and kind is Processor:
            return queries.processors_free_for(self.lab)
        return kind._default_manager.all()

    def own(self, kind: type[Model]) -> QuerySet[Any]:
        """Systems or processors whose description is this lab's to give."""
        runs_of = queries.systems_of_labs if kind is System else queries.processors_of_labs
        its = runs_of(Lab.objects.filter(slug=self.lab).order_by().values("pk"))
        return self.of(kind).filter(Q(is_public=False) | its)


EVERYTHING = Sight("", all=True)


class Names(Collection[str]):
    """Slugs that may be referred to; public ones are read only to suggest one."""

    def __init__(
        self, kind: type[Model], declared: Iterable[str], wanted: Iterable[str], sight: Sight
    ) -> None:
        self._kind = kind
        self._known = set(declared)
        self._known |= stored(kind, sorted(set(wanted) - self._known), sight)

    def __contains__(self, slug: object) -> bool:
        return slug in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @cached_property
    def _all(self) -> list[str]:
        rows = self._kind._default_manager.filter(_public(self._kind))
        return sorted({*rows.values_list("slug", flat=True)[:5_000], *self._known})


def _public(kind: type[Model]) -> Q:
    """What may be suggested to anyone who writes a name that is not known."""
    if kind in (System, Processor):
        return Q(is_public=True)
    if kind is Source:
        shown = Run.objects.filter(source=OuterRef("pk"), state=Run.State.PUBLISHED)
        described = System.objects.filter(source=OuterRef("pk"), is_public=True)
        return Q(Exists(shown)) | Q(Exists(described)) | Q(lists__isnull=False)
    return Q()


def stored(kind: type[Model], slugs: Iterable[str], sight: Sight = EVERYTHING) -> set[str]:
    """Those of the slugs that the database has, as far as may be known."""
    found: set[str] = set()
    for part in chunks(list(slugs)):
        rows = sight.of(kind).filter(slug__in=part)
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
    def of(cls, bundle: model.Bundle, files: Mapping[str, bytes], sight: Sight) -> Known:
        """Look up, once, everything that the bundle refers to."""
        systems, lists = bundle.systems, bundle.lists
        entries = [entry.system for ranked in lists for entry in ranked.entries]
        members = [slug for system in systems for slug in system.members]
        columns = [key.partition("@")[0] for c in bundle.comparisons for key in c.systems]
        return cls(
            labs=Names(Lab, (lab.slug for lab in bundle.labs), [bundle.lab], sight),
            systems=Names(
                System,
                (system.slug for system in systems),
                _given([*(run.system for run in bundle.runs), *members, *entries, *columns]),
                sight,
            ),
            sources=Names(
                Source,
                (source.id for source in bundle.sources),
                sources_named(bundle),
                sight,
            ),
            processors=Names(
                Processor,
                (processor.slug for processor in bundle.processors),
                _given(system.processor for system in systems),
                sight,
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
