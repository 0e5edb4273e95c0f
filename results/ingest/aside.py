"""Slugs that are taken by what a lab may not know of: its own description gets another one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import TypeVar

from django.db.models import Model

from results.bundle import Document, model
from results.bundle.document import OPEN
from results.ingest.known import Sight, stored
from results.models import Processor, System

Described = TypeVar("Described", model.Processor, model.System)
Slugs = Mapping[str, str]
LONGEST = 80


def set_aside(document: Document, sight: Sight) -> Document:
    """The document, with the described systems and processors under slugs that are free.

    Two labs that describe the same new machine before either has published must not learn of
    each other, nor write into each other's rows. The same document again gets the same slugs.
    """
    bundle = document.bundle
    if sight.all or sight.lab == OPEN:
        return document
    processors = _slugs(Processor, [cpu.slug for cpu in bundle.processors], sight)
    systems = _slugs(System, [system.slug for system in bundle.systems], sight)
    if not processors and not systems:
        return document
    changes = {
        "processors": _renamed(bundle.processors, processors),
        "systems": [
            system.model_copy(
                update={
                    "processor": processors.get(system.processor or "", system.processor),
                    "members": [systems.get(slug, slug) for slug in system.members],
                }
            )
            for system in _renamed(bundle.systems, systems)
        ],
        "runs": [
            run.model_copy(update={"system": systems[run.system]}) if run.system in systems else run
            for run in bundle.runs
        ],
    }
    return replace(document, bundle=bundle.model_copy(update=changes))


def _renamed(parts: Iterable[Described], slugs: Slugs) -> list[Described]:
    return [part.model_copy(update={"slug": slugs.get(part.slug, part.slug)}) for part in parts]


def _slugs(kind: type[Model], described: Collection[str], sight: Sight) -> Slugs:
    """Other slugs for those of `described` that only others have."""
    if not described:
        return {}
    hidden = stored(kind, described) - stored(kind, described, sight)
    return {slug: _free(kind, slug, sight) for slug in hidden}


def _free(kind: type[Model], slug: str, sight: Sight) -> str:
    for name in _candidates(slug, sight.lab):
        if not stored(kind, [name]) or sight.own(kind).filter(slug=name).exists():
            return name
    raise AssertionError("not reached")


def _candidates(slug: str, lab: str) -> Iterator[str]:
    for number in count(1):
        end = f"-{lab}" if number == 1 else f"-{lab}-{number}"
        yield slug[: LONGEST - len(end)] + end
