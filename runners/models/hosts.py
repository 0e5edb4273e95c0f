"""Machines that take jobs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import models
from django.urls import reverse
from django.utils import timezone

from results.models import System

# A worker writes every few seconds that it is there; silent for longer, it is away.
ALIVE = timedelta(seconds=30)


class Host(models.Model):
    """A machine that takes jobs; it is one System, and one node of it.

    `key` tells the machine from others: a digest, nothing of the machine can be read from it.
    `facts` is what was detected, as `runners.machine.Facts.as_json` writes it, with where each
    value came from; every part of it may be missing. `runners` says by benchmark what can be
    run: {"ready": bool, "version": str, "missing": str}. `seen_at` is when its worker last
    wrote, `place` the boot and process space it lives in. A host that is not open takes no
    new jobs.
    """

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=120)
    key = models.CharField(max_length=64, unique=True, editable=False)
    system = models.ForeignKey(
        System, null=True, blank=True, on_delete=models.PROTECT, related_name="hosts"
    )
    node = models.CharField(max_length=80, blank=True)
    facts: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    runners: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    detected_at = models.DateTimeField(null=True, blank=True)
    seen_at = models.DateTimeField(null=True, blank=True)
    place = models.CharField(max_length=120, blank=True, editable=False)
    is_open = models.BooleanField("takes jobs", default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("slug",)

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return f"{reverse('hosts')}#{self.slug}"

    @property
    def queue(self) -> str:
        """The name of its queue at the broker: no dots, which a file transport takes apart."""
        return f"host-{self.slug}"

    @property
    def is_alive(self) -> bool:
        """Whether its worker wrote lately."""
        return self.seen_at is not None and timezone.now() - self.seen_at < ALIVE
