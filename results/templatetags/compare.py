"""What the comparison's templates need beside words and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from results.compare import Column
from results.pages import markup

register = template.Library()

register.filter("cells", markup.cells)
register.filter("drawing", markup.drawing)
register.filter("numbers", markup.numbers)


@register.filter
def entry(found: Mapping[str, str], key: str) -> str:
    """The value of a mapping whose keys are not names; empty where there is none."""
    return found.get(key, "")


@register.filter
def unbroken(text: str, columns: Iterable[Column]) -> SafeString:
    """The text, escaped, with line breaks inside the columns' names ruled out."""
    html = str(escape(text))
    names = {str(escape(c.system.short)) for c in columns if " " in c.system.short}
    for name in sorted(names, key=len, reverse=True):
        html = html.replace(name, format_html('<span class="nw">{}</span>', mark_safe(name)))  # noqa: S308
    return mark_safe(html)  # noqa: S308
