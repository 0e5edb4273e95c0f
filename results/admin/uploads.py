"""Uploads, to be looked at: what is done with them is done on their own pages."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from results.admin.readonly import ModelAdmin, Seen, SeenInline, page_link
from results.models import Upload, UploadFile


class FileInline(SeenInline):
    model = UploadFile
    fields = ("name", "artefact", "size")
    readonly_fields = ("size",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[UploadFile]:
        return super().get_queryset(request).select_related("artefact")

    @admin.display(description=_("bytes"))
    def size(self, obj: UploadFile) -> int:
        return obj.artefact.size


@admin.register(Upload)
class UploadAdmin(Seen, ModelAdmin):
    list_display = ("id", "state", "lab", "created_at", "created_by", "token", "sent_at", "page")
    list_filter = ("state", "lab")
    list_select_related = ("lab", "created_by", "token__lab")
    search_fields = ("=id", "lab__name", "lab__slug", "created_by__username", "files__name")
    show_full_result_count = False
    inlines = (FileInline,)
    # A choice of all runs there are is no way to show those of one upload.
    exclude = ("runs",)
    readonly_fields = ("page",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Upload]:
        return super().get_queryset(request).select_related("lab", "created_by", "token__lab")

    @admin.display(description=_("page"))
    def page(self, obj: Upload) -> Any:
        return page_link(obj)
