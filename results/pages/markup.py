"""The HTML of cells, bars and numbers.

A comparison has thousands of these small parts, and a template takes several times as
long for each; the page around them is made by templates. Every text is escaped here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from html import escape
from typing import Any

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from results.charts.panels import Bar, Figure, Group, Line, Panel
from results.hooks import Link as Added
from results.pages.display import Entry, Shown
from results.pages.forms import Link, Option
from results.wording.cellwords import benchmark_address


def lines(entries: Iterable[Entry], added: Sequence[Added] = ()) -> SafeString:
    """Lines of the table: what is measured, on what, and the cells of each column.

    `added`: links by each value, to whose addresses the id of its run is put.
    """
    best = f'<span class="vh"> {_t(_("best of the row"))}</span>'
    nothing = (
        f'<span aria-hidden="true">–</span><span class="vh">{_t(_("not reported"))}</span></td>'
    )
    return _safe(_line(entry, best, nothing, added) for entry in entries)


def _line(entry: Entry, best: str, nothing: str, added: Sequence[Added]) -> str:
    row, title = ("same", ' class="rep"') if entry.repeated else ("first", "")
    direction = _t(entry.direction)
    cells = "".join(_cell(cell, best, nothing, added) for cell in entry.cells)
    missing = f'<td class="nr" aria-hidden="true">{_t(entry.missing)}</td>' if entry.missing else ""
    return (
        f'<tr id="{_t(entry.id)}" class="{row}"><th scope="row" class="w"><span{title}>'
        f'<a href="{benchmark_address(entry.benchmark)}">{_t(entry.title)}</a></span>'
        f'<span class="u">{_t(entry.unit)} <span class="dir" title="{direction}"'
        f' aria-hidden="true">{entry.arrow}</span><span class="vh"> {direction}</span></span></th>'
        f'<td class="va">{_t(entry.words)}</td>{cells}{missing}</tr>'
    )


def alone(entries: Iterable[Entry], added: Sequence[Added] = ()) -> SafeString:
    """The rows that only one column has, as entries of a list."""
    return _safe(_alone(entry, added) for entry in entries)


def _alone(entry: Entry, added: Sequence[Added]) -> str:
    numbers = "".join(
        f'{_t(cell.name)} <a href="{cell.run}"><b>{_t(cell.text)}</b></a> {_t(entry.unit)}'
        f"{''.join(_added(link, cell) for link in added)}"
        for cell in entry.cells
        if cell.text
    )
    words = f", {_t(entry.words)}" if entry.words else ""
    return f'<li id="{_t(entry.id)}">{_t(entry.title)}{words}: {numbers}</li>'


def links(choices: Iterable[Link]) -> SafeString:
    """Choices of one click beside each other."""
    return _safe(_link(choice) for choice in choices)


def _link(choice: Link) -> str:
    current = ' aria-current="true"' if choice.current else ""
    return f'<a href="{_t(choice.href)}"{current}>{_t(choice.label)}</a>'


def boxes(options: Iterable[Option], name: str) -> SafeString:
    """Options as boxes to tick; those with a note are parts of the one before them."""
    return _safe(_box(option, name) for option in options)


def _box(option: Option, name: str) -> str:
    part = ' class="sub"' if option.note else ""
    checked = " checked" if option.selected else ""
    return (
        f'<label{part}><input type="checkbox" name="{_t(name)}" value="{_t(option.value)}"'
        f"{checked}> {_t(option.label)}</label>"
    )


def data(found: Mapping[str, Any], id_: str) -> SafeString:
    """Plain data for a script, in an element of that id."""
    text = json.dumps(found, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04X}")
    return _safe([f'<script id="{_t(id_)}" type="application/json">{text}</script>'])


def panels(figure: Figure) -> SafeString:
    """The panels of a figure, drawn; a script may draw them anew from what is named here."""
    return _safe(
        f'<div><h4>{_t(panel.title)}</h4><div class="draw" data-figure="{panel.id}"'
        f' data-kind="{panel.kind}" data-label="{_t(figure.heading)}. {_t(panel.title)}">'
        f"{drawing(panel)}</div></div>"
        for panel in figure.panels
    )


def _cell(cell: Shown, best: str, nothing: str, added: Sequence[Added]) -> str:
    name = _t(cell.name)
    if not cell.text:
        return f'<td class="none" data-s="{name}" title="{_t(cell.missing)}">{nothing}'
    classes = f"s{cell.slot}{' best' if cell.best else ''}{' rng' if cell.hollow else ''}"
    title = f' title="{_t(cell.title)}"' if cell.title else ""
    marks = "".join(f'<sup title="{_t(m.meaning)}">{_t(m.sign)}</sup>' for m in cell.marks)
    notes = "".join(f'<small class="nb">{_t(note)}</small>' for note in cell.notes)
    if cell.others:
        link = f'<a href="{_t(cell.others_at)}">{_t(cell.others)}</a>'
        notes += f'<small class="nb">{link}</small>'
    notes += "".join(_added(link, cell) for link in added)
    return (
        f'<td class="{classes}" data-s="{name}"{_cell_style(cell)}>'
        f'<a class="v" href="{cell.run}"{title}>{_t(cell.text)}{marks}{best if cell.best else ""}'
        f"</a>{_standing(cell)}{notes}</td>"
    )


def _added(link: Added, cell: Shown) -> str:
    name = _("%(act)s: run %(number)s, %(value)s, %(system)s") % {
        "act": link.text,
        "number": cell.run_id,
        "value": cell.text,
        "system": cell.name,
    }
    return (
        f'<span class="ad"><a href="{_t(link.address)}{cell.run_id}"'
        f' aria-label="{_t(name)}">{_t(link.text)}</a></span>'
    )


def _cell_style(cell: Shown) -> str:
    if cell.end is None:
        return ""
    start = f"--a:{cell.start:g};" if cell.hollow else ""
    return f' style="{start}--w:{cell.end:g}"'


def _standing(cell: Shown) -> str:
    if cell.why:
        return f'<span class="r why" title="{_t(cell.why_title)}">{_t(cell.why)}</span>'
    return f'<span class="r{" b" if cell.base else ""}">{_t(cell.ratio)}</span>'


def drawing(panel: Panel) -> SafeString:
    """The panel as bars that need no script; a curve's are its columns' read values."""
    if panel.groups:
        return _safe(_grouped(panel))
    return _safe(_bars(panel))


def _bars(panel: Panel) -> Iterable[str]:
    size = f"--n:{panel.steps};--rh:{panel.row_height}px;"
    size += f"--lab:{panel.name_width}px;--pad:{panel.number_width}px"
    yield f'<div class="bars" style="{size}">'
    for bar in panel.bars:
        first, *rest = bar.lines
        small = "".join(f"<small>{_t(text)}</small>" for text in (*rest, bar.note) if text)
        start = f"--lo:{bar.start:g};" if bar.hollow else ""
        yield (
            f'<div class="br"><span class="bl">{_t(first)}{small}</span><span class="bt">'
            f'<span class="bar s{bar.slot}{" rg" if bar.hollow else ""}"'
            f' style="{start}--v:{bar.end:g}"></span>'
            f'<a class="bn" href="{bar.run}">{_number(bar)}</a></span></div>'
        )
    ticks = "".join(f'<span style="--x:{t.at:g}">{_t(t.text)}</span>' for t in panel.ticks)
    yield f'<div class="ax" aria-hidden="true">{ticks}</div></div>'


def _grouped(panel: Panel) -> Iterable[str]:
    ticks = "".join(f'<span style="--y:{t.at:g}">{_t(t.text)}</span>' for t in panel.ticks)
    yield f'<div class="vb-chart" style="--g:{len(panel.groups)}">'
    yield f'<div class="yax" aria-hidden="true">{ticks}</div>'
    for group in panel.groups:
        note = f" <small>{_t(group.note)}</small>" if group.note else ""
        yield f'<div class="vg"><h4>{_t(group.title)}{note}</h4><div class="vbs">'
        yield from (_standing_bar(bar) for bar in group.bars)
        yield "</div></div>"
    yield "</div>"


def _standing_bar(bar: Bar) -> str:
    start = f";--lo:{bar.start:g}" if bar.hollow else ""
    return (
        f'<span class="vr"><span class="sn">{_t(bar.lines[0])}</span>'
        f'<span class="vb s{bar.slot}{" rg" if bar.hollow else ""}"'
        f' style="--v:{bar.end:g}{start}"><b>{_number(bar)}</b></span></span>'
    )


def numbers(figure: Figure, baseline: str) -> SafeString:
    """The table twin: under its head a group of lines a panel, a group or a curve."""
    against = _("Against %(baseline)s") % {"baseline": baseline}
    heads = (_("System"), _("Value"), _("From"), against, _("Runs"))
    head = "".join(f'<th scope="col">{_t(text)}</th>' for text in heads)
    parts = [f"<thead><tr>{head}</tr></thead>"]
    for panel in figure.panels:
        parts += [_numbers_group(group) for group in panel.number_groups]
        parts += [_numbers_curve(line, panel.title) for line in panel.lines]
    return _safe(parts)


def _numbers_group(group: Group) -> str:
    rows = "".join(
        f'<tr><th scope="row">{_t(" · ".join(bar.lines))}</th>'
        f'<td><a href="{bar.run}">{_number(bar)}</a></td>'
        f"<td>{_t(', '.join(text for text in (bar.total, bar.note) if text))}</td>"
        f"<td>{_t(bar.ratio)}</td><td>{_t(bar.spread)}</td></tr>"
        for bar in group.bars
    )
    return f"<tbody>{_of(group.title)}{rows}</tbody>"


def _numbers_curve(line: Line, title: str) -> str:
    rows = "".join(
        f'<tr><th scope="row">{_t(point["x"])}</th><td><a href="{line.run}">{_t(point["value"])}'
        f"</a></td><td>{_t(point['span'])}</td><td></td><td>n = {_t(point['n'])}</td></tr>"
        for point in line.shown
    )
    return f"<tbody>{_of(f'{line.name}, {title}')}{rows}</tbody>"


def _of(title: str) -> str:
    return f'<tr><th colspan="5" scope="rowgroup" class="of">{_t(title)}</th></tr>'


def _number(bar: Bar) -> str:
    return _t(bar.text) + (f"<sup>{_t(bar.marks)}</sup>" if bar.marks else "")


@lru_cache(maxsize=4096)
def _t(text: str) -> str:
    """A text as it may stand between tags and in attributes; most are asked for again."""
    return escape(text)


def _safe(parts: Iterable[str]) -> SafeString:
    return mark_safe("".join(parts))  # noqa: S308  every text in the parts went through _t
