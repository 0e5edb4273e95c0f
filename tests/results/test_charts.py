"""Charts: valid in Plotly's schema, true to the table, safe with hostile names."""

from __future__ import annotations

import json
import math
from typing import Any

import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from results import charts, wording
from results.charts import panels, scales
from results.compare import Column, Table, compare_systems
from results.models import System
from results.wording import cellwords
from tests.results.made import near, run, store, system

pytestmark = pytest.mark.django_db

VERA = "nvidia-mgx-vera-c2"
EPYC = "dell-r7725-epyc-9965"
SIX = (
    VERA,
    EPYC,
    "dell-r7725-epyc-9175f",
    "dell-r770ap-xeon-6978p",
    "dell-r770-xeon-6787p",
    "dell-r760-xeon-8592plus",
)


def figures(*systems: str, **question: Any) -> list[panels.Figure]:
    table = compare_systems(systems=systems or SIX, **question)
    slots = panels.colour_slots(table.columns, SIX)
    return panels.figures(table, slots, cellwords.number_formats(table))


def drawings(*systems: str, **question: Any) -> list[dict[str, Any]]:
    found = figures(*systems, **question)
    return [charts.figure(panel) for figure in found for panel in figure.panels]


def only_panel(*systems: str, **question: Any) -> panels.Panel:
    (figure,) = figures(*systems, **question)
    (panel,) = figure.panels
    return panel


@pytest.mark.parametrize(
    "question",
    [
        {},
        {"per": "core"},
        {"per": "thread"},
        {"per": "socket"},
        {"per": "watt"},
        {"per": "peak"},
        {"factor": "smt"},
        {"factor": "engine"},
        {"factor": "sockets"},
        {"factor": "placement"},
        {"factor": "compiler"},
        {"axis": "virtual_users"},
        {"params": {"smt": ("on",)}},
    ],
    ids=str,
)
def test_every_chart_is_valid_in_plotlys_schema(question: dict[str, Any]) -> None:
    found = drawings(**question)
    assert found
    for figure in found:
        go.Figure(**figure)
        json.dumps(figure, allow_nan=False)


def test_there_is_a_figure_for_each_benchmark_that_two_systems_share() -> None:
    table = compare_systems(systems=SIX)
    shared = {row.benchmark.slug for row in table.rows if len(row.cells) > 1}
    assert {figure.benchmark.slug for figure in figures()} == shared
    assert [figure.number for figure in figures()] == list(range(1, len(shared) + 1))


def test_a_bar_is_as_long_as_its_value_and_says_it() -> None:
    panel = only_panel(VERA, EPYC, benchmarks=["openfoam/driverFastback-medium"])
    bars = {bar.key: bar for bar in panel.bars}
    assert (bars[EPYC].high, bars[EPYC].text) == (95.0, "95")
    assert (bars[VERA].high, bars[VERA].text) == (106.0, "106")
    assert bars[VERA].end / bars[EPYC].end == near(106 / 95, rel=1e-3)
    (trace,) = charts.figure(panel)["data"]
    assert dict(zip(trace["customdata"], trace["x"], strict=True)) == {
        bars[EPYC].run: 95.0,
        bars[VERA].run: 106.0,
    }


def test_bars_of_a_figure_share_one_order_best_first() -> None:
    (figure,) = figures(benchmarks=["openfoam"])
    medium, large = figure.panels
    assert [bar.key for bar in medium.bars] == [bar.key for bar in large.bars]
    assert [bar.high for bar in medium.bars] == sorted(bar.high for bar in medium.bars)


def test_a_reported_range_is_a_hollow_bar_between_its_ends() -> None:
    (figure,) = figures(benchmarks=["clickbench/hot"])
    (panel,) = [panel for panel in figure.panels if panel.bars]
    hollow = [bar for bar in panel.bars if bar.hollow]
    assert {(bar.low, bar.high) for bar in hollow} == {(2.93, 3.04)}
    trace = next(t for t in charts.figure(panel)["data"] if t["meta"]["hollow"])
    assert trace["base"] == [2.93] * 3
    assert trace["x"] == [near(0.11)] * 3
    assert trace["marker"]["color"] == charts.CLEAR


def test_rows_that_differ_by_engine_stand_in_one_panel() -> None:
    panel = only_panel(benchmarks=["hammerdb/tproc-c"])
    assert panel.kind == "grouped"
    assert [(group.title, group.note) for group in panel.groups] == [
        ("MariaDB", "12.3.3"),
        ("MariaDB", "13.0.2"),
        ("MySQL", "26.7.0"),
        ("PostgreSQL", "18.6"),
        ("VillageSQL", "0.0.7"),
    ]


def test_with_engine_as_factor_each_engine_is_a_group_of_the_systems() -> None:
    panel = only_panel(benchmarks=["hammerdb/tproc-c"], factor="engine")
    titles = [f"{group.title} {group.note}" for group in panel.groups]
    assert titles == [
        "MariaDB 12.3.3",
        "MariaDB 13.0.2",
        "MySQL 26.7.0",
        "PostgreSQL 18.6",
        "VillageSQL 0.0.7",
    ]
    postgres = panel.groups[3]
    assert [(bar.lines, bar.text) for bar in postgres.bars] == [
        (("Vera",), "3.31"),
        (("EPYC 9965",), "2.62"),
        (("Xeon 6787P",), "2.45"),
    ]
    layout = charts.figure(panel)["layout"]
    assert layout["barmode"] == "group"
    assert layout["yaxis"]["ticktext"][0] == "0"


def test_a_divisor_stands_below_the_name() -> None:
    panel = only_panel(benchmarks=["stream/triad"], per="core", params={"placement": ("all",)})
    notes = {bar.lines[0]: bar.note for bar in panel.bars}
    assert notes["Vera"] == "176 cores"
    assert notes["EPYC 9175F"] == "32 cores"
    labels = charts.figure(panel)["layout"]["yaxis"]["ticktext"]
    assert '<span style="font-size:11px">32 cores</span>' in labels[0]


def test_a_curve_has_its_points_by_value_of_the_axis() -> None:
    sweep = [
        run("a", "triad.bandwidth", 20.0 * threads, parameters={"threads": threads}, scope="cores")
        for threads in (1, 2, 16, 64)
    ]
    store(system("a"), *sweep)
    panel = only_panel("a", axis="threads")
    assert panel.kind == "curve"
    figure = charts.figure(panel)
    go.Figure(**figure)
    (trace,) = figure["data"]
    assert trace["x"] == [1, 2, 16, 64]
    assert trace["y"] == [20.0, 40.0, 320.0, 1280.0]
    assert figure["layout"]["xaxis"]["type"] == "log"
    assert figure["layout"]["xaxis"]["title"]["text"] == "Threads"


def test_a_curve_of_several_runs_has_whiskers() -> None:
    sweep = [
        run(
            "a",
            "triad.bandwidth",
            value,
            parameters={"threads": threads},
            scope="cores",
            started_at=f"2026-10-01T0{at}:00:00Z",
        )
        for threads in (1, 2)
        for at, value in enumerate((9.0 * threads, 10.0 * threads, 12.0 * threads))
    ]
    store(system("a"), *sweep)
    (trace,) = charts.figure(only_panel("a", axis="threads"))["data"]
    assert trace["y"] == [10.0, 20.0]
    assert trace["error_y"]["array"] == [near(2.0), near(4.0)]
    assert trace["error_y"]["arrayminus"] == [near(1.0), near(2.0)]


def test_hostile_names_are_escaped_wherever_plotly_reads_them() -> None:
    name = '<a href="javascript:alert(1)">x</a> & <b>y'
    bad = system("bad")
    bad["processors"][0]["name"] = name
    store(
        bad,
        system("good"),
        run("bad", "triad.bandwidth", 2.0),
        run("good", "triad.bandwidth", 1.0),
    )
    text = json.dumps(drawings("bad", "good"))
    assert "<a href" not in text
    assert "<b>y" not in text
    assert "&lt;a href=" in text


def test_a_system_keeps_its_colour_when_another_is_removed() -> None:
    def slots(*systems: str) -> dict[str, int]:
        return panels.colour_slots(compare_systems(systems=systems).columns, SIX)

    assert list(slots(*SIX).values()) == [1, 2, 3, 4, 5, 6]
    assert slots(*SIX[1:]) == {key: at for at, key in enumerate(SIX, start=1) if key != VERA}
    assert slots("stream-nec-sx-7", *SIX[1:])["stream-nec-sx-7"] == 1
    assert slots(*SIX, "stream-nec-sx-7")["stream-nec-sx-7"] == 1


def test_columns_of_one_system_share_its_colour_unless_it_is_alone() -> None:
    both = compare_systems(systems=[VERA, EPYC], factor="smt").columns
    slots = panels.colour_slots(both, SIX)
    assert {slots[column.key] for column in both if column.system.slug == EPYC} == {2}
    alone = compare_systems(systems=[EPYC], factor="smt").columns
    assert list(panels.colour_slots(alone, SIX).values()) == [1, 2, 3]


def test_a_long_name_is_cut_into_lines_that_fit_beside_a_bar() -> None:
    column = Column("x", System(name="x", slug="x"), {}, "A " * 60 + "· SMT on")
    lines = cellwords.name_lines(column)
    assert all(len(line) <= cellwords.NAME_WIDTH for line in lines)
    assert len(lines) <= 4


@given(st.floats(min_value=1e-12, max_value=1e15))
def test_an_axis_holds_its_largest_value_in_at_most_five_round_steps(largest: float) -> None:
    axis = scales.round_axis(largest)
    assert axis.top >= largest * (1 - 1e-6)
    assert axis.top <= largest * 5.1
    assert 2 <= len(axis.ticks) <= 6
    assert axis.ticks[0] == 0
    assert axis.share(axis.top) == 100
    step = axis.ticks[1]
    digits = step / 10 ** math.floor(math.log10(step) + 1e-9)
    assert min(abs(digits - round_one) for round_one in (1, 2, 2.5, 5, 10)) < 1e-6


@pytest.mark.parametrize("largest", [0.0, -1.0, math.inf, math.nan])
def test_an_axis_without_a_largest_value_still_has_a_length(largest: float) -> None:
    assert scales.round_axis(largest).ticks == (0.0, 1.0)


def test_a_bar_in_the_table_is_the_share_of_the_best_whatever_the_direction() -> None:
    table: Table = compare_systems(systems=[VERA, EPYC], benchmarks=["openfoam", "stream/triad"])
    lengths = {row.metric.name: scales.lengths(row) for row in table.rows if len(row.cells) == 2}
    assert lengths["triad.bandwidth"] == {VERA: (0.0, 100.0), EPYC: (0.0, near(30.6))}
    assert lengths["driverFastback-medium.time"] == {VERA: (0.0, near(89.6)), EPYC: (0.0, 100.0)}


@pytest.mark.parametrize("largest", [1e300, 1e-300, 8e12])
def test_the_marks_of_an_axis_are_short_however_large_or_small(largest: float) -> None:
    marks = panels.ticks(scales.round_axis(largest), wording.Figures("GB/s"))
    assert marks[0].text == "0"
    assert all(len(mark.text) < 12 for mark in marks)
    assert float(marks[-1].text) == pytest.approx(marks[-1].value, rel=1e-3)
