"""From a question (systems, rows, factor, baseline, normalisation) to a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.utils.translation import gettext as _

from results import catalogue, queries
from results.catalogue.base import NORMALISATIONS
from results.compare import numbers
from results.compare.cells import RowKey, build_row
from results.compare.factors import Factor, knows
from results.compare.keys import Wanted, format_key, parse_key
from results.compare.table import Column, CompareError, Row, Table
from results.hints import LONGEST_SHOWN, hint
from results.models import System
from results.queries import Selection, Stored

MAX_COLUMNS = 50


@dataclass
class Question:
    """A checked question; `params` maps a parameter to the values to keep ("" is absent)."""

    wanted: list[Wanted]
    selections: list[Selection]
    factor: Factor
    baseline: str
    per: str
    axis: str
    params: Mapping[str, Collection[str]] = field(default_factory=dict)


def compare_systems(
    *,
    systems: Sequence[str],
    benchmarks: Sequence[str] = (),
    factor: str = "system",
    baseline: str = "",
    per: str = "total",
    axis: str = "",
    params: Mapping[str, Collection[str]] | None = None,
) -> Table:
    """Set systems side by side. Two queries, whatever is stored.

    `systems`: column keys, `slug` or `slug@name=value`, in the order wanted. `benchmarks`:
    `slug` or `slug/workload`, none for all. `factor`: what is compared. `baseline`: a
    column's key, default the first. `per`: a normalisation. `axis`: an axis parameter
    whose points are wanted. `params`: rows to keep, by parameter and value.
    Raises CompareError, with all that is wrong by field.
    """
    question = _check(
        systems=systems,
        benchmarks=benchmarks,
        factor=factor,
        baseline=baseline,
        per=per,
        axis=axis,
        params=params or {},
    )
    found = queries.systems_by_slug([one.slug for one in question.wanted])
    _require_systems(question.wanted, found)
    cells = queries.stored_cells((s.pk for s in found.values()), question.selections)
    return _tabulate(question, found, cells)


def _check(
    *,
    systems: Sequence[str],
    benchmarks: Sequence[str],
    factor: str,
    baseline: str,
    per: str,
    axis: str,
    params: Mapping[str, Collection[str]],
) -> Question:
    errors: dict[str, list[str]] = defaultdict(list)
    wanted = _read_columns(systems, errors)
    selections = _read_benchmarks(benchmarks, errors)
    pins = [name for one in wanted for name in one.pins]
    _known(
        factor,
        ["system", "sockets", *_names("variant", "tracked", "axis", "scale")],
        "factor",
        errors,
    )
    for name in pins:
        _known(name, ["sockets", *_names("variant", "tracked", "axis", "scale")], "system", errors)
    for name in params:
        _known(name, _names("variant", "tracked", "axis", "scale"), f"param.{name}", errors)
    _known(per, NORMALISATIONS, "per", errors)
    if axis:
        _known(axis, _names("axis"), "axis", errors)
    if errors:
        raise CompareError(errors)
    chosen = Factor(factor, tuple(dict.fromkeys(pins)))
    return Question(wanted, selections, chosen, baseline, per, axis, params)


def _read_columns(texts: Sequence[str], errors: dict[str, list[str]]) -> list[Wanted]:
    unique = list(dict.fromkeys(texts))
    if not unique:
        errors["system"].append(_("expected at least one system"))
    if len(unique) > MAX_COLUMNS:
        errors["system"].append(_too_many(len(unique)))
        return []
    wanted = []
    for text in unique:
        try:
            wanted.append(parse_key(text))
        except ValueError as error:
            errors["system"].append(str(error))
    return wanted


def _too_many(found: int) -> str:
    words = {"found": found, "most": MAX_COLUMNS}
    return _("found %(found)d columns, expected at most %(most)d") % words


def _read_benchmarks(texts: Sequence[str], errors: dict[str, list[str]]) -> list[Selection]:
    selections: list[Selection] = []
    for text in dict.fromkeys(texts):
        slug, slash, workload = text.partition("/")
        benchmark = catalogue.get(slug)
        if benchmark is None:
            errors["benchmark"].append(_unknown(slug, catalogue.benchmarks(), "benchmark"))
        elif slash and workload not in (known := {m.workload for m in benchmark.metrics}):
            errors["benchmark"].append(_unknown(workload, known, f"workload of {slug}"))
        else:
            selections.append((slug, workload if slash else None))
    return selections


def _names(*roles: str) -> list[str]:
    names = []
    for benchmark in catalogue.benchmarks().values():
        names += [p.name for p in benchmark.parameters if p.role in roles]
        names += [t.field for t in benchmark.tracked] if "tracked" in roles else []
    return list(dict.fromkeys(names))


def _known(name: str, known: Iterable[str], where: str, errors: dict[str, list[str]]) -> None:
    names = list(known)
    if name not in names:
        errors[where].append(_unknown(name, names, where.partition(".")[0]))


def _unknown(name: str, known: Iterable[str], noun: str) -> str:
    words = {"noun": noun, "name": name[:LONGEST_SHOWN], "hint": hint(name, known)}
    return _("%(noun)s %(name)r is not known; %(hint)s") % words


def _require_systems(wanted: Sequence[Wanted], found: Mapping[str, System]) -> None:
    missing = [one.slug for one in wanted if one.slug not in found]
    if missing:
        known = queries.public_slugs()
        raise CompareError({"system": [_unknown(slug, known, "system") for slug in missing[:20]]})


def _tabulate(question: Question, systems: Mapping[str, System], cells: list[Stored]) -> Table:
    by_id = {system.pk: system for system in systems.values()}
    entered = [cell for cell in cells if question.factor.enters(cell, by_id[cell.system_id])]
    columns, placed = _columns(question, systems, entered)
    kept = {key: [c for c in group if _keeps(c, question.params)] for key, group in placed.items()}
    baseline = _baseline(question, columns)
    columns = [c for c in columns if kept[c.key] or c.key == baseline or not question.factor.splits]
    rows = _rows(question, columns, kept)
    for row in rows:
        numbers.judge(row, baseline)
    means, common = numbers.geomeans(rows, [column.key for column in columns])
    return Table(
        columns=[replace(column, position=at) for at, column in enumerate(columns)],
        baseline=baseline,
        factor=question.factor.name,
        per=question.per,
        axis=question.axis,
        rows=rows,
        geomean=means,
        common_rows=common,
        left_out=question.factor.left_out(cells),
    )


def _columns(
    question: Question, systems: Mapping[str, System], cells: list[Stored]
) -> tuple[list[Column], dict[str, list[Stored]]]:
    """The columns in order, and what stands in each, before any row is filtered out."""
    columns: dict[str, Column] = {}
    placed: dict[str, list[Stored]] = {}
    by_system: dict[int, list[Stored]] = defaultdict(list)
    for cell in cells:
        by_system[cell.system_id].append(cell)
    for wanted in question.wanted:
        system = systems[wanted.slug]
        for key, (pins, group) in _split(wanted, system, by_system[system.pk], question.factor):
            label = question.factor.label(system, pins)
            columns.setdefault(key, Column(key, system, pins, label))
            placed.setdefault(key, group)
    if len(columns) > MAX_COLUMNS:
        raise CompareError({"factor": [_too_many(len(columns))]})
    return list(columns.values()), placed


def _split(
    wanted: Wanted, system: System, cells: list[Stored], factor: Factor
) -> list[tuple[str, tuple[Mapping[str, str], list[Stored]]]]:
    """The columns that one wanted column splits into; itself, empty, where nothing fits."""
    wants = factor.pin(wanted.pins, system)
    split: dict[str, tuple[Mapping[str, str], list[Stored]]] = {}
    for cell in cells:
        values = factor.values(cell, system)
        if all(values.get(name, "") == value for name, value in wants.items()):
            pins = {**wants, **values}
            split.setdefault(format_key(wanted.slug, pins), (pins, []))[1].append(cell)
    if not split:
        return [(str(wanted), (wanted.pins, []))]
    return sorted(split.items(), key=lambda item: factor.sort(item[1][0]))


def _baseline(question: Question, columns: Sequence[Column]) -> str:
    """The key asked for, or the first column that fits it; the first of all by default."""
    if not question.baseline:
        return columns[0].key
    try:
        wanted = parse_key(question.baseline)
    except ValueError as error:
        raise CompareError({"baseline": [str(error)]}) from None
    for column in columns:
        if column.system.slug == wanted.slug and wanted.pins.items() <= column.pins.items():
            return column.key
    keys = [column.key for column in columns]
    raise CompareError({"baseline": [_unknown(question.baseline, keys, "column")]})


def _keeps(cell: Stored, params: Mapping[str, Collection[str]]) -> bool:
    """Whether a row filter keeps the cell; benchmarks that do not know the name stay."""
    benchmark = catalogue.benchmarks()[cell.benchmark]
    for name, values in params.items():
        if knows(benchmark, name) and Factor.value(cell, name) not in values:
            return False
    return True


def _rows(
    question: Question, columns: Sequence[Column], placed: Mapping[str, list[Stored]]
) -> list[Row]:
    grouped: dict[RowKey, dict[str, list[Stored]]] = {}
    for column in columns:
        for stored in placed[column.key]:
            benchmark = catalogue.benchmarks().get(stored.benchmark)
            if benchmark is None or benchmark.metric(f"{stored.workload}.{stored.metric}") is None:
                continue
            key = RowKey.of(stored, benchmark, question.factor, question.axis)
            grouped.setdefault(key, {}).setdefault(column.key, []).append(stored)
    systems = {column.key: column.system for column in columns}
    keys = sorted(grouped, key=_row_position())
    return [
        build_row(key, grouped[key], systems, per=question.per, axis=question.axis) for key in keys
    ]


def _row_position() -> Callable[[RowKey], tuple[object, ...]]:
    """A sort key for rows: the catalogue's order, then scope and variant."""
    benchmarks = catalogue.benchmarks()
    order = {slug: position for position, slug in enumerate(benchmarks)}
    metrics = {
        (slug, metric.name): position
        for slug, benchmark in benchmarks.items()
        for position, metric in enumerate(benchmark.metrics)
    }
    return lambda key: (order[key.benchmark], metrics[key.benchmark, key.metric], *key.sort())
