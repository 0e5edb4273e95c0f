"""External rankings to place a value in, and stored comparisons."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.urls import reverse

from results.models.catalogue import Metric
from results.models.hardware import System
from results.models.provenance import Source


class List(models.Model):
    """An external ranking ('STREAM standard results, 1 CPU, top 15'), in the metric's unit."""

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    metric = models.ForeignKey(Metric, on_delete=models.PROTECT, related_name="lists")
    source = models.ForeignKey(Source, on_delete=models.PROTECT, related_name="lists")
    date = models.CharField(max_length=10, blank=True)
    length = models.PositiveIntegerField()
    note = models.TextField(blank=True)

    class Meta:
        ordering = ("slug",)

    def __str__(self) -> str:
        return self.title


class ListEntry(models.Model):
    """One place in a list; `parameters` say how the entry was measured, if the list does."""

    list = models.ForeignKey(List, on_delete=models.CASCADE, related_name="entries")
    rank = models.PositiveIntegerField()
    label = models.CharField(max_length=120)
    system = models.ForeignKey(
        System, null=True, blank=True, on_delete=models.PROTECT, related_name="list_entries"
    )
    value = models.FloatField()
    scope = models.CharField(max_length=10, blank=True)
    parameters = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ("list", "rank", "id")
        verbose_name_plural = "list entries"
        constraints = [
            models.UniqueConstraint(fields=("list", "rank", "label"), name="one_list_entry")
        ]

    def __str__(self) -> str:
        return f"{self.rank}. {self.label}"


class Comparison(models.Model):
    """A stored comparison: columns, rows, factor, baseline, normalisation and text.

    `columns` are keys as in the address (`slug` or `slug@key=value`), `benchmarks` are
    `slug` or `slug/workload`; empty means all. One may be the default of `/compare/`.
    """

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    text = models.TextField(blank=True)
    columns = models.JSONField(default=list)
    benchmarks = models.JSONField(default=list, blank=True)
    factor = models.CharField(max_length=60, default="system")
    baseline = models.CharField(max_length=200, blank=True)
    per = models.CharField(max_length=10, default="total")
    is_default = models.BooleanField(default=False)

    class Meta:
        ordering = ("slug",)
        constraints = [
            models.UniqueConstraint(
                fields=("is_default",), condition=Q(is_default=True), name="one_default_comparison"
            )
        ]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("comparison", args=[self.slug])
