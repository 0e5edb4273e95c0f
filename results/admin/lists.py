"""External rankings, and stored comparisons."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from results.admin.readonly import ModelAdmin, ModelForm, Seen, SeenInline, page_link
from results.compare import CompareError, compare_systems
from results.models import Comparison, List, ListEntry


class EntryInline(SeenInline):
    model = ListEntry
    fields = ("rank", "label", "system", "value", "scope")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ListEntry]:
        return super().get_queryset(request).select_related("system__processor")


@admin.register(List)
class ListAdmin(Seen, ModelAdmin):
    list_display = ("title", "metric", "length", "date", "source")
    list_filter = ("metric__benchmark",)
    list_select_related = ("metric__benchmark", "source")
    search_fields = ("title", "slug")
    inlines = (EntryInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[List]:
        return super().get_queryset(request).select_related("metric__benchmark", "source")


class ComparisonForm(ModelForm):
    """A comparison is stored only if it can be made."""

    class Meta:
        model = Comparison
        fields = (
            "title",
            "slug",
            "text",
            "columns",
            "benchmarks",
            "factor",
            "baseline",
            "per",
            "is_default",
        )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        try:
            compare_systems(
                systems=_texts(cleaned["columns"]),
                benchmarks=_texts(cleaned["benchmarks"] or []),
                factor=cleaned["factor"],
                baseline=cleaned["baseline"],
                per=cleaned["per"],
            )
        except CompareError as error:
            for name, texts in error.fields.items():
                field = {"system": "columns", "benchmark": "benchmarks"}.get(name, name)
                self.add_error(field if field in self.fields else None, texts)
        return cleaned


def _texts(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]


@admin.register(Comparison)
class ComparisonAdmin(ModelAdmin):
    form = ComparisonForm
    list_display = ("title", "slug", "factor", "per", "is_default", "page")
    list_filter = ("is_default", "factor", "per")
    search_fields = ("title", "slug", "text")
    prepopulated_fields = {"slug": ("title",)}

    @admin.display(description=_("page"))
    def page(self, obj: Comparison) -> Any:
        return page_link(obj)
