"""Where a value comes from: published sources and files kept unchanged."""

from __future__ import annotations

from django.db import models


class Source(models.Model):
    """A published source. `date` is as precise as known: 2026, 2026-11 or 2026-11-30."""

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=300)
    publisher = models.CharField(max_length=120, blank=True)
    date = models.CharField(max_length=10, blank=True)
    language = models.JSONField(default=list, blank=True)
    kind = models.CharField(max_length=120, blank=True)
    url = models.URLField(max_length=500, blank=True)
    note = models.TextField(blank=True)

    class Meta:
        ordering = ("-date", "slug")

    def __str__(self) -> str:
        return self.title


class Artefact(models.Model):
    """A file kept unchanged under its SHA-256; `size` in bytes."""

    sha256 = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=200)
    size = models.PositiveBigIntegerField()
    stored = models.BooleanField(default=False)

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.name} ({self.sha256[:12]})"
