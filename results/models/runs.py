"""Runs and what was measured in them."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from results.models.catalogue import Benchmark, Metric
from results.models.hardware import System
from results.models.labs import Lab
from results.models.provenance import Artefact, Source
from results.models.setups import Setup

BIGGEST = 1e300


class Trust(models.IntegerChoices):
    """Who stands behind a value; the smaller, the more."""

    VERIFIED = 1, _("verified")
    SOURCE = 2, _("source")
    VENDOR = 3, _("vendor")
    COMMUNITY = 4, _("community")


class Scope(models.TextChoices):
    """What was loaded."""

    SYSTEM = "system", _("system")
    SOCKET = "socket", _("one socket")
    CORES = "cores", _("a slice of cores")
    THREAD = "thread", _("one thread")
    SHARD = "shard", _("one shard")
    CLUSTER = "cluster", _("cluster")


class Qualifier(models.TextChoices):
    """How exactly a source states a value."""

    EXACT = "exact", _("exact")
    APPROXIMATE = "approximate", _("approximate")
    CHART_ONLY = "chart_only", _("in a chart caption only")


class Run(models.Model):
    """One execution of a benchmark on a system in a setup with parameters, by a lab.

    `parameters` keep their catalogue types; `fingerprint` covers the tracked ones and the
    tracked setup fields. `assumed` names parameters that the source does not state.
    `identity` is a SHA-256 over all that tells this run from another.
    """

    class State(models.TextChoices):
        DRAFT = "draft", _("draft")
        PENDING = "pending", _("in review")
        SCHEDULED = "scheduled", _("scheduled")
        PUBLISHED = "published", _("published")
        WITHDRAWN = "withdrawn", _("withdrawn")

    identity = models.CharField(max_length=64, unique=True, editable=False)
    ordinal = models.PositiveIntegerField(default=0, editable=False)
    lab = models.ForeignKey(Lab, on_delete=models.PROTECT, related_name="runs")
    system = models.ForeignKey(System, on_delete=models.PROTECT, related_name="runs")
    node = models.CharField(max_length=80, blank=True)
    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="runs")
    version = models.CharField(max_length=60, blank=True)
    scope = models.CharField(max_length=10, choices=Scope)
    setup = models.ForeignKey(Setup, on_delete=models.PROTECT, related_name="runs")
    parameters = models.JSONField(default=dict, blank=True)
    assumed = models.JSONField(default=list, blank=True)
    fingerprint = models.CharField(max_length=40, editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    source = models.ForeignKey(
        Source, null=True, blank=True, on_delete=models.PROTECT, related_name="runs"
    )
    artefacts = models.ManyToManyField(Artefact, blank=True, related_name="runs")
    note = models.TextField(blank=True)

    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)
    publish_at = models.DateTimeField(null=True, blank=True)
    published_at = models.DateTimeField(null=True, blank=True)
    supersedes = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="superseded_by"
    )
    reason = models.TextField(blank=True)
    not_ranked_because = models.CharField(max_length=300, blank=True)
    trust = models.PositiveSmallIntegerField(choices=Trust, default=Trust.COMMUNITY)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="runs",
    )

    class Meta:
        ordering = ("-id",)
        indexes = [
            models.Index(fields=("state", "-id"), name="run_state"),
            models.Index(fields=("system", "benchmark", "state"), name="run_system_benchmark"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=~Q(state="scheduled") | Q(publish_at__isnull=False),
                name="scheduled_run_has_a_date",
            ),
            models.CheckConstraint(
                condition=~Q(state="published") | Q(published_at__isnull=False),
                name="published_run_has_a_date",
            ),
            models.CheckConstraint(
                condition=~Q(state="withdrawn") | ~Q(reason=""),
                name="withdrawn_run_has_a_reason",
            ),
            models.CheckConstraint(
                condition=Q(supersedes__isnull=True) | ~Q(supersedes=F("id")),
                name="run_does_not_supersede_itself",
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("run", args=[self.pk])

    @property
    def is_published(self) -> bool:
        return self.state == self.State.PUBLISHED


class Measurement(models.Model):
    """One metric's value in a run, in the metric's unit: a value, or a reported range.

    `printed` is what the artefact or source said. `covers` lists further variants (as
    parameter values) that a reported range was given for at once. Evidence is an
    artefact with a range of lines, else the run's source.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="measurements")
    metric = models.ForeignKey(Metric, on_delete=models.PROTECT, related_name="measurements")
    summary = models.ForeignKey(
        "results.Summary",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="measurements",
    )
    value = models.FloatField(null=True, blank=True)
    low = models.FloatField(null=True, blank=True)
    high = models.FloatField(null=True, blank=True)
    samples = models.JSONField(null=True, blank=True)
    qualifier = models.CharField(max_length=12, choices=Qualifier, default=Qualifier.EXACT)
    printed = models.CharField(max_length=120, blank=True)
    covers = models.JSONField(default=list, blank=True)
    artefact = models.ForeignKey(
        Artefact, null=True, blank=True, on_delete=models.PROTECT, related_name="measurements"
    )
    line_from = models.PositiveIntegerField(null=True, blank=True)
    line_to = models.PositiveIntegerField(null=True, blank=True)
    note = models.TextField(blank=True)

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(fields=("run", "metric"), name="one_value_a_metric"),
            models.CheckConstraint(
                condition=Q(value__isnull=False, low__isnull=True, high__isnull=True)
                | Q(value__isnull=True, low__isnull=False)
                | Q(value__isnull=True, high__isnull=False),
                name="a_value_or_a_range",
            ),
            models.CheckConstraint(
                condition=Q(low__isnull=True) | Q(high__isnull=True) | Q(low__lte=F("high")),
                name="range_is_in_order",
            ),
            models.CheckConstraint(
                condition=Q(value__isnull=True) | Q(value__gte=-BIGGEST, value__lte=BIGGEST),
                name="value_is_finite",
            ),
            models.CheckConstraint(
                condition=Q(line_from__isnull=True) | Q(line_from__lte=F("line_to")),
                name="lines_are_in_order",
            ),
        ]

    def __str__(self) -> str:
        return f"measurement {self.pk}"

    @property
    def is_range(self) -> bool:
        return self.value is None
