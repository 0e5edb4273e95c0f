"""Labs and their members."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db import models
from django.db.models import Count, QuerySet
from django.http import HttpRequest

from results.admin.readonly import ModelAdmin, TabularInline
from results.models import Lab, Membership


class MembershipInline(TabularInline):
    model = Membership
    extra = 1
    raw_id_fields = ("user",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Membership]:
        return super().get_queryset(request).select_related("user", "lab")


@admin.register(Lab)
class LabAdmin(ModelAdmin):
    formfield_overrides = {models.URLField: {"assume_scheme": "https"}}
    list_display = ("name", "slug", "kind", "homepage", "member_count")
    list_filter = ("kind",)
    search_fields = ("name", "slug")
    prepopulated_fields = {"slug": ("name",)}
    inlines = (MembershipInline,)

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).annotate(member_count=Count("memberships"))

    @admin.display(description="members", ordering="member_count")
    def member_count(self, obj: Any) -> int:
        return int(obj.member_count)
