"""'Did you mean …?' for names that are not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from django.utils.translation import gettext as _

LONGEST_SHOWN = 100


def hint(name: str, known: Iterable[str]) -> str:
    """The nearest known names, those that contain it first; else all, if there are few."""
    names = list(known)
    near = [known for known in names if len(name) > 2 and name in known][:3]
    near = near or difflib.get_close_matches(name[:LONGEST_SHOWN], names, n=3, cutoff=0.5)
    if near:
        return _("did you mean %(names)s?") % {"names": ", ".join(near)}
    return _("expected one of %(names)s") % {"names": ", ".join(names[:40])}
