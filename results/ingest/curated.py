"""What only the hub's own data brings: external lists and stored comparisons."""

from __future__ import annotations

from typing import Any

from results import catalogue
from results.bundle import model
from results.catalogue.base import Benchmark, Metric
from results.ingest.check import Checker
from results.ingest.parts import Parts
from results.models import Comparison, List, ListEntry
from results.models import Metric as MetricRow
from results.units import factor

NOT_ALLOWED = "none: lists and comparisons come with the hub's own data only"


def check_curated(checker: Checker, *, allowed: bool) -> None:
    """Lists and comparisons refer to what is known, in units that convert."""
    bundle = checker.bundle
    if not allowed:
        for part in ("lists", "comparisons"):
            if getattr(bundle, part):
                checker.say((part,), f"{len(getattr(bundle, part))} {part}", NOT_ALLOWED)
        return
    for index, ranked in enumerate(bundle.lists):
        _check_list(checker, ranked, index)
    for index, comparison in enumerate(bundle.comparisons):
        for column in comparison.systems:
            slug = column.partition("@")[0]
            path = ("comparisons", index, "systems")
            checker.refer(path, "system", slug, checker.known.systems)
        if comparison.baseline and comparison.baseline not in comparison.systems:
            found = f"'{comparison.baseline}'"
            checker.say(("comparisons", index, "baseline"), found, "one of its systems")


def _check_list(checker: Checker, ranked: model.RankedList, index: int) -> None:
    path = ("lists", index)
    checker.refer((*path, "source"), "source", ranked.source, checker.known.sources)
    benchmark = catalogue.get(ranked.benchmark)
    if benchmark is None:
        known = list(catalogue.benchmarks())
        checker.refer((*path, "benchmark"), "benchmark", ranked.benchmark, known)
        return
    metric = benchmark.metric(ranked.metric)
    if metric is None:
        names = [m.name for m in benchmark.metrics]
        checker.refer((*path, "metric"), f"metric of {benchmark.slug}", ranked.metric, names)
        return
    for place, entry in enumerate(ranked.entries):
        _check_entry(checker, entry, benchmark, metric, (*path, "entries", place))


def _check_entry(
    checker: Checker,
    entry: model.ListEntry,
    benchmark: Benchmark,
    metric: Metric,
    path: tuple[str | int, ...],
) -> None:
    checker.refer((*path, "system"), "system", entry.system, checker.known.systems)
    into = checker.unit(entry.unit, metric, path)
    if into is not None:
        checker.number(entry.value, into, metric, (*path, "value"))
    checker.parameters(benchmark, entry.scope or "", entry.parameters, (*path, "parameters"))


def store_curated(bundle: model.Bundle, parts: Parts) -> int:
    """Make lists and comparisons, and change those whose text has changed; how many did."""
    changed = sum(_store_list(ranked, parts) for ranked in bundle.lists)
    return changed + sum(_store_comparison(comparison) for comparison in bundle.comparisons)


def _store_list(ranked: model.RankedList, parts: Parts) -> bool:
    described = catalogue.benchmarks()[ranked.benchmark]
    metric = described.metric(ranked.metric)
    if metric is None:
        raise LookupError(ranked.metric)
    row = MetricRow.objects.get(
        benchmark__slug=ranked.benchmark, workload=metric.workload, name=metric.short
    )
    fields = {
        "title": ranked.title,
        "metric_id": row.pk,
        "source_id": parts.sources[ranked.source].pk,
        "date": ranked.date or "",
        "length": ranked.length,
        "note": ranked.note or "",
    }
    stored, made = List.objects.get_or_create(slug=ranked.slug, defaults=fields)
    changed = made or _update(stored, fields)
    entries = [_entry(entry, described, metric, parts) for entry in ranked.entries]
    return _replace_entries(stored, entries) or changed


def _entry(
    entry: model.ListEntry, described: Benchmark, metric: Metric, parts: Parts
) -> dict[str, Any]:
    typed = {p.name: p for p in described.parameters}
    return {
        "rank": entry.rank,
        "label": entry.label,
        "system_id": parts.systems[entry.system].pk if entry.system else None,
        "value": float(factor(entry.unit, metric.unit)(entry.value)),
        "scope": entry.scope or "",
        "parameters": {
            name: typed[name].clean(value)
            for name, value in entry.parameters.items()
            if value is not None
        },
    }


def _replace_entries(stored: List, entries: list[dict[str, Any]]) -> bool:
    """Write the list's entries anew if they differ."""
    names = ("rank", "label", "system_id", "value", "scope", "parameters")
    there = list(stored.entries.order_by("rank", "label").values(*names))
    if there == sorted(entries, key=lambda entry: (entry["rank"], entry["label"])):
        return False
    stored.entries.all().delete()
    ListEntry.objects.bulk_create(ListEntry(list=stored, **entry) for entry in entries)
    return True


def _store_comparison(given: model.Comparison) -> bool:
    fields = {
        "title": given.title,
        "text": given.text or "",
        "columns": given.systems,
        "baseline": given.baseline or "",
        "benchmarks": given.benchmarks,
        "factor": given.factor,
        "per": given.per,
    }
    stored, made = Comparison.objects.get_or_create(slug=given.slug, defaults=fields)
    if made and given.default and not Comparison.objects.filter(is_default=True).exists():
        # Only at first: which one is the default is an administrator's choice later.
        stored.is_default = True
        stored.save(update_fields=["is_default"])
    return made or _update(stored, fields)


def _update(row: List | Comparison, fields: dict[str, Any]) -> bool:
    """Change a stored row where the text differs."""
    differing = [name for name, value in fields.items() if getattr(row, name) != value]
    for name in differing:
        setattr(row, name, fields[name])
    if differing:
        row.save(update_fields=differing)
    return bool(differing)
