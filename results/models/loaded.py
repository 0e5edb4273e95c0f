"""What was loaded from the project's own files, so that only a change is loaded again."""

from __future__ import annotations

from django.db import models


class Loaded(models.Model):
    """A file of the project as it was last taken into the database, by its digest."""

    name = models.CharField(max_length=120, unique=True)
    digest = models.CharField(max_length=64)
    at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("name",)
        verbose_name_plural = "loaded files"

    def __str__(self) -> str:
        return self.name
