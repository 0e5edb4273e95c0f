"""Charts as plain dicts in Plotly's schema. The library itself is never imported here.

Colours are those of the light theme; the page gives a drawn chart the theme that shows.
`meta.slots` says which colour of the palette each bar or line has.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from html import escape
from typing import Any

from results.charts.panels import Bar, Group, Line, Panel

Dict = dict[str, Any]

PALETTE = ("#005433", "#cd5501", "#c46fb8", "#4468e0", "#05658b", "#807c72")
SHAPES = ("", "/", "|", "\\", "-", "x")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x")
PAPER, INK, INK2, INK3, HAIR = "#fcfbf8", "#1a1b1e", "#53555b", "#6c6e73", "#e4e0d7"
CLEAR = "rgba(0,0,0,0)"
SANS = "Segoe UI, Roboto, Noto Sans, Liberation Sans, DejaVu Sans, sans-serif"
BAR = 15  # pixels of a bar's thickness
GROUPED_HEIGHT = 250
CURVE_HEIGHT = 300


def figure(panel: Panel) -> Dict:
    """The panel as `{"data": […], "layout": {…}}`."""
    if panel.kind == "grouped":
        return _grouped(panel)
    if panel.kind == "curve":
        return _curves(panel)
    return _bars(panel)


def _bars(panel: Panel) -> Dict:
    """Horizontal bars: names at the left, the number at each bar's end."""
    rows = list(enumerate(panel.bars))
    solid = [(at, bar) for at, bar in rows if not bar.hollow]
    hollow = [(at, bar) for at, bar in rows if bar.hollow]
    data = [_bar_trace(part, hollow=part is hollow) for part in (solid, hollow) if part]
    height = panel.row_height * len(rows)
    layout = _layout(height + 20, left=panel.name_width, right=panel.number_width, bottom=20)
    layout["bargap"] = round(1 - BAR / panel.row_height, 2)
    layout["barmode"] = "overlay"
    layout["xaxis"] = _value_axis(panel)
    layout["yaxis"] = {
        **_names_axis([at for at, _bar in rows], [_name(bar) for bar in panel.bars]),
        "range": [len(rows) - 0.5, -0.5],
    }
    return {"data": data, "layout": layout}


def _bar_trace(bars: Sequence[tuple[int, Bar]], *, hollow: bool) -> Dict:
    slots = [bar.slot for _at, bar in bars]
    return {
        "type": "bar",
        "orientation": "h",
        "x": [bar.high - bar.low for _at, bar in bars],
        "base": [bar.low for _at, bar in bars],
        "y": [at for at, _bar in bars],
        "text": [_number(bar) for _at, bar in bars],
        "textposition": "outside",
        "constraintext": "none",
        "cliponaxis": False,
        "marker": _hollow_marker(slots) if hollow else _solid_marker(slots),
        "meta": {"slots": slots, "hollow": hollow},
        **_hovering(bar for _at, bar in bars),
    }


def _grouped(panel: Panel) -> Dict:
    """Standing bars, a group a row: one trace a column, and one for its ranges."""
    keys = dict.fromkeys(bar.key for group in panel.groups for bar in group.bars)
    data = [
        trace
        for key in keys
        for hollow in (False, True)
        if (trace := _group_trace(panel.groups, key, hollow=hollow))
    ]
    layout = _layout(GROUPED_HEIGHT + 62, left=34, right=0, bottom=42)
    layout["margin"]["t"] = 20
    layout["barmode"] = "group"
    layout["bargap"] = 0.14
    layout["bargroupgap"] = 0.08
    layout["xaxis"] = _names_axis(
        range(len(panel.groups)), [_group_name(group) for group in panel.groups]
    )
    layout["yaxis"] = _value_axis(panel)
    return {"data": data, "layout": layout}


def _group_trace(groups: Sequence[Group], key: str, *, hollow: bool) -> Dict | None:
    bars = [
        (at, bar)
        for at, group in enumerate(groups)
        for bar in group.bars
        if bar.key == key and bar.hollow == hollow
    ]
    if not bars:
        return None
    slots = [bar.slot for _at, bar in bars]
    return {
        "type": "bar",
        "name": _t(" · ".join(bars[0][1].lines)),
        "x": [at for at, _bar in bars],
        "y": [bar.high - bar.low for _at, bar in bars],
        "base": [bar.low for _at, bar in bars],
        "offsetgroup": key,
        "text": ["" if hollow else _number(bar) for _at, bar in bars],
        "textposition": "outside",
        "constraintext": "none",
        "cliponaxis": False,
        "marker": _hollow_marker(slots) if hollow else _solid_marker(slots),
        "meta": {"slots": slots, "hollow": hollow},
        **_hovering(bar for _at, bar in bars),
    }


def _curves(panel: Panel) -> Dict:
    """Lines along an axis parameter, a marker a point, whiskers where several runs were made."""
    layout = _layout(CURVE_HEIGHT, left=52, right=12, bottom=44)
    layout["margin"]["t"] = 8
    layout["xaxis"] = _x_axis(panel)
    layout["yaxis"] = _value_axis(panel)
    return {"data": [_curve_trace(line, panel.unit) for line in panel.lines], "layout": layout}


def _curve_trace(line: Line, unit: str) -> Dict:
    at, style = line.slot - 1, (line.slot - 1 + line.style) % len(DASHES)
    name = _t(line.name)
    values = [point[1] for point in line.points]
    trace: Dict = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": [point[0] for point in line.points],
        "y": values,
        "line": {"color": PALETTE[at], "width": 2, "dash": DASHES[style]},
        "marker": {"color": PALETTE[at], "size": 7, "symbol": SYMBOLS[style]},
        "meta": {"slots": [line.slot], "hollow": False},
        "hovertext": [f"{name}<br>n = {point[4]}" for point in line.points],
        "hovertemplate": "%{hovertext}<br>%{x}: %{y:,} " + f"{_t(unit)}<extra></extra>",
        "customdata": [line.run] * len(values),
    }
    if any(point[2] is not None for point in line.points):
        trace["error_y"] = {
            "type": "data",
            "symmetric": False,
            "array": [_reach(point[3], point[1]) for point in line.points],
            "arrayminus": [_reach(point[1], point[2]) for point in line.points],
            "thickness": 1,
            "width": 3,
        }
    return trace


def _reach(upper: float | None, lower: float | None) -> float:
    return 0.0 if upper is None or lower is None else max(0.0, upper - lower)


def _layout(height: int, *, left: int, right: int, bottom: int) -> Dict:
    return {
        "height": height,
        "margin": {"l": left, "r": right, "t": 0, "b": bottom, "pad": 0},
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "font": {"family": SANS, "size": 13, "color": INK},
        "showlegend": False,
        "dragmode": False,
        "hovermode": "closest",
    }


def _value_axis(panel: Panel) -> Dict:
    return {
        "range": [0, panel.axis.top],
        "tickvals": [tick.value for tick in panel.ticks],
        "ticktext": [tick.text for tick in panel.ticks],
        "tickfont": {"size": 11, "color": INK2},
        "gridcolor": HAIR,
        "showgrid": True,
        "zeroline": False,
        "fixedrange": True,
    }


def _names_axis(at: Iterable[int], names: Sequence[str]) -> Dict:
    return {
        "tickvals": list(at),
        "ticktext": list(names),
        "tickfont": {"size": 13, "color": INK},
        "ticks": "outside",
        "ticklen": 6,
        "tickcolor": CLEAR,
        "showgrid": False,
        "zeroline": False,
        "fixedrange": True,
    }


def _x_axis(panel: Panel) -> Dict:
    """The axis of a curve's parameter: by powers where it spans many, by name for words."""
    xs = list(dict.fromkeys(point[0] for line in panel.lines for point in line.points))
    numbers = [x for x in xs if not isinstance(x, str)]
    axis: Dict = {
        "title": {"text": _t(panel.x_title), "font": {"size": 12}},
        "tickfont": {"size": 11, "color": INK2},
        "showgrid": True,
        "gridcolor": HAIR,
        "zeroline": False,
        "fixedrange": True,
    }
    if len(numbers) < len(xs):
        return {**axis, "type": "category"}
    ticks = _thinned(sorted(numbers))
    axis |= {"tickvals": ticks, "ticktext": [f"{x:,}" for x in ticks]}
    if numbers and min(numbers) > 0 and max(numbers) / min(numbers) >= 32:
        return {**axis, "type": "log"}
    return {**axis, "type": "linear"}


def _thinned(numbers: list[float], most: int = 10) -> list[float]:
    return numbers[:: math.ceil(len(numbers) / most)]


def _solid_marker(slots: Sequence[int]) -> Dict:
    return {
        "color": [PALETTE[slot - 1] for slot in slots],
        "line": {"width": 0},
        "pattern": {
            "shape": [SHAPES[slot - 1] for slot in slots],
            "fillmode": "overlay",
            "fgcolor": PAPER,
            "fgopacity": 0.55,
            "size": 6,
            "solidity": 0.3,
        },
    }


def _hollow_marker(slots: Sequence[int]) -> Dict:
    return {"color": CLEAR, "line": {"color": [PALETTE[slot - 1] for slot in slots], "width": 2}}


def _hovering(bars: Iterable[Bar]) -> Dict:
    shown = list(bars)
    return {
        "hovertext": [_hover(bar) for bar in shown],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "customdata": [bar.run for bar in shown],
    }


def _hover(bar: Bar) -> str:
    first, *rest = (_t(line) for line in bar.hover)
    return "<br>".join([f"<b>{first}</b>", *rest])


def _number(bar: Bar) -> str:
    marks = f"<sup>{_t(bar.marks)}</sup>" if bar.marks else ""
    return _t(bar.text) + marks


def _name(bar: Bar) -> str:
    first, *rest = (_t(line) for line in bar.lines)
    notes = [*rest, *([_t(bar.note)] if bar.note else [])]
    small = [f'<span style="font-size:11px">{note}</span>' for note in notes]
    return "<br>".join([first, *small])


def _group_name(group: Group) -> str:
    title = f"<b>{_t(group.title)}</b>"
    note = _t(group.note)
    return f'{title}<br><span style="font-size:12px">{note}</span>' if note else title


@lru_cache(maxsize=4096)
def _t(text: str) -> str:
    """A text as Plotly may show it: its few tags are not for names to use."""
    return escape(text, quote=False)
