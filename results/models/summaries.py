"""What pages read: one row for each cell that published runs give."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from results.models.catalogue import Benchmark, Metric
from results.models.hardware import System
from results.models.labs import Lab
from results.models.runs import Qualifier, Run, Scope, Trust


class Summary(models.Model):
    """Published runs of one system, setup, lab, benchmark version, metric, scope, variant,
    axis value and scale, in the metric's unit.

    `median`, `low`, `high` are over the `n` values; with no value (n = 0) `low` and
    `high` are a reported range and `median` is None. `variant`, `axis`, `scale`,
    `tracked` hold the parameters by role; `tracked` also the setup fields at their
    tracked depth. `cores`, `threads`, `nodes` are what the best run loaded, `watts` what
    it drew. `samples` are the sorted values as little-endian doubles.
    """

    key = models.CharField(max_length=40, unique=True)
    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="summaries")
    lab = models.ForeignKey(Lab, on_delete=models.CASCADE, related_name="summaries")
    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="summaries")
    metric = models.ForeignKey(Metric, on_delete=models.CASCADE, related_name="summaries")
    version = models.CharField(max_length=60, blank=True)
    scope = models.CharField(max_length=10, choices=Scope)
    fingerprint = models.CharField(max_length=40)
    variant = models.JSONField(default=dict)
    axis = models.JSONField(default=dict)
    scale = models.JSONField(default=dict)
    tracked = models.JSONField(default=dict)
    assumed = models.JSONField(default=list)
    ranked = models.BooleanField(default=True)
    n = models.PositiveIntegerField()
    ranges = models.PositiveIntegerField(default=0)
    nodes_seen = models.PositiveIntegerField(default=1)
    node_names = models.JSONField(default=list)
    median = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    qualifier = models.CharField(max_length=12, choices=Qualifier)
    trust = models.PositiveSmallIntegerField(choices=Trust)
    best_run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    newest = models.DateTimeField()
    cores = models.PositiveIntegerField(null=True)
    threads = models.PositiveIntegerField(null=True)
    nodes = models.PositiveIntegerField(null=True)
    watts = models.FloatField(null=True)
    samples = models.BinaryField(default=bytes)

    class Meta:
        verbose_name_plural = "summaries"
        ordering = ("id",)
        indexes = [
            models.Index(fields=("system", "benchmark"), name="summary_system_benchmark"),
            models.Index(fields=("benchmark", "metric"), name="summary_metric"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(n__gt=0, median__isnull=False) | Q(n=0, median__isnull=True),
                name="summary_has_values_or_a_range",
            ),
        ]

    def __str__(self) -> str:
        return f"summary {self.key[:12]}"
