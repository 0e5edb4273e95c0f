"""Benchmarks and metrics, as far as the catalogue describes them."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from results import catalogue
from results.api import filters, serializers
from results.api.views.base import ById, BySlug
from results.models import Benchmark, Metric


class BenchmarkViewSet(BySlug):
    """Programs and their rules, in the catalogue's order."""

    queryset = Benchmark.objects.order_by("order", "slug")
    serializer_class = serializers.BenchmarkSerializer
    detail_serializer_class = serializers.BenchmarkDetailSerializer
    filterset_class = filters.BenchmarkFilter

    def get_queryset(self) -> QuerySet[Any]:
        rows = super().get_queryset().filter(slug__in=list(catalogue.benchmarks()))
        return rows.prefetch_related("metrics__benchmark") if self.detail else rows


class MetricViewSet(ById):
    """What is read off a workload, in which unit and direction."""

    queryset = Metric.objects.select_related("benchmark").order_by(
        "benchmark__order", "benchmark__slug", "order", "id"
    )
    serializer_class = serializers.MetricSerializer
    filterset_class = filters.MetricFilter
