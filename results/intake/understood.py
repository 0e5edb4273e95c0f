"""What is known when files are read, and what comes of reading them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from django.db.models import QuerySet

from results.bundle import Document, Problem
from results.formats.base import File, Remark
from results.intake.machine import Contradiction, Machine
from results.intake.questions import Question
from results.intake.systems import Proposal
from results.models import Lab, System


@dataclass(frozen=True)
class Around:
    """Who uploads, as far as understanding depends on it.

    `lab` None: to be asked, of `labs`. `systems` are those that the lab may know of.
    `corrected` are the runs (ids) that the files correct.
    """

    lab: Lab | None
    labs: Sequence[Lab]
    systems: QuerySet[System]
    corrected: Collection[int] = ()


@dataclass
class Understood:
    """What the files say. `documents` are to be ingested together, or not at all."""

    files: list[File] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    documents: list[Document] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    machine: Machine = field(default_factory=Machine)
    system: System | None = None
    proposal: Proposal | None = None
    differing: list[Contradiction] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        """Whether an answer is needed before anything can be stored."""
        return any(question.needed for question in self.questions)
