"""The catalogue's rows in the database: what runs and measurements point to."""

from __future__ import annotations

from django.db import models
from django.urls import reverse

from results import catalogue
from results.catalogue import base


class Benchmark(models.Model):
    """A program and its rules; its text lives in `results/catalogue/`."""

    slug = models.CharField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    category = models.CharField(max_length=20)
    order = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ("order",)

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("benchmark", args=[self.slug])

    @property
    def entry(self) -> base.Benchmark:
        """The catalogue's file for it. Raises LookupError if that file is gone."""
        found = catalogue.get(self.slug)
        if found is None:
            raise LookupError(f"no catalogue file describes benchmark {self.slug!r}")
        return found


class Metric(models.Model):
    """What is read off a workload, in its canonical unit."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="metrics")
    workload = models.CharField(max_length=80)
    name = models.CharField(max_length=60)
    unit = models.CharField(max_length=30)
    higher_is_better = models.BooleanField()
    order = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ("benchmark__order", "order")
        constraints = [
            models.UniqueConstraint(fields=("benchmark", "workload", "name"), name="one_metric")
        ]

    def __str__(self) -> str:
        return f"{self.benchmark.slug}/{self.full_name}"

    @property
    def full_name(self) -> str:
        return f"{self.workload}.{self.name}"
