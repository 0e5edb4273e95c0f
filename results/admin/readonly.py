"""What may be looked at and not be changed by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext as _

if TYPE_CHECKING:
    # Generic in the stubs, plain classes when run.
    ModelAdmin = admin.ModelAdmin[Any]
    TabularInline = admin.TabularInline[Any, Any]
    ModelForm = forms.ModelForm[Any]
else:
    ModelAdmin = admin.ModelAdmin
    TabularInline = admin.TabularInline
    ModelForm = forms.ModelForm


class Seen:
    """For admins and inlines: view only."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class SeenInline(Seen, TabularInline):
    """Rows of another table on a page, to be read."""

    extra = 0
    can_delete = False
    show_change_link = False


def row_link(address: str, text: object) -> Any:
    """A link in a list or on a page of the admin; the text is escaped."""
    return format_html('<a href="{}">{}</a>', address, text)


def page_link(obj: Model) -> Any:
    """A link from the admin to an object's public page."""
    return row_link(obj.get_absolute_url(), _("page"))  # type: ignore[attr-defined]
