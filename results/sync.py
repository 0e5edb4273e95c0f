"""The catalogue's files as rows, which runs and measurements point to. Nothing is deleted."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_noop

from results import catalogue
from results.catalogue import base
from results.models import Benchmark, Lab, Loaded, Measurement, Metric
from results.roles import canonical
from results.summaries import rebuild

LOCAL = "local"
PREFIX = "catalogue/"
HALF = 32


class CatalogueError(RuntimeError):
    """A catalogue file that contradicts what is stored under it."""


@cache
def digests() -> dict[str, str]:
    """A digest of what each benchmark's file says that is kept in rows, by slug."""
    return {slug: _digest(entry) for slug, entry in catalogue.benchmarks().items()}


def _digest(entry: base.Benchmark) -> str:
    """Two halves: of what summaries are keyed by, and of what else the rows say."""
    keys = [
        [[metric.name, metric.higher_is_better] for metric in entry.metrics],
        [[parameter.name, parameter.role, parameter.counts] for parameter in entry.parameters],
        [[tracked.field, tracked.depth] for tracked in entry.tracked],
    ]
    text = [entry.name, entry.category, _position(entry.slug), [m.unit for m in entry.metrics]]
    return _half(keys) + _half(text)


def _half(said: Any) -> str:
    return sha256(canonical(said).encode()).hexdigest()[:HALF]


def _position(slug: str) -> int:
    return list(catalogue.benchmarks()).index(slug)


def ensure() -> None:
    """Bring the rows up to the files; one query where nothing has changed."""
    rows = Loaded.objects.filter(name__startswith=PREFIX).values_list("name", "digest")
    stored = {name.removeprefix(PREFIX): digest for name, digest in rows}
    changed = [slug for slug, digest in digests().items() if stored.get(slug) != digest]
    for slug in changed:
        try:
            with transaction.atomic():
                _sync(catalogue.benchmarks()[slug])
        except IntegrityError:
            # Another process was quicker with the same file.
            continue


def after_migrate(**options: Any) -> None:
    """After each migration: the catalogue's rows, and the lab of the hub's own hosts."""
    if options.get("using", "default") != "default":
        return
    if not _is_migrated(options):
        return
    ensure()
    name = gettext_noop("This hub")
    Lab.objects.get_or_create(slug=LOCAL, defaults={"name": name, "kind": Lab.Kind.LOCAL})


def _is_migrated(options: dict[str, Any]) -> bool:
    """Whether the tables are there: not, after a migration back to nothing."""
    from django.db import connection

    return Loaded._meta.db_table in connection.introspection.table_names()


def _sync(entry: base.Benchmark) -> None:
    row, _ = Benchmark.objects.update_or_create(
        slug=entry.slug,
        defaults={
            "name": entry.name,
            "category": entry.category,
            "order": _position(entry.slug),
        },
    )
    for order, metric in enumerate(entry.metrics):
        _sync_metric(row, metric, order)
    name, digest = f"{PREFIX}{entry.slug}", digests()[entry.slug]
    before = Loaded.objects.filter(name=name).values_list("digest", flat=True).first()
    Loaded.objects.update_or_create(name=name, defaults={"digest": digest})
    if before and before[:HALF] != digest[:HALF]:
        rebuild(benchmark=entry.slug)


def _sync_metric(benchmark: Benchmark, metric: base.Metric, order: int) -> None:
    stored = Metric.objects.filter(
        benchmark=benchmark, workload=metric.workload, name=metric.short
    ).first()
    if stored and stored.unit != metric.unit and _is_used(stored):
        raise CatalogueError(
            f"{stored} is stored in {stored.unit}, and its file now says {metric.unit}: "
            "a migration must convert what is stored"
        )
    Metric.objects.update_or_create(
        benchmark=benchmark,
        workload=metric.workload,
        name=metric.short,
        defaults={
            "unit": metric.unit,
            "higher_is_better": metric.higher_is_better,
            "order": order,
        },
    )


def _is_used(metric: Metric) -> bool:
    return Measurement.objects.filter(metric=metric).exists()
