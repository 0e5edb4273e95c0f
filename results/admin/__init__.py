"""The admin: where the staff keeps labs, systems, sources and comparisons, and moderates runs.

Numbers are never edited here: they come by bundles, and change their standing by
`results.services`, which leaves an audit row.
"""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from results.admin import (
    catalogue,
    hardware,
    labs,
    lists,
    provenance,
    records,
    runs,
    tokens,
    uploads,
)

admin.site.site_header = _("BenchHub: administration")
admin.site.site_title = "BenchHub"
admin.site.index_title = _("What is stored")

__all__ = [
    "catalogue",
    "hardware",
    "labs",
    "lists",
    "provenance",
    "records",
    "runs",
    "tokens",
    "uploads",
]
