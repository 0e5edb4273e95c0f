"""Benchmarks and metrics: they come from the catalogue's files, and are only looked at here."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from results.admin.readonly import ModelAdmin, Seen, SeenInline, page_link
from results.models import Benchmark, Metric


class MetricInline(SeenInline):
    model = Metric
    fields = ("workload", "name", "unit", "higher_is_better", "order")


@admin.register(Benchmark)
class BenchmarkAdmin(Seen, ModelAdmin):
    list_display = ("name", "slug", "category", "order", "page")
    list_filter = ("category",)
    search_fields = ("name", "slug")
    inlines = (MetricInline,)

    @admin.display(description=_("page"))
    def page(self, obj: Benchmark) -> Any:
        return page_link(obj)


@admin.register(Metric)
class MetricAdmin(Seen, ModelAdmin):
    list_display = ("full_name", "benchmark", "unit", "higher_is_better")
    list_filter = ("benchmark", "higher_is_better")
    list_select_related = ("benchmark",)
    search_fields = ("workload", "name", "benchmark__name", "benchmark__slug")

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).select_related("benchmark")
