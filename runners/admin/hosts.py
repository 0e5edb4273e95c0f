"""Hosts: named, given a system, opened and closed. What they are is detected, not typed."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.translation import gettext_lazy as _

from results.admin.readonly import ModelAdmin, page_link
from runners.machine import Facts
from runners.models import Attempt, Host, Job
from runners.pages.hosts import groups_of, standing_of

EDITABLE = ("name", "system", "node", "is_open")


@admin.register(Host)
class HostAdmin(ModelAdmin):
    """Rows come from workers: none is added by hand, and one with jobs stays."""

    list_display = ("name", "slug", "system", "node", "is_open", "standing", "seen_at", "page")
    list_filter = ("is_open",)
    list_select_related = ("system__processor",)
    search_fields = ("name", "slug", "node", "system__name", "system__slug")
    autocomplete_fields = ("system",)
    readonly_fields = (
        *("slug", "standing", "seen_at", "detected_at", "created_at"),
        *("can_run", "detected"),
    )
    fields = (*EDITABLE, *readonly_fields)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Host]:
        running = Job.objects.filter(host=OuterRef("pk"), state=Job.State.RUNNING)
        found = super().get_queryset(request).select_related("system__processor")
        busy: QuerySet[Host] = found.annotate(is_busy=Exists(running))
        return busy

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Host | None = None) -> bool:
        """Jobs name their host for good. In a list, deleting would ask for each."""
        if obj is None or not super().has_delete_permission(request, obj):
            return False
        return not (obj.jobs.exists() or Attempt.objects.filter(host=obj).exists())

    @admin.display(description=_("page"))
    def page(self, obj: Host) -> Any:
        return page_link(obj)

    @admin.display(description=_("state"))
    def standing(self, obj: Any) -> str:
        return standing_of(obj, obj.is_busy or None, 0).text

    @admin.display(description=_("can run"))
    def can_run(self, obj: Host) -> Any:
        lines = (
            (slug, kept.get("version") or _("ready"))
            if kept.get("ready")
            else (slug, kept.get("missing") or _("not ready"))
            for slug, kept in sorted(obj.runners.items())
        )
        return format_html_join("", "<div>{}: {}</div>", lines) or "–"

    @admin.display(description=_("detected"))
    def detected(self, obj: Host) -> Any:
        lines = (
            (title, detail.label, detail.value, detail.source)
            for title, details in groups_of(Facts.of(obj.facts).details)
            for detail in details
        )
        return format_html_join("", "<div>{} · {}: {} ({})</div>", lines) or "–"
