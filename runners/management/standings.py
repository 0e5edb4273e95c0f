"""Where what a job has measured stands among what is published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from results import catalogue, wording
from results.compare.beside import Given, rows_of
from results.compare.cells import RowKey
from results.compare.factors import Factor
from results.compare.places import place
from results.models import Measurement, Run, System
from results.queries import Stored
from results.queries.beside import published
from results.queries.listings import systems_by_id
from results.roles import Roles


@dataclass(frozen=True)
class Standing:
    """A measured value, and its place among other systems'; `rank` None: it has none."""

    measurement: Measurement
    title: str
    value: str
    rank: int | None = None
    of: int = 0
    best: str = ""

    @property
    def words(self) -> str:
        """'rank 7 of 7; the best, Vera, has 2,073 GB/s'."""
        if self.rank is None:
            return ""
        words = {"rank": self.rank, "of": self.of, "best": self.best}
        text = _("rank %(rank)d of %(of)d") % words
        return text if self.rank == 1 else f"{text}; {_('the best: %(best)s') % words}"


def standings_of(runs: Sequence[Run]) -> list[Standing]:
    """What was measured in runs, in the catalogue's order, each beside what is published."""
    given = [pair for run in runs for pair in _given(run)]
    found = published(rows_of(one for _m, one in given), [], 0)
    own = {run.system_id for run in runs}
    others = [cell for cell in found.others if cell.system_id not in own]
    names = systems_by_id({cell.system_id for cell in others})
    return [_standing(measurement, one, others, names) for measurement, one in given]


def _given(run: Run) -> Iterator[tuple[Measurement, Given]]:
    """A run's values as comparisons take them; without those that the catalogue has not."""
    entry = catalogue.get(run.benchmark.slug)
    if entry is None:
        return
    roles = Roles.of(entry, run.parameters)
    ordered = run.measurements.select_related("metric").order_by("metric__order", "id")
    for measurement in ordered:
        metric = entry.metric(measurement.metric.full_name)
        if metric is not None:
            yield (
                measurement,
                Given(
                    system=run.system.slug,
                    lab=run.lab.slug,
                    benchmark=entry,
                    metric=metric,
                    version=run.version,
                    scope=run.scope,
                    variant=roles.variant,
                    axis=roles.axis,
                    scale=roles.scale,
                    value=measurement.value,
                    low=measurement.low,
                    high=measurement.high,
                ),
            )


def _standing(
    measurement: Measurement, one: Given, others: Sequence[Stored], names: dict[int, System]
) -> Standing:
    unit = measurement.metric.unit
    points = [f"{name} {x}" for name, x in one.row.at]
    title = ", ".join([measurement.metric.full_name, *points])
    value = wording.alone(measurement.value, unit)
    best = _best_of_each(one, others)
    if measurement.value is None or not best:
        return Standing(measurement, title, value)
    medians = [cell.median for cell in best if cell.median is not None]
    rank = place(measurement.value, medians, higher_is_better=one.metric.higher_is_better)
    leader = f"{names[best[0].system_id]}, {wording.alone(best[0].median, unit)}"
    return Standing(measurement, title, value, rank, len(best) + 1, leader)


def _best_of_each(one: Given, others: Sequence[Stored]) -> list[Stored]:
    """The best published value of each other system in the value's row, the best first.

    `others` come ranked, the best of each metric first.
    """
    best: dict[int, Stored] = {}
    for cell in others:
        if cell.benchmark == one.benchmark.slug and _stands_beside(cell, one):
            best.setdefault(cell.system_id, cell)
    higher = one.metric.higher_is_better
    return sorted(best.values(), key=lambda cell: cell.median or 0.0, reverse=higher)


def _stands_beside(cell: Stored, one: Given) -> bool:
    key = RowKey.of(cell, one.benchmark, Factor("system"), "")
    return (key, frozenset(cell.scale.items())) == one.place
