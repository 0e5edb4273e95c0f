"""The form of a new job: a benchmark's parameters as a host allows them, filled and explained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _

from results.models import Run
from results.wording import unit_words
from runners import benchmarks
from runners.benchmarks.base import (
    Adapted,
    Bound,
    Parameter,
    ParameterError,
    Preset,
    Runner,
    Value,
    Values,
)
from runners.machine import Facts
from runners.models import Host
from runners.pages.jobwords import benchmark_name, number_text
from runners.parameters import complete
from runners.preflight import preflight

MARK = "p."  # before a parameter's name in the form
USUAL = "standard"
LONGEST = 200  # characters of a typed value that is shown again


@dataclass(frozen=True)
class Field:
    """A parameter in the form. `choices` are (value, words, chosen); none: a number is typed."""

    name: str
    label: str
    value: str
    unit: str = ""
    kind: str = "integer"
    choices: Sequence[tuple[str, str, bool]] = ()
    hints: Sequence[str] = ()
    error: str = ""

    @property
    def input_mode(self) -> str:
        return "numeric" if self.kind == "integer" else "decimal"


@dataclass(frozen=True)
class Asking:
    """What is to be measured where, and what the form says of it.

    `problems` are reasons why it cannot be started at all, a sentence each; `wrong` what was
    wrong with what was sent, beside the fields' own errors.
    """

    benchmark: str
    runner: Runner | None = None
    host: Host | None = None
    run: Run | None = None
    preset: Preset | None = None
    fields: Sequence[Field] = ()
    cannot: Sequence[str] = ()
    problems: Sequence[str] = ()
    wrong: Sequence[str] = ()
    publish: bool = False

    @property
    def name(self) -> str:
        return benchmark_name(self.benchmark)

    @property
    def can_start(self) -> bool:
        return not self.problems

    @property
    def presets(self) -> Sequence[Preset]:
        return self.runner.presets if self.runner else ()

    def after(self, error: Exception, posted: Mapping[str, str]) -> Asking:
        """The form with what was typed and what was wrong with it."""
        messages = dict(error.messages) if isinstance(error, ParameterError) else {"": str(error)}
        fields = [_typed(field, posted, messages.pop(field.name, "")) for field in self.fields]
        wrong = [*self.wrong, *filter(None, messages.values())]
        return replace(self, fields=fields, wrong=wrong)

    def typed(self, posted: Mapping[str, str]) -> Asking:
        """The form with what was typed."""
        return replace(self, fields=[_typed(field, posted, "") for field in self.fields])

    @property
    def is_refused(self) -> bool:
        """Whether something of what was sent is wrong."""
        return bool(self.wrong) or any(field.error for field in self.fields)


def asking(
    benchmark: str,
    hosts: Sequence[Host],
    *,
    host: str = "",
    preset: str = "",
    run: Run | None = None,
) -> Asking:
    """The form for a benchmark, or for the run that is repeated; `host` and `preset` as chosen.

    Without a choice: the first host whose worker is alive, and the published rules.
    """
    runner = benchmarks.get(benchmark)
    if runner is None:
        return Asking(benchmark, run=run, problems=[_no_runner(benchmark)])
    found = choose_host(hosts, host)
    chosen = runner.preset(preset) or runner.preset(USUAL) or runner.presets[-1]
    wrong = _unknown(host, found, preset, chosen)
    if found is None:
        return Asking(benchmark, runner, run=run, preset=chosen, problems=[_no_host()], wrong=wrong)
    facts = Facts.of(found.facts)
    adapted = runner.adapt(run.parameters, run.scope, facts) if run else Adapted({})
    return Asking(
        benchmark,
        runner,
        found,
        run,
        chosen,
        fields=_fields(runner, chosen, adapted, facts),
        cannot=adapted.cannot,
        problems=_not_ready(found, benchmark),
        wrong=wrong,
    )


def choose_host(hosts: Sequence[Host], slug: str) -> Host | None:
    """The host that was chosen; else the first that is alive, else the first."""
    named = next((host for host in hosts if host.slug == slug), None)
    alive = next((host for host in hosts if host.is_alive), None)
    return named or alive or next(iter(hosts), None)


def notices_of(host: Host | None) -> list[str]:
    """What may disturb a measurement there, or keep it waiting, a sentence each. One query."""
    found = preflight(host) if host else []
    return [notice.text for notice in found if notice.level != "fine"]


def chosen_values(posted: Mapping[str, str]) -> dict[str, Any]:
    """The parameters of a form that was sent, as they were typed."""
    return {
        name.removeprefix(MARK): text.strip()
        for name, text in posted.items()
        if name.startswith(MARK)
    }


def _no_runner(benchmark: str) -> str:
    known = ", ".join(benchmark_name(slug) for slug in benchmarks.runners())
    words = {"name": benchmark_name(benchmark), "known": known}
    text = _("This hub has no runner for %(name)s: it cannot be measured from here.") % words
    return f"{text} {_('It measures %(known)s.') % words}" if known else text


def _no_host() -> str:
    return _(
        "No host takes jobs yet. A machine becomes one as soon as its worker runs:"
        " make serve, or python manage.py worker."
    )


def _not_ready(host: Host, benchmark: str) -> list[str]:
    check = host.runners.get(benchmark, {})
    if check.get("ready"):
        return []
    words = {"host": host, "name": benchmark_name(benchmark)}
    if missing := str(check.get("missing") or "").rstrip("."):
        text = _("%(host)s cannot run %(name)s yet: %(missing)s.")
        return [text % {**words, "missing": missing}]
    return [_("%(host)s has not been looked at yet: its worker says whether it can.") % words]


def _unknown(host: str, found: Host | None, preset: str, chosen: Preset) -> list[str]:
    wrong = []
    if host and (found is None or found.slug != host):
        wrong.append(_("No host that takes jobs is called %(name)r.") % {"name": host[:80]})
    if preset and preset != chosen.name:
        wrong.append(_("There is no preset %(name)r.") % {"name": preset[:80]})
    return wrong


def _fields(runner: Runner, preset: Preset, adapted: Adapted, facts: Facts) -> list[Field]:
    values = _values(runner, preset, adapted.values, facts)
    bounds = dict(runner.bounds(facts))
    if runner.within:
        bounds |= runner.within(values, facts)
    return [
        _field(one, bounds[one.name], number_text(values[one.name])) for one in runner.parameters
    ]


def _values(runner: Runner, preset: Preset, taken: Values, facts: Facts) -> dict[str, Value]:
    """What the form is filled with. Values of a run (`taken`) stand before those of the usual
    preset; who chooses another means what that one says."""
    named = {} if preset.name == USUAL else preset.values
    chosen = {name: value for name, value in taken.items() if name not in named}
    try:
        return complete(runner, preset.name, chosen, facts)
    except ParameterError as error:
        chosen = {name: value for name, value in chosen.items() if name not in error.messages}
        return complete(runner, preset.name, chosen, facts)


def _field(parameter: Parameter, bound: Bound, value: str) -> Field:
    choices = [
        (one, _(parameter.words.get(one, one)), one == value)
        for one in bound.choices
        if parameter.kind == "choice"
    ]
    limits = [] if parameter.kind == "choice" else [_limits(bound)]
    allowed = ": ".join(part for part in (*limits, bound.because) if part)
    hints = [_(parameter.help) if parameter.help else "", allowed[:1].upper() + allowed[1:]]
    return Field(
        name=parameter.name,
        label=_(parameter.label),
        value=value,
        unit=unit_words(parameter.unit) if parameter.unit else "",
        kind=parameter.kind,
        choices=choices,
        hints=[f"{hint.rstrip('.')}." for hint in hints if hint],
    )


def _limits(bound: Bound) -> str:
    low, high = (None if end is None else f"{end:,.12g}" for end in (bound.minimum, bound.maximum))
    if low is not None and high is not None:
        return _("From %(low)s to %(high)s") % {"low": low, "high": high}
    if low is not None:
        return _("%(low)s or more") % {"low": low}
    return _("At most %(high)s") % {"high": high} if high is not None else ""


def _typed(field: Field, posted: Mapping[str, str], error: str) -> Field:
    """The field as it was sent."""
    value = posted.get(f"{MARK}{field.name}", field.value)[:LONGEST]
    choices = [(one, words, one == value) for one, words, _chosen in field.choices]
    if error:
        error = f"{error[:1].upper()}{error[1:]}"
    return replace(field, value=value, choices=choices, error=error)
