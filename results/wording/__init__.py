"""How numbers, variants and sources are put into words. Pure functions for pages and charts."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from django.utils.translation import get_language, gettext, ngettext

from results import catalogue
from results.catalogue.base import Benchmark, Metric, Parameter, Role, Value
from results.compare import Row
from results.models import Qualifier, Run, Scope, System, Trust

# Units that count things: large values are said in thousands or millions.
COUNTED = ("requests/s", "operations/s", "messages/s", "NOPM", "TPM", "MIPS")
MISSING = "–"
EXACT_DIGITS = 4  # what a source states with up to so many digits is shown as stated
SHOWN_DIGITS = 3
MOST_DIGITS = 5
LARGEST_WRITTEN_OUT = 10**12
SMALLEST_WRITTEN_OUT = 1e-9
SCOPES = dict(Scope.choices)


@dataclass(frozen=True)
class Figures:
    """How the values of a row are shown: divided by `factor`, with `decimals`, in `unit`."""

    unit: str
    factor: int = 1
    decimals: int = 0

    def number(self, value: float | None) -> str:
        """'2,073', '0.692'; a dash where there is no value."""
        if value is None:
            return MISSING
        scaled = value / self.factor
        if not is_written_out(scaled):
            return f"{scaled:.{EXACT_DIGITS}g}"
        room = max(0, EXACT_DIGITS - max(0, _whole_digits(abs(scaled))))
        return f"{scaled:,.{max(min(self.decimals, room), _decimals_kept(scaled))}f}"

    def span(self, low: float | None, high: float | None) -> str:
        """'2.93–3.04'; '≥ 2.93' or '≤ 3.04' where one end is open."""
        if low is None:
            return MISSING if high is None else f"≤ {self.number(high)}"
        if high is None:
            return f"≥ {self.number(low)}"
        return f"{self.number(low)}–{self.number(high)}"

    def with_unit(self, value: float | None) -> str:
        """'2,073 GB/s', '12 %'."""
        return f"{self.number(value)} {self.unit}"


def is_written_out(value: float) -> bool:
    """Whether a number is shown digit by digit; beyond, as 1e+15: no page has the room."""
    return value == 0 or SMALLEST_WRITTEN_OUT <= abs(value) < LARGEST_WRITTEN_OUT


def figures(unit: str, values: Iterable[float | None], *, beside: Iterable[float] = ()) -> Figures:
    """How to show these values together, in a row or a table.

    `beside`: values of other rows that have to stand in the same unit (a workload's
    unit is printed once). Values that a source states with few digits keep them all;
    others are rounded to three digits of the smallest.
    """
    given = [abs(value) for value in values if value is not None]
    factor, prefix = scale(unit, [*given, *(abs(value) for value in beside)])
    scaled = [value / factor for value in given]
    decimals = _decimals(scaled)
    if factor > 1:
        decimals = max(decimals, min(map(_decimals_of_three, scaled), default=0))
    return Figures(prefix + unit_words(unit), factor, decimals)


def row_figures(row: Row, rows: Iterable[Row] = ()) -> Figures:
    """How to show a row's cells; `rows` are the table's, those of the metric share the unit."""
    beside = [number for other in rows if _shares_unit(row, other) for number in _numbers_of(other)]
    return figures(row.unit, _numbers_of(row), beside=beside)


def _shares_unit(row: Row, other: Row) -> bool:
    return (row.benchmark.slug, row.metric.name) == (other.benchmark.slug, other.metric.name)


def _numbers_of(row: Row) -> list[float]:
    found: list[float] = []
    for cell in row.cells.values():
        parts = (cell.low, cell.high) if cell.is_range else (cell.value,)
        found += [number for number in parts if number is not None]
    return found


def alone(value: float | None, unit: str) -> str:
    """One value with its unit, rounded by itself: '82.2 GB/s'."""
    return figures(unit, [value]).with_unit(value)


def scale(unit: str, values: Sequence[float]) -> tuple[int, str]:
    """The factor and prefix in which a counting unit's values are read: (1000, 'k ')."""
    if not unit.startswith(COUNTED) or not values:
        return 1, ""
    positive = [value for value in values if value > 0] or [0.0]
    if max(positive) >= 1_000_000 and min(positive) >= 100_000:
        return 1_000_000, "M "
    if max(positive) >= 10_000 and min(positive) >= 100:
        return 1_000, "k "
    return 1, ""


def unit_words(unit: str) -> str:
    """The unit as a page prints it; 'us' is the catalogue's plain-text microsecond."""
    return f"µ{unit[1:]}" if unit == "us" or unit.startswith("us ") else unit


def _decimals(values: Sequence[float]) -> int:
    positive = [value for value in values if value > 0]
    if not positive:
        return 0
    natural = max(_natural_decimals(value) for value in values)
    if natural == 0 or natural + _whole_digits(max(positive)) <= EXACT_DIGITS:
        return natural
    needed = SHOWN_DIGITS - _whole_digits(min(positive))
    room = MOST_DIGITS - max(_whole_digits(max(positive)), 1)
    return min(natural, max(0, min(needed, room)))


def _decimals_of_three(value: float) -> int:
    """Decimals that give a value three digits: millions are read as 3.00 M."""
    return max(0, SHOWN_DIGITS - _whole_digits(value)) if value > 0 else 0


def _natural_decimals(value: float) -> int:
    """Digits after the point in the shortest text that reads back as the value."""
    text = f"{value:.12g}"
    if "e" in text:
        return 0 if value >= 1 else 12
    return len(text.partition(".")[2])


def _whole_digits(value: float) -> int:
    """Digits before the point; 0 for 0.5, -1 for 0.05."""
    if value >= 1:
        return len(str(int(value)))
    exponent = int(f"{value:.1e}".partition("e")[2])
    return exponent + 1


def _decimals_kept(value: float) -> int:
    """Decimals that keep two digits of a small value where its row would show 0."""
    if value == 0 or abs(value) >= 1:
        return 0
    return min(12, 2 - _whole_digits(abs(value)), _natural_decimals(abs(value)))


def ratio_words(ratio: float | None) -> str:
    """'2.27×', '10.5×', '22×'; empty where there is no ratio."""
    if ratio is None:
        return ""
    if not is_written_out(ratio):
        return f"{ratio:.{SHOWN_DIGITS}g}×"
    decimals = 2 if ratio < 10 else 1 if ratio < 20 else 0
    return f"{ratio:,.{decimals}f}×"


def percent(part: float | None) -> str:
    """A share of 100 with two digits: '86 %'."""
    return MISSING if part is None else f"{part:.0f} %"


def count_words(n: int) -> str:
    """How many values stand behind a number: 'n = 1'."""
    return f"n = {n}"


def direction(metric: Metric) -> str:
    """'higher is better' or 'lower is better'."""
    if metric.higher_is_better:
        return gettext("higher is better")
    return gettext("lower is better")


def arrow(metric: Metric) -> str:
    """↑ where higher is better, else ↓."""
    return "↑" if metric.higher_is_better else "↓"


def scope_words(scope: str | None) -> str:
    """What was loaded: 'one socket'; empty where a row spans scopes."""
    return str(SCOPES.get(scope, scope)) if scope else ""


def variant_words(
    benchmark: Benchmark,
    scope: str | None,
    variant: Mapping[str, Value | None],
    *,
    detail: str = "",
) -> list[str]:
    """Scope and variant, a phrase each: ['one socket', 'local', 'SMT off']."""
    words = [] if scope == "cores" and "cores" in variant else [scope_words(scope)]
    words += [detail, *benchmark.variant_phrases(scope or "", variant)]
    return [word for word in words if word]


def row_words(row: Row) -> str:
    """What a row is measured on: 'one shard · alone · 9 cores · pipeline 1 · 3 M keys'."""
    known = {**row.variant, **row.at}
    return _row_words(row.benchmark, row.workload, row.scope, tuple(known.items()), get_language())


@lru_cache(maxsize=4096)
def _row_words(
    benchmark: Benchmark,
    workload: str,
    scope: str | None,
    known: tuple[tuple[str, Value], ...],
    _language: str | None,
) -> str:
    """The words of `row_words` in the language that is active, which is `_language`."""
    detail = benchmark.workload(workload).detail
    return " · ".join(variant_words(benchmark, scope, dict(known), detail=detail))


def row_title(row: Row) -> str:
    """What a row measures: 'STREAM Triad', 'Valkey GET p99'."""
    return row.benchmark.row_title(row.metric)


def trust_words(trust: int) -> str:
    """Who stands behind a value, in a phrase."""
    return {
        Trust.VERIFIED: gettext("verified by the hub's staff"),
        Trust.SOURCE: gettext("as published by its source"),
        Trust.VENDOR: gettext("stated by a vendor"),
        Trust.COMMUNITY: gettext("from the community, not verified"),
    }.get(Trust(trust), str(trust))


def qualified(text: str, qualifier: str) -> str:
    """'≈0.5' for a value that the source gives as approximate."""
    return f"≈{text}" if qualifier == Qualifier.APPROXIMATE else text


def joined(words: Sequence[str]) -> str:
    """'A', 'A and B', 'A, B and C'."""
    if len(words) < 2:
        return "".join(words)
    first, last = ", ".join(words[:-1]), words[-1]
    return gettext("%(first)s and %(last)s") % {"first": first, "last": last}


def systems_words(count: int) -> str:
    """'6 systems'."""
    return ngettext("%(count)s system", "%(count)s systems", count) % {"count": f"{count:,}"}


def figures_words(count: int) -> str:
    """'59 figures'."""
    return ngettext("%(count)s figure", "%(count)s figures", count) % {"count": f"{count:,}"}


def date_words(text: str) -> str:
    """A date as precise as known: '2026', 'November 2026', '30 November 2026'."""
    match = re.fullmatch(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?", text)
    if match is None or match[2] is None:
        return text
    month = int(match[2])
    if not 1 <= month <= 12:
        return text
    words = f"{gettext(calendar.month_name[month])} {match[1]}"
    return f"{int(match[3])} {words}" if match[3] else words


def day_words(day: date) -> str:
    """'30 November 2026'."""
    return date_words(f"{day:%Y-%m-%d}")


LANGUAGES = {
    "en": "English",
    "ja": "Japanese",
    "ko": "Korean",
    "zh": "Chinese",
    "de": "German",
    "fr": "French",
}


def language_words(codes: Sequence[str]) -> str:
    """'Japanese and Korean'; a code without a name as it is."""
    return joined([gettext(LANGUAGES[code]) if code in LANGUAGES else code for code in codes])


def cjk_language(text: str, hints: Sequence[str] = ()) -> str:
    """The language of a text in Chinese, Japanese or Korean script, else "".

    Kana is Japanese and Hangul Korean; Han alone is what `hints` say, else Chinese.
    """
    if re.search(r"[\u3040-\u30ff]", text):
        return "ja"
    if re.search(r"[\uac00-\ud7af\u1100-\u11ff]", text):
        return "ko"
    if re.search(r"[\u3400-\u9fff]", text):
        return next((code for code in hints if code[:2] in {"ja", "ko", "zh"}), "zh")
    return ""


def system_facts(system: System) -> str:
    """'PowerEdge R7725, 2 × 192 cores, 3,072 GB DDR5-6400', as far as known."""
    parts = (system.chassis, core_words(system), memory_words(system))
    return ", ".join(part for part in parts if part)


def core_words(system: System) -> str:
    """'2 × 192 cores'; empty where not known."""
    cores = system.processor.cores if system.processor else None
    if not cores:
        return ""
    words = ngettext("%(count)s core", "%(count)s cores", cores) % {"count": f"{cores:,}"}
    return f"{system.sockets} × {words}" if system.sockets else words


def memory_words(system: System) -> str:
    """'3,072 GB DDR5-6400', as far as known."""
    size = f"{system.memory_gb:,.12g} GB" if system.memory_gb else ""
    kind = system.memory_type
    if kind and system.memory_mts:
        kind = f"{kind}-{system.memory_mts}"
    return f"{size} {kind}".strip()


def run_words(run: Run) -> str:
    """What a run was measured on: scope and variant in plain words, axis values behind."""
    described = catalogue.get(run.benchmark.slug)
    if described is None:
        return scope_words(run.scope)
    names = [p.name for p in described.parameters if p.role in ("variant", "axis")]
    known = {name: run.parameters[name] for name in names if name in run.parameters}
    return " · ".join(variant_words(described, run.scope, known))


def role_words(role: Role) -> str:
    """What part a parameter plays when runs are compared."""
    return {
        "variant": gettext("tells rows apart"),
        "axis": gettext("a curve runs along it"),
        "tracked": gettext("counts for the verdict"),
        "scale": gettext("sets the scale"),
        "describes": gettext("only recorded"),
    }[role]


def values_words(parameter: Parameter) -> str:
    """What values a parameter takes: 'off, on', 'whole numbers, GiB', 'numbers or all'."""
    if parameter.choices:
        return ", ".join(parameter.choices)
    if parameter.kind == "text":
        return gettext("text")
    kind = gettext("whole numbers") if parameter.kind == "integer" else gettext("numbers")
    unit = f", {unit_words(parameter.unit)}" if parameter.unit else ""
    return " ".join([kind + unit, *(gettext("or %(word)s") % {"word": w} for w in parameter.also)])
