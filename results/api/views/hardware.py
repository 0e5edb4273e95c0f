"""Labs, processors and systems, as far as the asker may know of them."""

from __future__ import annotations

from typing import Any

from django.db.models import Prefetch, QuerySet

from results.api import filters, serializers
from results.api.views.base import BySlug
from results.models import Lab, Processor, System
from results.queries import visible_processors, visible_systems


class LabViewSet(BySlug):
    """Who measured."""

    queryset = Lab.objects.order_by("slug")
    serializer_class = serializers.LabSerializer
    filterset_class = filters.LabFilter


class ProcessorViewSet(BySlug):
    """CPU models. What no published result was measured on shows to its lab alone."""

    queryset = Processor.objects.none()
    serializer_class = serializers.ProcessorSerializer
    filterset_class = filters.ProcessorFilter

    def get_queryset(self) -> QuerySet[Any]:
        return visible_processors(self.request.user).order_by("slug")


class SystemViewSet(BySlug):
    """Configurations as tested. What nothing is published of shows to its lab alone."""

    queryset = System.objects.none()
    serializer_class = serializers.SystemSerializer
    filterset_class = filters.SystemFilter

    def get_queryset(self) -> QuerySet[Any]:
        seen = visible_systems(self.request.user)
        return seen.prefetch_related(Prefetch("members", seen)).order_by("slug")
