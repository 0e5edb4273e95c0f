"""The address of a comparison: from a query string to a question, and back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.http import QueryDict
from django.utils.translation import gettext as _

from results import catalogue
from results.compare import CompareError
from results.hints import hint
from results.models import Comparison

MANY = ("system", "benchmark")
SINGLE = ("factor", "baseline", "per", "axis", "lang")
PARAM = "param."
LONGEST = 500
READABLE = "@,=/:"  # signs that a query string may carry as they are


@dataclass(frozen=True)
class Defaults:
    """What holds where the address says nothing: the engine's, or a stored comparison's."""

    systems: tuple[str, ...] = ()
    benchmarks: tuple[str, ...] = ()
    factor: str = "system"
    baseline: str = ""
    per: str = "total"
    axis: str = ""

    @classmethod
    def of(cls, stored: Comparison | None) -> Defaults:
        """The defaults that a stored comparison sets; the engine's without one."""
        if stored is None:
            return cls()
        return cls(
            systems=tuple(stored.columns),
            benchmarks=tuple(stored.benchmarks),
            factor=stored.factor or cls.factor,
            baseline=stored.baseline,
            per=stored.per or cls.per,
        )


@dataclass(frozen=True)
class State:
    """A comparison as an address asks for it.

    `params` maps a parameter to the values to keep, "" is 'absent'. `stored` are the
    defaults that hold without `system=`. `unknown` says, in words, what of the query was
    not understood; it changes nothing.
    """

    systems: tuple[str, ...]
    benchmarks: tuple[str, ...] = ()
    factor: str = Defaults.factor
    baseline: str = ""
    per: str = Defaults.per
    axis: str = ""
    params: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lang: str = ""
    stored: Defaults = Defaults()
    unknown: tuple[str, ...] = ()

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of `compare_systems`."""
        return {
            "systems": self.systems,
            "benchmarks": self.benchmarks,
            "factor": self.factor,
            "baseline": self.baseline,
            "per": self.per,
            "axis": self.axis,
            "params": self.params,
        }


def read_state(query: QueryDict, stored: Comparison | None, *, strict: bool = False) -> State:
    """Read a query string. Without `system=`, what it does not say comes from `stored`.

    Empty values are as if not given, but for `param.<name>=`, which means 'absent'.
    `strict`: names that are not known, and single names given twice, are errors; else
    they are listed in `unknown`, and the last value counts.
    Raises CompareError, with what is wrong by name.
    """
    _require_plain(query)
    complaints = _complaints(query)
    if strict and complaints:
        raise CompareError(complaints)
    systems = _many(query, "system")
    base = Defaults.of(stored)
    holds = Defaults() if systems else base
    return State(
        systems=systems or holds.systems,
        benchmarks=_many(query, "benchmark") or holds.benchmarks,
        factor=query.get("factor") or holds.factor,
        baseline=query.get("baseline") or holds.baseline,
        per=query.get("per") or holds.per,
        axis=query.get("axis") or holds.axis,
        params=_params(query),
        lang=_language(query),
        stored=base,
        unknown=tuple(text for texts in complaints.values() for text in texts),
    )


def address(state: State, *, whole: bool = False, **changes: Any) -> str:
    """The query string, with its '?', of `state` with `changes`; names in a fixed order.

    What holds by default is left out. Columns of the stored comparison are too, unless
    `whole` (an address that stays the same when the stored comparison changes) or what
    is asked could not be said without them. `changes` are fields of State.
    """
    new = replace(state, **changes)
    implied = not whole and _falls_back(new)
    holds = new.stored if implied else Defaults()
    pairs: list[tuple[str, str]] = []
    if not implied:
        pairs += [("system", key) for key in new.systems]
    if new.benchmarks != holds.benchmarks:
        pairs += [("benchmark", key) for key in new.benchmarks]
    for name in ("factor", "baseline", "per", "axis"):
        if getattr(new, name) != getattr(holds, name):
            pairs.append((name, getattr(new, name)))
    for name in sorted(new.params):
        pairs += [(PARAM + name, value) for value in new.params[name]]
    if new.lang:
        pairs.append(("lang", new.lang))
    return "?" + "&".join(f"{quote(name)}={quote(text, safe=READABLE)}" for name, text in pairs)


def stored_address(stored: Comparison) -> str:
    """The query string, with its '?', that asks for what a stored comparison shows."""
    holds = Defaults.of(stored)
    return address(
        State(
            systems=holds.systems,
            benchmarks=holds.benchmarks,
            factor=holds.factor,
            baseline=holds.baseline,
            per=holds.per,
        )
    )


def _falls_back(state: State) -> bool:
    """Whether the columns are the stored ones and nothing stored has to be taken back."""
    stored = state.stored
    if not stored.systems or state.systems != stored.systems:
        return False
    told = ("benchmarks", "baseline")
    return all(getattr(state, name) or not getattr(stored, name) for name in told)


def _require_plain(query: QueryDict) -> None:
    """Refuse control characters and texts that no address of ours is as long as."""
    errors: dict[str, list[str]] = defaultdict(list)
    for name, values in query.lists():
        for text in (name, *values):
            problem = plain_problem(text)
            if problem:
                errors[_printable(name)].append(problem)
    if errors:
        raise CompareError(errors)


def plain_problem(text: str) -> str:
    """Why a text from an address is refused, or "": a control character, or its length."""
    if len(text) > LONGEST:
        found = {"found": len(text), "limit": LONGEST}
        return _("found %(found)d characters, expected at most %(limit)d") % found
    if any(ord(sign) < 32 or ord(sign) == 127 for sign in text):
        return _("found a control character, expected plain text")
    return ""


def _printable(name: str) -> str:
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in name)[
        :60
    ]


def _complaints(query: QueryDict) -> dict[str, list[str]]:
    """What the query has that a comparison does not know, by name."""
    errors: dict[str, list[str]] = {}
    parameters = [PARAM + name for name in parameter_names()]
    for name, values in query.lists():
        if name in MANY or (name.startswith(PARAM) and name != PARAM):
            continue
        if name not in SINGLE:
            known = [*MANY, *SINGLE, *parameters]
            errors[name] = [
                _("%(name)r is not known; %(hint)s") % {"name": name, "hint": hint(name, known)}
            ]
        elif len(values) > 1:
            errors[name] = [_("%(name)s is given more than once") % {"name": name}]
        elif name == "lang" and values[0] and not _language(query):
            languages = ", ".join(dict(settings.LANGUAGES))
            errors[name] = [_("expected one of %(names)s") % {"names": languages}]
    return errors


def parameter_names() -> list[str]:
    """All parameters of the catalogue that rows or columns can be told apart by."""
    found = (
        parameter.name
        for benchmark in catalogue.benchmarks().values()
        for parameter in benchmark.parameters
        if parameter.role != "describes"
    )
    return list(dict.fromkeys(found))


def _many(query: QueryDict, name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in query.getlist(name) if value))


def _params(query: QueryDict) -> dict[str, tuple[str, ...]]:
    found: dict[str, Sequence[str]] = {
        name.removeprefix(PARAM): values
        for name, values in query.lists()
        if name.startswith(PARAM) and name != PARAM
    }
    return {name: tuple(dict.fromkeys(values)) for name, values in found.items()}


def _language(query: QueryDict) -> str:
    wanted = query.get("lang", "").lower()
    return wanted if wanted in dict(settings.LANGUAGES) else ""
