"""The controls of the comparison page: what can be chosen, and the address of each choice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from results import catalogue
from results.catalogue.base import CATEGORIES, NORMALISATIONS, Benchmark, Parameter
from results.compare import MAX_COLUMNS, Table, parse_key
from results.compare.denominators import Load, denominator
from results.compare.factors import natural, say
from results.models import System
from results.request import State, address

MOST_LISTED = 100  # systems in the picker; more are found by its search
MOST_VALUES = 12  # of a parameter that is offered as a filter
Pairs = list[tuple[str, str]]


@dataclass(frozen=True)
class Link:
    """A choice that is one click: its words, its address, whether it holds now."""

    label: str
    href: str
    current: bool = False
    note: str = ""
    title: str = ""


@dataclass(frozen=True)
class Option:
    """An entry of a select or a list of boxes."""

    value: str
    label: str
    selected: bool = False
    note: str = ""


@dataclass(frozen=True)
class Chip:
    """A system asked for, with the address without it ("" for the last one)."""

    name: str
    title: str
    remove: str
    slot: int | None


@dataclass(frozen=True)
class Filter:
    """A parameter whose values can be filtered by."""

    name: str
    label: str
    links: list[Link]

    @property
    def active(self) -> bool:
        return not self.links[0].current


@dataclass
class Controls:
    """All controls of the page."""

    chips: list[Chip]
    hidden: Pairs
    baselines: list[Option]
    factors: list[tuple[str, list[Option]]]
    axes: list[Option]
    pers: list[Link]
    filters: list[Filter]
    benchmarks: list[tuple[str, list[Option]]]
    benchmarks_hidden: Pairs
    benchmarks_words: str
    systems_hidden: Pairs
    summary: str
    systems: list[Option] = field(default_factory=list)
    found: int = 0
    find: str = ""

    @property
    def smt(self) -> Filter | None:
        """The filter that stands open; the others are folded."""
        return next((one for one in self.filters if one.name == "smt"), None)

    @property
    def more(self) -> list[Filter]:
        return [one for one in self.filters if one.name != "smt"]

    @property
    def more_active(self) -> bool:
        return any(one.active for one in self.more)

    @property
    def whole(self) -> bool:
        """Whether the picker lists every system, so that a browser can search in it."""
        return not self.find and self.found <= len(self.systems)


def controls(
    state: State, table: Table | None, systems: Mapping[str, System], slots: Mapping[str, int]
) -> Controls:
    """The controls for a state; without a table those that need no data.

    `systems` are the known ones of the state, by slug; `slots` the columns' colours.
    """
    return Controls(
        chips=_chips(state, systems, slots),
        hidden=_pairs(state, without=("baseline", "factor", "axis")),
        baselines=_baselines(table),
        factors=_factors(state, table),
        axes=_axes(state, table),
        pers=_pers(state, table),
        filters=_filters(state, table),
        benchmarks=_benchmarks(state, table),
        benchmarks_hidden=_pairs(state, without=("benchmark",)),
        benchmarks_words=_benchmarks_words(state),
        systems_hidden=_pairs(state, whole=True),
        summary=_summary(state, table, systems),
    )


def fitting(state: State) -> State:
    """The state with a baseline that its columns can have.

    A baseline pinned to values of another factor is then its system's first column.
    """
    try:
        wanted = parse_key(state.baseline) if state.baseline else None
        pinned = {name for key in state.systems for name in parse_key(key).pins}
    except ValueError:
        return state
    free = {state.factor, *pinned}
    if wanted is None or not wanted.pins or free & set(wanted.pins):
        return state
    return replace(state, baseline=wanted.slug)


def cleaned(state: State, wrong: Iterable[str], known: Mapping[str, System]) -> State:
    """The state without what was wrong: `wrong` are names as in an address."""
    names = set(wrong)
    params = {k: v for k, v in state.params.items() if f"param.{k}" not in names}
    systems = tuple(key for key in state.systems if _slug(key) in known)
    if "system" in names:
        systems = tuple(dict.fromkeys(map(_slug, systems)))[:MAX_COLUMNS]
    fresh = State(systems, lang=state.lang, stored=state.stored)
    kept = {
        name: getattr(state, name)
        for name in ("factor", "baseline", "per", "axis")
        if name not in names
    }
    if state.baseline and _slug(state.baseline) not in map(_slug, systems):
        kept["baseline"] = ""
    benchmarks = tuple(b for b in state.benchmarks if _is_benchmark(b))
    return replace(fresh, benchmarks=benchmarks, params=params, **kept)


def _slug(key: str) -> str:
    return key.partition("@")[0]


def _is_benchmark(text: str) -> bool:
    slug, _slash, workload = text.partition("/")
    found = catalogue.get(slug)
    return found is not None and (not workload or any(w.slug == workload for w in found.workloads))


def _pairs(state: State, *, without: Sequence[str] = (), whole: bool = False) -> Pairs:
    """The state as a form's hidden fields, but for those that the form sets itself."""
    query = QueryDict(address(state, whole=whole).removeprefix("?"))
    return [(name, v) for name, values in query.lists() if name not in without for v in values]


def _chips(state: State, systems: Mapping[str, System], slots: Mapping[str, int]) -> list[Chip]:
    chips = []
    by_slug = {_slug(key): slot for key, slot in slots.items()}
    for key in state.systems:
        slug = _slug(key)
        rest = tuple(other for other in state.systems if other != key)
        gone = _slug(state.baseline) not in map(_slug, rest)
        remove = address(state, systems=rest, baseline="" if gone else state.baseline)
        system = systems.get(slug)
        pins = parse_key(key).pins if system else {}
        words = [system.short if system else key, *(say(n, v) for n, v in pins.items())]
        title = system.name if system else key
        slot = slots.get(key, by_slug.get(slug))
        chips.append(Chip(" · ".join(words), title, remove if rest else "", slot))
    return chips


def _baselines(table: Table | None) -> list[Option]:
    if table is None:
        return []
    return [Option(c.key, c.label, c.key == table.baseline) for c in table.columns]


def _shown(table: Table | None) -> list[Benchmark]:
    """The benchmarks that the question is about: shown, or left out for the factor."""
    if table is None:
        return list(catalogue.benchmarks().values())
    slugs = dict.fromkeys([row.benchmark.slug for row in table.rows] + list(table.left_out))
    return [found for slug in slugs if (found := catalogue.get(slug))]


def _occurring(table: Table | None) -> set[str]:
    """Names of parameters and setup fields with a value somewhere in the table."""
    names: set[str] = set()
    for row in table.rows if table else ():
        names |= {*row.variant, *row.at}
        for cell in row.cells.values():
            names |= {*cell.tracked, *cell.scale, *cell.at}
    for slug in table.left_out if table else ():
        found = catalogue.get(slug)
        names |= {p.name for p in found.parameters if p.role == "variant"} if found else set()
    return names


def _factors(state: State, table: Table | None) -> list[tuple[str, list[Option]]]:
    """What can be compared: systems, sockets, then parameters and setup fields that occur."""
    benchmarks = _shown(table)
    names = _occurring(table) | {state.factor}
    parameters = {
        p.name: p.label or p.name
        for b in benchmarks
        for p in b.parameters
        if p.name in names and p.role != "describes"
    }
    fields = {
        t.field: t.label
        for b in benchmarks
        for t in b.tracked
        if t.field in names and t.field not in parameters
    }
    first = {"system": _("system"), "sockets": _("sockets loaded")}
    groups = [("", first), (_("Parameters"), parameters), (_("Setup"), fields)]
    return [
        (label, [Option(name, words, name == state.factor) for name, words in entries.items()])
        for label, entries in groups
        if entries
    ]


def _axes(state: State, table: Table | None) -> list[Option]:
    """Axis parameters that something shown has several points on, after 'none'."""
    names = _curved(table) | {state.axis}
    found = {
        p.name: p.label or p.name
        for b in _shown(table)
        for p in b.parameters
        if p.role == "axis" and p.name in names
    }
    if not found:
        return []
    options = [Option(name, words, name == state.axis) for name, words in found.items()]
    return [Option("", _("none"), not state.axis), *options]


def _curved(table: Table | None) -> set[str]:
    """Axes with several points: in one cell, or in rows that differ by nothing else."""
    names: set[str] = set()
    points: dict[tuple[str, ...], dict[str, set[str]]] = {}
    for row in table.rows if table else ():
        names.update(name for cell in row.cells.values() for name in cell.along)
        key = (row.benchmark.slug, row.metric.name, row.scope or "", str(row.variant))
        for name, value in row.at.items():
            points.setdefault(key, {}).setdefault(name, set()).add(str(value))
    for found in points.values():
        names.update(name for name, values in found.items() if len(values) > 1)
    return names


def per_label(per: str) -> str:
    """A normalisation as a control has it."""
    return {
        "total": _("total"),
        "core": _("per core"),
        "thread": _("per thread"),
        "socket": _("per socket"),
        "watt": _("per watt"),
        "peak": _("% of peak"),
        "price": _("per dollar"),
    }[per]


def _pers(state: State, table: Table | None) -> list[Link]:
    """Normalisations that a metric shown lists and a system shown has a number for."""
    listed = {per for row in table.rows for per in row.metric.per} if table else set()
    links = []
    for per in NORMALISATIONS:
        known, total = _coverage(table, per)
        current = per == state.per
        if per != "total" and not current and (per not in listed or not known):
            continue
        note = _("%(n)s of %(m)s") % {"n": known, "m": total} if known < total else ""
        title = _("systems for which a source states the divisor") if note else ""
        links.append(Link(per_label(per), address(state, per=per), current, note, title))
    return links


def _coverage(table: Table | None, per: str) -> tuple[int, int]:
    """For how many of the systems shown a source states what `per` divides by."""
    systems = {c.system.pk: c.system for c in table.columns} if table else {}
    if per == "total":
        return len(systems), len(systems)
    known = 0
    for system in systems.values():
        load = Load(system, "system", None, None, None, None, "")
        found = denominator(load, per, measured_watts=False)
        known += bool(found.amount) and (per == "thread" or not found.inferred)
    return known, len(systems)


def _filters(state: State, table: Table | None) -> list[Filter]:
    """Parameters with at least two values in the table, and those filtered by already."""
    values = _values(table)
    names = dict.fromkeys([*(n for n, found in values.items() if len(found) > 1), *state.params])
    filters = []
    for name in names:
        parameter = _parameter(name, table)
        wanted = state.params.get(name, ())
        always = parameter.choices if name == "smt" and parameter else ()
        offered = {*values.get(name, ()), *wanted, *always}
        if len(offered) > MOST_VALUES and not wanted:
            continue
        rest = {k: v for k, v in state.params.items() if k != name}
        links = [Link(_("any"), address(state, params=rest), not wanted)]
        for value in sorted(offered, key=lambda v: (not v, natural(v))):
            params = {**rest, name: (value,)}
            words = _value_words(parameter, value)
            links.append(Link(words, address(state, params=params), value in wanted))
        filters.append(Filter(name, (parameter.label if parameter else "") or name, links))
    return filters


def _values(table: Table | None) -> dict[str, set[str]]:
    """The values of variant parameters and of SMT in the table; "" where a row has none."""
    found: dict[str, set[str]] = {}
    for row in table.rows if table else ():
        for parameter in row.benchmark.parameters:
            if parameter.role == "variant":
                value = str(row.variant.get(parameter.name, ""))
                found.setdefault(parameter.name, set()).add(value)
            elif parameter.name == "smt":
                states = {str(cell.tracked.get("smt", "")) for cell in row.cells.values()}
                found.setdefault("smt", set()).update(states)
    splits = {name for column in table.columns for name in column.pins} if table else set()
    return {name: values for name, values in found.items() if name not in splits}


def _parameter(name: str, table: Table | None) -> Parameter | None:
    for benchmarks in (_shown(table), catalogue.benchmarks().values()):
        for benchmark in benchmarks:
            if parameter := benchmark.parameter(name):
                return parameter
    return None


def _value_words(parameter: Parameter | None, value: str) -> str:
    """A value as a choice under its parameter's name: 'off' rather than 'SMT off'."""
    if not value:
        return _("not stated")
    if parameter is None:
        return value
    words = parameter.say(value)
    label = parameter.label or parameter.name
    return words.removeprefix(f"{label} ") if words.startswith(f"{label} ") else words


def _benchmarks(state: State, table: Table | None) -> list[tuple[str, list[Option]]]:
    """Every benchmark by category; below it the workloads that are shown or chosen."""
    groups: dict[str, list[Option]] = {}
    rows = table.rows if table else ()
    listed = {*state.benchmarks, *(f"{row.benchmark.slug}/{row.workload}" for row in rows)}
    for slug, benchmark in catalogue.benchmarks().items():
        options = groups.setdefault(benchmark.category, [])
        options.append(Option(slug, benchmark.name, slug in state.benchmarks))
        for workload in benchmark.workloads:
            value = f"{slug}/{workload.slug}"
            if len(benchmark.workloads) > 1 and value in listed:
                title = workload.title.removeprefix(benchmark.name).strip() or workload.title
                options.append(Option(value, title, value in state.benchmarks, note="workload"))
    return [(_(CATEGORIES[category]), options) for category, options in groups.items()]


def _benchmarks_words(state: State) -> str:
    if not state.benchmarks:
        return _("all")
    if len(state.benchmarks) > 2:
        count = len(state.benchmarks)
        return ngettext("%(n)s chosen", "%(n)s chosen", count) % {"n": count}
    return ", ".join(_benchmark_words(text) for text in state.benchmarks)


def _benchmark_words(text: str) -> str:
    slug, _slash, workload = text.partition("/")
    found = catalogue.get(slug)
    if found is None:
        return text
    return found.workload(workload).title if workload else found.name


def _summary(state: State, table: Table | None, systems: Mapping[str, System]) -> str:
    """What the folded controls say: '6 systems · baseline EPYC 9965 · total'."""
    count = len(state.systems)
    words = [ngettext("%(n)s system", "%(n)s systems", count) % {"n": count}]
    if table is not None:
        words.append(_("baseline %(name)s") % {"name": table.column(table.baseline).label})
    return " · ".join([*words, per_label(state.per) if state.per in NORMALISATIONS else state.per])
