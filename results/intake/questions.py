"""What the files of an upload leave open, and what was taken in its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from results.catalogue.base import Benchmark, Parameter
from results.intake.systems import Match, described
from results.models import Lab, Scope

NEW = "new"


@dataclass(frozen=True)
class Question:
    """Something to be said beside the files. `key` is what `set` calls it, or lab, system.

    `needed`: nothing can be published without an answer. `taken` is what holds until then.
    """

    key: str
    text: str
    needed: bool
    options: Sequence[tuple[str, str]] = ()
    taken: str = ""
    runs: tuple[str, ...] = field(default=())

    def as_dict(self) -> dict[str, Any]:
        """As `POST uploads/` tells it."""
        return {
            "field": self.key,
            "text": self.text,
            "needed": self.needed,
            "options": [{"value": value, "label": label} for value, label in self.options],
            "taken": self.taken,
        }


def which_lab(labs: Sequence[Lab]) -> Question:
    """Whose results they are."""
    options = [(lab.slug, lab.name) for lab in labs]
    return Question("lab", _("Whose results are these?"), needed=True, options=options)


def which_system(match: Match, why: str = "") -> Question:
    """On which system the runs were made: those that fit, or the described one as a new one."""
    options = [(system.slug, described(system)) for system in match.likely]
    if match.proposal:
        label = _("A new system: %(name)s") % {"name": match.proposal.name}
        options.append((NEW, label))
    return Question("system", why or _why(match), needed=True, options=options)


def _why(match: Match) -> str:
    if len(match.likely) > 1:
        return _("The files fit several systems that are known here. Which one was measured?")
    if match.likely:
        return _("The files fit a system that is known here, but do not say enough. Is it this?")
    if match.proposal:
        return _("No system that is known here fits the files. Is it a new one?")
    return _(
        "Which system was measured? The files do not say: name it, or add the output of lscpu -J."
    )


def which_scope(threads: int | None, cores: int | None) -> Question:
    """What of the machine was loaded, where the threads do not tell."""
    text = _("What of the machine was loaded? The run had %(threads)s threads on %(cores)s cores.")
    unknown = _("an unknown number of")
    words = {"threads": threads or unknown, "cores": cores or unknown}
    options = [(str(value), str(label)) for value, label in Scope.choices]
    return Question("scope", text % words, needed=True, options=options)


def which_node(nodes: Sequence[str]) -> Question:
    """Which of several identical machines it was."""
    return Question(
        "node",
        _("Several identical machines of this system were measured. Which one was it?"),
        needed=False,
        options=[(node, node) for node in nodes],
    )


def which_value(benchmark: Benchmark, name: str, scope: str) -> Question | None:
    """What a parameter was that the tool cannot know; None where the catalogue has none."""
    parameter = next((p for p in benchmark.parameters if p.name == name), None)
    if parameter is None:
        return None
    taken = str(parameter.assumed.get(scope, ""))
    text = _("%(label)s? %(benchmark)s does not print it. %(note)s") % {
        "benchmark": benchmark.name,
        "label": parameter.label or parameter.name,
        "note": parameter.note,
    }
    return Question(name, text.strip(), needed=False, options=_choices(parameter), taken=taken)


def _choices(parameter: Parameter) -> list[tuple[str, str]]:
    return [(value, parameter.words.get(value, value)) for value in parameter.choices]
