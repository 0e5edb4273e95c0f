"""Sources, files and setups: where values come from."""

from __future__ import annotations

from django.contrib import admin
from django.db import models

from results.admin.readonly import ModelAdmin, Seen
from results.models import Artefact, Setup, Source


@admin.register(Source)
class SourceAdmin(ModelAdmin):
    formfield_overrides = {models.URLField: {"assume_scheme": "https"}}
    list_display = ("title", "publisher", "date", "kind")
    list_filter = ("publisher",)
    search_fields = ("title", "slug", "publisher")


@admin.register(Artefact)
class ArtefactAdmin(Seen, ModelAdmin):
    list_display = ("name", "sha256", "size", "stored")
    list_filter = ("stored",)
    search_fields = ("name", "sha256")


@admin.register(Setup)
class SetupAdmin(Seen, ModelAdmin):
    list_display = ("__str__", "digest")
    search_fields = ("digest", "fields")
