"""Column keys as they stand in an address: `slug` or `slug@key=value,key=value`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from django.utils.translation import gettext as _

# Signs with a meaning in a key; in a value they are percent-encoded.
KEEP = " /+()[]{}:;!*'$&?#-_.~"


@dataclass(frozen=True)
class Wanted:
    """A column asked for: a system's slug and the values it is pinned to ("" is 'absent')."""

    slug: str
    pins: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return format_key(self.slug, self.pins)


def parse_key(text: str) -> Wanted:
    """Read a column key. Raises ValueError with the part that is wrong."""
    slug, at, rest = text.partition("@")
    if not slug or (at and not rest):
        raise ValueError(_("%r is not a column: expected slug or slug@name=value") % text)
    pins: dict[str, str] = {}
    for part in rest.split(",") if rest else ():
        name, equals, value = part.partition("=")
        if not name or not equals or name in pins:
            words = {"part": part, "text": text}
            raise ValueError(
                _("%(part)r in %(text)r is not a pin: expected name=value, each name once") % words
            )
        pins[name] = unquote(value)
    return Wanted(slug, pins)


def format_key(slug: str, pins: Mapping[str, str]) -> str:
    """The key of a column; the reverse of `parse_key`."""
    if not pins:
        return slug
    return (
        slug + "@" + ",".join(f"{name}={quote(value, safe=KEEP)}" for name, value in pins.items())
    )
