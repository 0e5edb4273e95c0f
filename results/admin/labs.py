"""Labs and their members."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db import models
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from results.admin.readonly import ModelAdmin, SeenInline, TabularInline, row_link
from results.admin.tokens import state_of
from results.models import Lab, Membership, Token


class MembershipInline(TabularInline):
    model = Membership
    extra = 1
    raw_id_fields = ("user",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Membership]:
        return super().get_queryset(request).select_related("user", "lab")


class TokenInline(SeenInline):
    """A lab's tokens, to be looked at; each leads to its page."""

    model = Token
    fields = ("prefix", "name", "scopes", "created_at", "last_used_at", "state")
    readonly_fields = fields
    show_change_link = True

    @admin.display(description=_("state"))
    def state(self, obj: Token) -> str:
        return state_of(obj)


@admin.register(Lab)
class LabAdmin(ModelAdmin):
    formfield_overrides = {models.URLField: {"assume_scheme": "https"}}
    list_display = ("name", "slug", "kind", "homepage", "member_count")
    list_filter = ("kind",)
    search_fields = ("name", "slug")
    prepopulated_fields = {"slug": ("name",)}
    readonly_fields = ("new_token",)
    inlines = (MembershipInline, TokenInline)

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).annotate(member_count=Count("memberships"))

    @admin.display(description=_("tokens"))
    def new_token(self, obj: Lab) -> Any:
        """Where a token of the lab is made; a lab that is not stored yet has none."""
        if obj.pk is None:
            return "–"
        return row_link(f"{reverse('admin:results_token_add')}?lab={obj.pk}", _("New token…"))

    @admin.display(description="members", ordering="member_count")
    def member_count(self, obj: Any) -> int:
        return int(obj.member_count)
