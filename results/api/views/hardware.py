"""Labs, processors and systems: open to all."""

from __future__ import annotations

from results.api import filters, serializers
from results.api.views.base import BySlug
from results.models import Lab, Processor, System


class LabViewSet(BySlug):
    """Who measured."""

    queryset = Lab.objects.order_by("slug")
    serializer_class = serializers.LabSerializer
    filterset_class = filters.LabFilter


class ProcessorViewSet(BySlug):
    """CPU models."""

    queryset = Processor.objects.order_by("slug")
    serializer_class = serializers.ProcessorSerializer
    filterset_class = filters.ProcessorFilter


class SystemViewSet(BySlug):
    """Configurations as tested."""

    queryset = (
        System.objects.select_related("processor").prefetch_related("members").order_by("slug")
    )
    serializer_class = serializers.SystemSerializer
    filterset_class = filters.SystemFilter
