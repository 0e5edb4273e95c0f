"""Stored comparisons and lists, and the comparison itself as JSON and as a table."""

from __future__ import annotations

from django.db.models import Prefetch, QuerySet
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from results import queries
from results.api import csv, filters, schema, serializers
from results.api.answers import table_answer
from results.api.views.base import BySlug, Reads
from results.compare import Table, compare_systems
from results.models import Comparison, List, ListEntry
from results.request import read_state


class ComparisonViewSet(BySlug):
    """Stored comparisons."""

    queryset = Comparison.objects.order_by("slug")
    serializer_class = serializers.ComparisonSerializer
    filterset_class = filters.ComparisonFilter


class ListViewSet(BySlug):
    """External rankings to place a value in."""

    queryset = List.objects.select_related("metric__benchmark", "source").order_by("slug")
    serializer_class = serializers.ListSerializer
    detail_serializer_class = serializers.ListDetailSerializer
    filterset_class = filters.ListFilter

    def get_queryset(self) -> QuerySet[List]:
        rows = super().get_queryset()
        if not self.detail:
            return rows
        entries = ListEntry.objects.select_related("system").order_by("rank", "id")
        return rows.prefetch_related(Prefetch("entries", queryset=entries))


class Compares(Reads):
    """Reads the question; nobody is asked who they are, since only what is published enters."""

    authentication_classes = []
    errors = ("400",)

    def table(self, request: Request) -> Table:
        """The comparison that the address asks for. Raises CompareError."""
        query = request.query_params
        stored = None if any(query.getlist("system")) else queries.default_comparison()
        return compare_systems(**read_state(query, stored, strict=True).arguments())


class CompareView(Compares):
    """Systems side by side."""

    @extend_schema(
        operation_id="compare",
        parameters=schema.COMPARE,
        responses=schema.TableSerializer,
    )
    def get(self, request: Request) -> Response:
        """Columns, rows and cells; without `system=` those of the default comparison."""
        return Response(table_answer(self.table(request)))


class CompareCsvView(Compares):
    """Systems side by side, as a spreadsheet reads it."""

    @extend_schema(
        operation_id="compare_csv",
        tags=["compare"],
        parameters=schema.COMPARE,
        responses={(200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """The same comparison as a table: a line a cell, with an axis also a line a point."""
        lines = csv.lines(self.table(request))
        answer = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
        answer["Content-Disposition"] = 'attachment; filename="comparison.csv"'
        return answer
