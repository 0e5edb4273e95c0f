"""What a run's page says: what was found, with which parameters and setup, and how sure it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from results import catalogue
from results.catalogue import base
from results.catalogue.setup import BASE
from results.charts.bars import percent_of
from results.models import Measurement, Qualifier, Run
from results.wording import Figures, figures, qualified, run_words, trust_words, unit_words


@dataclass(frozen=True)
class Measured:
    """A measurement as the table shows it. Positions are in percent of the unit's axis."""

    measurement: Measurement
    described: base.Metric | None
    title: str
    shown: Figures
    value: str
    low: str = ""
    high: str = ""
    n: int = 1
    start: str = "0"
    middle: str = "0"
    end: str = "0"

    @property
    def has_span(self) -> bool:
        return self.start != self.end

    @property
    def anchor(self) -> str:
        """Where the evidence lies on the page: a line of a log, or the source."""
        m = self.measurement
        if m.artefact_id and m.line_from:
            return f"a{m.artefact_id}-L{m.line_from}"
        return "evidence"


@dataclass(frozen=True)
class Setting:
    """A parameter or setup field, its value in words, and whether no source states it."""

    name: str
    value: str
    inferred: bool = False
    role: str = ""


def described(run: Run) -> base.Benchmark | None:
    """The catalogue's text on the run's benchmark; None if its file is gone."""
    return catalogue.get(run.benchmark.slug)


def measured(run: Run) -> list[Measured]:
    """The run's measurements, in the catalogue's order; those of one unit share an axis."""
    found = list(run.measurements.all())
    most: dict[str, float] = {}
    for one in found:
        most[one.metric.unit] = max(most.get(one.metric.unit, 0.0), *_numbers(one), 0.0)
    by_unit = {unit: [n for m in found if m.metric.unit == unit for n in _main(m)] for unit in most}
    return [
        _measured(run, one, figures(one.metric.unit, by_unit[one.metric.unit]), most)
        for one in found
    ]


def _numbers(one: Measurement) -> list[float]:
    return [n for n in (*(one.samples or ()), one.value, one.low, one.high) if n is not None]


def _main(one: Measurement) -> list[float]:
    return [n for n in (one.value, one.low, one.high) if n is not None]


def _measured(run: Run, one: Measurement, shown: Figures, most: dict[str, float]) -> Measured:
    entry = described(run)
    metric = entry.metric(one.metric.full_name) if entry else None
    title = entry.row_title(metric) if entry and metric else one.metric.full_name
    whole = most[one.metric.unit]
    samples = sorted(one.samples or ())
    low, high = (samples[0], samples[-1]) if len(samples) > 1 else (one.low, one.high)
    text = shown.span(one.low, one.high) if one.is_range else shown.number(one.value)
    value = qualified(text, one.qualifier)
    spread = low is not None and high is not None
    return Measured(
        measurement=one,
        described=metric,
        title=title,
        shown=shown,
        value=value,
        low=shown.number(low) if len(samples) > 1 else "",
        high=shown.number(high) if len(samples) > 1 else "",
        n=max(1, len(samples)),
        start=percent_of(low, whole) if spread else "0",
        middle=percent_of(one.value, whole) if spread and one.value is not None else "0",
        end=percent_of(high, whole) if spread else "0",
    )


def title(run: Run, rows: Sequence[Measured]) -> str:
    """What the run found, in a sentence without a full stop."""
    main = next((row for row in rows if not row.measurement.is_range), rows[0] if rows else None)
    if main is None:
        return _("%(benchmark)s on %(system)s, without a figure") % {
            "benchmark": run.benchmark.name,
            "system": run.system.short,
        }
    words = {
        "title": main.title,
        "value": f"{main.value} {main.shown.unit}",
        "system": run.system.short,
    }
    return _sentence(main) % words


def _sentence(main: Measured) -> str:
    if main.measurement.is_range:
        return _("%(title)s is reported as %(value)s on %(system)s")
    if main.measurement.metric.higher_is_better:
        return _("%(title)s reaches %(value)s on %(system)s")
    if main.measurement.metric.name.endswith("time"):
        return _("%(title)s takes %(value)s on %(system)s")
    return _("%(title)s is %(value)s on %(system)s")


def deck(run: Run, rows: Sequence[Measured]) -> list[str]:
    """Sentences below the title: measured on what, how often, who vouches, ranked or not."""
    words = run_words(run)
    sentences = [_("Measured on: %(words)s.") % {"words": words}] if words else []
    counts = {row.n for row in rows if not row.measurement.is_range}
    if counts == {1}:
        sentences.append(_("One run (n = 1)."))
    elif counts:
        sentences.append(
            ngettext(
                "%(n)s sample for each metric at most.",
                "Up to %(n)s samples a metric.",
                max(counts),
            )
            % {"n": max(counts)}
        )
    trust = trust_words(run.trust)
    sentences.append(f"{trust[:1].upper()}{trust[1:]}.")
    if run.not_ranked_because:
        sentences.append(_("Not ranked: %(why)s.") % {"why": run.not_ranked_because.rstrip(".")})
    return sentences


def settings(run: Run) -> list[Setting]:
    """The run's parameters in the catalogue's order; names that it does not know come last."""
    entry = described(run)
    known = {p.name: p for p in entry.parameters} if entry else {}
    names = [name for name in known if name in run.parameters]
    names += [name for name in run.parameters if name not in known]
    return [_setting(name, run, known.get(name)) for name in names]


def _setting(name: str, run: Run, parameter: base.Parameter | None) -> Setting:
    value = run.parameters[name]
    if parameter is None:
        return Setting(name, str(value), name in run.assumed)
    text = f"{value:,}" if isinstance(value, int) else str(value)
    words = parameter.words.get(str(value), text)
    if parameter.unit and not isinstance(value, str):
        words = f"{words} {unit_words(parameter.unit)}"
    return Setting(parameter.label or name, words, name in run.assumed, parameter.role)


def setup_fields(run: Run) -> list[Setting]:
    """The setup's fields, stated ones first, under the catalogue's names for them."""
    entry = described(run)
    labels = {t.field: t.label for t in (*BASE, *(entry.tracked if entry else ()))}
    stated = _fields(run.setup.fields.items(), labels, inferred=False)
    return stated + _fields(run.setup.inferred.items(), labels, inferred=True)


def _fields(
    items: Iterable[tuple[str, object]], labels: dict[str, str], *, inferred: bool
) -> list[Setting]:
    return [Setting(labels.get(name, name), str(value), inferred) for name, value in items]


def has_only_ranges(rows: Sequence[Measured]) -> bool:
    """Whether nothing of the run can be ranked: it reports ranges, and no value."""
    return bool(rows) and all(row.measurement.is_range for row in rows)


def is_only_in_chart(rows: Iterable[Measured]) -> bool:
    """Whether a value stands in a chart's caption only."""
    return any(row.measurement.qualifier == Qualifier.CHART_ONLY for row in rows)
