"""Runs and measurements, as far as the asker may see them."""

from __future__ import annotations

from typing import Any

from django.db.models import OuterRef, Prefetch, QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view

from results.api import filters, serializers
from results.api.pagination import Newest
from results.api.schema import BY_PARAMETER
from results.api.views.base import ById
from results.models import Measurement, Run
from results.queries import visible_measurements, visible_runs


@extend_schema_view(list=extend_schema(parameters=[BY_PARAMETER]))
class RunViewSet(ById):
    """Executions of a benchmark; newest first. What is not published shows to its lab alone."""

    queryset = Run.objects.none()
    serializer_class = serializers.RunSerializer
    detail_serializer_class = serializers.RunDetailSerializer
    filterset_class = filters.RunFilter
    pagination_class = Newest

    def get_queryset(self) -> QuerySet[Any]:
        """Visible runs, and of their corrections those that are visible too."""
        seen = visible_runs(self.request.user).order_by()
        rows = (
            visible_runs(self.request.user)
            .select_related("lab", "system", "benchmark", "setup", "source")
            .prefetch_related("artefacts")
            .annotate(
                seen_supersedes=seen.filter(pk=OuterRef("supersedes_id")).values("pk")[:1],
                seen_superseded_by=seen.filter(supersedes=OuterRef("pk")).values("pk")[:1],
            )
        )
        if not self.detail:
            return rows
        readings = Measurement.objects.select_related("metric", "artefact").order_by("id")
        return rows.prefetch_related(Prefetch("measurements", queryset=readings))


@extend_schema_view(list=extend_schema(parameters=[BY_PARAMETER]))
class MeasurementViewSet(ById):
    """Single values of runs; newest first."""

    queryset = Measurement.objects.none()
    serializer_class = serializers.MeasurementSerializer
    filterset_class = filters.MeasurementFilter
    pagination_class = Newest

    def get_queryset(self) -> QuerySet[Any]:
        """Visible measurements; what they refer to is fetched for the page alone, unsorted."""
        runs = Run.objects.select_related("lab", "system", "benchmark", "source")
        return visible_measurements(self.request.user).prefetch_related(
            "metric", "artefact", Prefetch("run", queryset=runs)
        )
