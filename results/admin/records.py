"""What is worked out or written by the hub itself: summaries and the audit trail."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.urls import reverse

from results.admin.readonly import ModelAdmin, Seen, row_link
from results.models import AuditEntry, Loaded, Summary


@admin.register(AuditEntry)
class AuditEntryAdmin(Seen, ModelAdmin):
    list_display = ("at", "actor_name", "action", "run_link", "upload_link", "reason")
    list_filter = ("action", "at")
    search_fields = ("actor_name", "reason", "=run__id", "=upload__id")
    show_full_result_count = False
    fields = ("at", "actor_name", "action", "run_link", "upload_link", "before", "after", "reason")
    readonly_fields = ("run_link", "upload_link")

    @admin.display(description="run", ordering="run_id")
    def run_link(self, obj: AuditEntry) -> Any:
        if obj.run_id is None:
            return "–"
        return row_link(reverse("admin:results_run_change", args=[obj.run_id]), f"run {obj.run_id}")

    @admin.display(description="upload", ordering="upload_id")
    def upload_link(self, obj: AuditEntry) -> Any:
        if obj.upload_id is None:
            return "–"
        address = reverse("admin:results_upload_change", args=[obj.upload_id])
        return row_link(address, f"upload {obj.upload_id}")


@admin.register(Summary)
class SummaryAdmin(Seen, ModelAdmin):
    list_display = ("metric", "system", "lab", "scope", "median", "low", "high", "n", "best_run_id")
    list_filter = ("benchmark", "lab", "scope", "ranked")
    list_select_related = ("metric__benchmark", "system__processor", "lab")
    search_fields = ("system__name", "system__slug", "metric__workload", "key")
    show_full_result_count = False
    exclude = ("samples",)


@admin.register(Loaded)
class LoadedAdmin(Seen, ModelAdmin):
    list_display = ("name", "digest", "at")
    search_fields = ("name",)
