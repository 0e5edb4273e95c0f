"""Every figure of the source reviews comes out of the compare API for its system and workload."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from results import catalogue
from tests.results.api_data import get

RESULTS = Path(__file__).parents[1] / "data" / "reference" / "results.csv"
QUALIFIERS = {"approx": "approximate", "chart_only": "chart_only"}
PLACE = ("system", "benchmark", "workload", "metric", "scope", "params", "unit", "better")
Place = tuple[str, ...]


@dataclass(frozen=True)
class Figure:
    """A value, or the ends of a range that stand in two lines of the table."""

    system: str
    benchmark: str
    workload: str
    metric: str
    scope: str
    params: dict[str, str]
    unit: str
    better: str
    qualifier: str
    value: float | None = None
    low: float | None = None
    high: float | None = None

    def role(self, *roles: str) -> dict[str, str]:
        entry = catalogue.benchmarks()[self.benchmark]
        known = {name: entry.parameter(name) for name in self.params}
        return {n: v for n, v in self.params.items() if (p := known[n]) and p.role in roles}

    def __str__(self) -> str:
        said = ",".join(f"{name}={value}" for name, value in self.params.items())
        return f"{self.system} {self.benchmark}/{self.workload}.{self.metric} {self.scope} {said}"


def read_figures() -> Iterator[Figure]:
    """The figures of results.csv; the two ends of a range are one."""
    ends: dict[Place, dict[str, float]] = {}
    with RESULTS.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            place = tuple(line[name] for name in PLACE)
            qualifier, value = line["qualifier"], float(line["value"])
            if qualifier.startswith("range_"):
                ends.setdefault(place, {})[qualifier.removeprefix("range_")] = value
            else:
                yield _figure(place, QUALIFIERS.get(qualifier, qualifier), value=value)
    for place, found in ends.items():
        yield _figure(place, "exact", **found)


def _figure(place: Place, qualifier: str, **values: float) -> Figure:
    *names, params, unit, better = place
    pairs = dict(pair.split("=", 1) for pair in params.split(";") if pair)
    return Figure(*names, params=pairs, unit=unit, better=better, qualifier=qualifier, **values)  # type: ignore[misc,arg-type]


FIGURES = list(read_figures())


def rows_of(client: Client, figure: Figure, axis: str) -> Iterator[dict[str, Any]]:
    """The answer's rows that the figure belongs to, by metric, scope and variant."""
    query = {
        "system": figure.system,
        "benchmark": f"{figure.benchmark}/{figure.workload}",
        "axis": axis,
    }
    variant = figure.role("variant")
    for row in get(client, "compare/", query)["rows"]:
        told = {name: str(value) for name, value in row["variant"].items()}
        if (row["metric"], row["scope"]) == (figure.metric, figure.scope) and told in (
            variant,
            {"placement": "all", **variant},
        ):
            yield row


def ends(cell: dict[str, Any]) -> tuple[Any, Any, Any]:
    return cell["value"], cell.get("low"), cell.get("high")


def holds(cell: dict[str, Any], figure: Figure, x: str) -> bool:
    """Whether the cell, or its point at `x`, is the figure."""
    wanted = (figure.value, figure.low, figure.high)
    points = [tuple(point[1:4]) for point in cell.get("points", ()) if str(point[0]) == x]
    return wanted in (ends(cell), *points)


def test_the_table_has_all_its_figures() -> None:
    ends = sum(f.low is not None for f in FIGURES) + sum(f.high is not None for f in FIGURES)
    assert sum(figure.value is not None for figure in FIGURES) == 215
    assert ends == 51


@pytest.mark.parametrize("figure", FIGURES, ids=str)
def test_every_figure_comes_out_of_the_api(client: Client, reference: None, figure: Figure) -> None:
    places = {"": "", **figure.role("axis")}
    found = [
        (row, cell)
        for axis, x in places.items()
        for row in rows_of(client, figure, axis)
        for cell in row["cells"].values()
        if holds(cell, figure, x)
    ]
    assert found
    row, cell = found[0]
    assert (row["unit"], row["better"]) == (figure.unit, figure.better)
    if figure.value is not None and cell["raw"] == figure.value:
        assert cell["qualifier"] == figure.qualifier
    if figure.value is None:
        assert cell["ratio"] is None
        assert cell["rank"] is None
