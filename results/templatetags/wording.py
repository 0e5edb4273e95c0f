"""The functions of `results.wording` for templates."""

from __future__ import annotations

import re
from collections.abc import Sequence

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from results import wording
from results.catalogue.base import Metric
from results.compare import Cell
from results.queries import Stored

register = template.Library()
_RANGE = re.compile(r"≈?\d[\d.,]*–[\d.,]*\d")

register.filter("ratio", wording.ratio_words)
register.filter("unit_words", wording.unit_words)
register.filter("count_words", wording.count_words)
register.filter("scope_words", wording.scope_words)
register.filter("trust_words", wording.trust_words)
register.filter("date_words", wording.date_words)
register.filter("day_words", wording.day_words)
register.filter("language_words", wording.language_words)
register.filter("systems_words", wording.systems_words)
register.filter("figures_words", wording.figures_words)
register.filter("row_words", wording.row_words)
register.filter("row_title", wording.row_title)
register.filter("joined", wording.joined)
register.filter("system_facts", wording.system_facts)
register.filter("system_cores", wording.core_words)
register.filter("system_memory", wording.memory_words)
register.filter("run_words", wording.run_words)
register.filter("role_words", wording.role_words)
register.filter("values_words", wording.values_words)


@register.filter
def commas(value: float | None) -> str:
    """A whole number with thousands commas: '1,536'; a dash where it is missing."""
    return wording.MISSING if value is None else f"{value:,.0f}"


@register.filter
def plain(value: float | None) -> str:
    """A number as it is stated, with thousands commas: '3.4', '1,536'."""
    return wording.MISSING if value is None else f"{value:,.12g}"


@register.filter
def whole_ranges(text: str) -> SafeString:
    """The text, escaped, with line breaks inside '270–300' ruled out."""
    return mark_safe(_RANGE.sub(r'<span class="nw">\g<0></span>', str(escape(text))))  # noqa: S308


@register.simple_tag
def better(metric: Metric) -> SafeString:
    """An arrow for the eye and 'higher is better' for everyone else."""
    words = wording.direction(metric)
    return format_html(
        '<span class="dir" title="{}" aria-hidden="true">{}</span><span class="vh"> {}</span>',
        words,
        wording.arrow(metric),
        words,
    )


@register.filter
def direction(metric: Metric) -> str:
    """'higher is better'."""
    return wording.direction(metric)


@register.simple_tag
def lang_of(text: str, hints: Sequence[str] = ()) -> SafeString:
    """` lang="ja"` for a text in Chinese, Japanese or Korean script, else nothing."""
    code = wording.cjk_language(str(text), hints)
    return format_html(' lang="{}"', code) if code else mark_safe("")


@register.filter
def qualified(cell: Cell | Stored, text: str) -> str:
    """'≈0.5' where the source calls the cell's value approximate."""
    return wording.qualified(text, cell.qualifier)


@register.simple_tag
def colour(position: int) -> str:
    """The class of a system's colour and pattern; beyond six they come round again."""
    return f"s{position % 6 + 1}"
