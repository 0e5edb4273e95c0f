"""What the comparison's templates need beside words and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from results.compare import Column
from results.pages import markup

register = template.Library()

register.filter("alone", markup.alone)
register.filter("boxes", markup.boxes)
register.filter("data", markup.data)
register.filter("lines", markup.lines)
register.filter("links", markup.links)
register.filter("panels", markup.panels)
register.filter("numbers", markup.numbers)


@register.filter
def entry(found: Mapping[str, str], key: str) -> str:
    """The value of a mapping whose keys are not names; empty where there is none."""
    return found.get(key, "")


@register.filter
def unbroken(text: str, columns: Iterable[Column]) -> SafeString:
    """The text, escaped, with line breaks inside the columns' names ruled out."""
    html = str(escape(text))
    names = {c.system.short for c in columns if " " in c.system.short and c.system.short in text}
    for name in sorted(map(escape, names), key=len, reverse=True):
        html = html.replace(name, f'<span class="nw">{name}</span>')
    return mark_safe(html)  # noqa: S308
