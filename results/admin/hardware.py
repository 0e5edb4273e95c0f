"""Processors and systems. A changed system's cells are worked out anew."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from results import services
from results.admin.readonly import ModelAdmin, page_link
from results.models import Processor, System


@admin.register(Processor)
class ProcessorAdmin(ModelAdmin):
    list_display = ("name", "vendor", "isa", "microarchitecture", "cores", "threads", "tdp_w")
    list_filter = ("is_public", "vendor", "isa", "microarchitecture")
    search_fields = ("name", "short_name", "slug", "vendor", "microarchitecture")
    prepopulated_fields = {"slug": ("name",)}
    readonly_fields = ("is_public",)


@admin.register(System)
class SystemAdmin(ModelAdmin):
    list_display = (
        "name",
        "processor",
        "vendor",
        "sockets",
        "memory_type",
        "memory_gb",
        "source",
        "is_public",
        "page",
    )
    list_filter = ("is_public", "vendor", "processor__vendor", "processor__isa", "memory_type")
    list_select_related = ("processor", "source")
    search_fields = ("name", "slug", "vendor", "processor__name", "processor__short_name")
    autocomplete_fields = ("processor", "members", "source")
    prepopulated_fields = {"slug": ("name",)}
    # What is measured on it makes it public, and nothing takes that back.
    readonly_fields = ("is_public",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[System]:
        return super().get_queryset(request).select_related("processor", "source")

    def formfield_for_manytomany(self, db_field: Any, request: Any, **kwargs: Any) -> Any:
        if db_field.name == "members":
            kwargs["queryset"] = System.objects.select_related("processor")
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def save_related(self, request: Any, form: Any, formsets: Any, change: bool) -> None:
        """Facts and members of a system are part of its cells."""
        super().save_related(request, form, formsets, change)
        if change and form.has_changed():
            services.refresh_systems(systems=[form.instance.pk])
        if form.instance.is_public:
            services.reveal(systems=[form.instance.pk])

    @admin.display(description=_("page"))
    def page(self, obj: System) -> Any:
        return page_link(obj)
