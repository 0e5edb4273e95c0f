"""The software and settings on a system at the time of a run."""

from __future__ import annotations

from django.db import models


class Setup(models.Model):
    """All setup fields of a run, as text; equal ones share a row.

    `inferred` holds fields that no source states. `digest` is the SHA-256 of both.
    """

    digest = models.CharField(max_length=64, unique=True, editable=False)
    fields = models.JSONField(default=dict, blank=True)
    inferred = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        words = [self.fields[name] for name in ("os", "kernel", "compiler") if name in self.fields]
        return ", ".join(words) or f"setup {self.digest[:8]}"
