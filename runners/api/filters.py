# mypy: disallow-subclassing-any=False
"""How the lists of hosts and jobs are filtered."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django_filters import rest_framework as filters
from rest_framework.exceptions import ValidationError

from results import catalogue
from results.api.filters import Slug
from results.hints import hint
from runners.models import Host, Job


class Measures(filters.CharFilter):
    """Jobs of that benchmark; one that the catalogue does not know is an error."""

    def filter(self, qs: QuerySet[Any], value: str) -> QuerySet[Any]:
        if not value:
            return qs
        known = list(catalogue.benchmarks())
        if value not in known:
            words = {"value": value, "hint": hint(value, known)}
            raise ValidationError({"benchmark": [_("%(value)r is not known; %(hint)s") % words]})
        return qs.filter(benchmark=value)


class HostFilter(filters.FilterSet):
    class Meta:
        model = Host
        fields: list[str] = []


class JobFilter(filters.FilterSet):
    state = filters.ChoiceFilter(choices=Job.State.choices)
    host = Slug(Host, "host")
    benchmark = Measures()

    class Meta:
        model = Job
        fields: list[str] = []
