"""What other apps add to the pages, for templates."""

from __future__ import annotations

from typing import Any

from django import template

from results import hooks

register = template.Library()


@register.simple_tag
def head_links(reader: Any) -> list[hooks.Link]:
    """The links that were added to the head of every page, for a reader."""
    return hooks.all_links(hooks.head_links, reader)


@register.filter
def leads_to(link: hooks.Link, here: str) -> bool:
    """Whether the page of that name counts as being where the link leads."""
    return bool(here) and here in link.mark.split()
