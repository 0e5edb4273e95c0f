# mypy: disallow-subclassing-any=False
"""How lists are filtered; what no filter is called is an error, not a list of everything."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django_filters import rest_framework as filters
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.views import APIView

from results import catalogue
from results.catalogue.base import CATEGORIES
from results.hints import hint
from results.models import (
    Benchmark,
    Comparison,
    Lab,
    List,
    Measurement,
    Metric,
    Processor,
    Run,
    Scope,
    System,
    Upload,
)
from results.queries import visible_processors, visible_runs, visible_systems
from results.request import PARAM, plain_problem

Rows = QuerySet[Any]
ID = re.compile(r"[0-9]{1,18}", re.ASCII)
NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?", re.ASCII)


class Strict(filters.DjangoFilterBackend):
    """django-filter's backend for lists; refuses unknown, doubled and unreadable names."""

    def filter_queryset(self, request: Request, queryset: Rows, view: APIView) -> Rows:
        if getattr(view, "detail", False):
            return queryset
        _require_known(request, self.get_filterset_class(view, queryset), view)
        found: Rows = super().filter_queryset(request, queryset, view)
        return found


def _require_known(request: Request, filterset: type[Any] | None, view: APIView) -> None:
    known = [*(filterset.base_filters if filterset else ()), *_paging(view), "lang"]
    by_parameter = bool(filterset and issubclass(filterset, ByParameter))
    if by_parameter:
        known += [PARAM + name for name in _all_parameters()]
    errors: dict[str, list[str]] = {}
    for name, values in request.query_params.lists():
        problems = [text for text in map(plain_problem, (name, *values)) if text]
        if name not in known:
            problems.append(_("is no filter of this list; %(hint)s") % {"hint": hint(name, known)})
        elif len(values) > 1:
            problems.append(_("is given more than once"))
        if problems:
            errors[name[:60]] = problems
    if errors:
        raise ValidationError(errors)


def _paging(view: APIView) -> list[str]:
    pager = getattr(view, "pagination_class", None)
    names = ("page_query_param", "page_size_query_param", "cursor_query_param")
    return [getattr(pager, name) for name in names if getattr(pager, name, None)]


def _all_parameters() -> list[str]:
    benchmarks = catalogue.benchmarks().values()
    return list(dict.fromkeys(p.name for b in benchmarks for p in b.parameters))


class Slug(filters.CharFilter):
    """Rows whose foreign key is the row of `model` with that slug; an unknown slug is an error."""

    def __init__(self, model: type[Model], field_name: str, **options: Any) -> None:
        self.model_named = model
        super().__init__(field_name=field_name, **options)

    def filter(self, qs: Rows, value: str) -> Rows:
        return qs.filter(**{self.field_name: self.primary_key(value)}) if value else qs

    def rows(self) -> Rows:
        """The rows that the asker may name."""
        named = {System: visible_systems, Processor: visible_processors}
        if self.model_named in named:
            return named[self.model_named](self.parent.request.user)
        return self.model_named._default_manager.all()

    def primary_key(self, slug: str) -> int:
        rows = self.rows()
        found: int | None = rows.filter(slug=slug).values_list("pk", flat=True).first()
        if found is None:
            known = rows.values_list("slug", flat=True)[:5000]
            raise _unknown(self.field_name.rpartition("__")[2], slug, known)
        return found


def _unknown(name: str, value: str, known: Iterable[str]) -> ValidationError:
    text = _("%(value)r is not known; %(hint)s")
    return ValidationError({name: [text % {"value": value, "hint": hint(value, known)}]})


class LabOfSystem(Slug):
    """Systems that a lab has runs on, as far as the asker may see them."""

    def filter(self, qs: Rows, value: str) -> Rows:
        if not value:
            return qs
        lab = self.primary_key(value)
        runs = visible_runs(self.parent.request.user)
        return qs.filter(Exists(runs.filter(system=OuterRef("pk"), lab=lab)))


@extend_schema_field(OpenApiTypes.INT64)
class Identifier(filters.CharFilter):
    """Rows whose foreign key is that number."""

    def filter(self, qs: Rows, value: str) -> Rows:
        if not value:
            return qs
        if not ID.fullmatch(value):
            raise ValidationError({self.field_name: [_("expected a whole number")]})
        return qs.filter(**{f"{self.field_name}_id": int(value)})


class Search(filters.CharFilter):
    """Rows in which each word of the value stands in one of `columns`, in any case."""

    def __init__(self, *columns: str, **options: Any) -> None:
        self.columns = columns
        super().__init__(help_text=gettext_lazy("Words that must all occur."), **options)

    def filter(self, qs: Rows, value: str) -> Rows:
        for word in (value or "").split()[:10]:
            found = Q()
            for name in self.columns:
                found |= Q(**{f"{name}__icontains": word})
            qs = qs.filter(found)
        return qs


class Either(filters.CharFilter):
    """Rows of which one of `columns` is the value, in any case."""

    def __init__(self, *columns: str, **options: Any) -> None:
        self.columns = columns
        super().__init__(**options)

    def filter(self, qs: Rows, value: str) -> Rows:
        if not value:
            return qs
        found = Q()
        for name in self.columns:
            found |= Q(**{f"{name}__iexact": value})
        return qs.filter(found)


class MetricName(filters.CharFilter):
    """Rows of the metric of that full name (`triad.bandwidth`), in whichever benchmark."""

    def filter(self, qs: Rows, value: str) -> Rows:
        if not value:
            return qs
        known = [m.name for b in catalogue.benchmarks().values() for m in b.metrics]
        if value not in known:
            raise _unknown("metric", value, known)
        workload, _dot, name = value.rpartition(".")
        found = Metric.objects.filter(workload=workload, name=name).order_by("pk")
        return qs.filter(metric__in=list(found.values_list("pk", flat=True)))


class ByParameter(filters.FilterSet):
    """Adds `param.<name>`: runs with that value of the parameter; empty for runs without it."""

    path = "parameters"

    def filter_queryset(self, queryset: Rows) -> Rows:
        found: Rows = super().filter_queryset(queryset)
        for name, value in self.data.items():
            if name.startswith(PARAM):
                found = found.filter(self._parameter(name.removeprefix(PARAM), value))
        return found

    def _parameter(self, name: str, value: str) -> Q:
        if not value:
            return ~Q(**{f"{self.path}__has_key": name})
        exact = Q(**{f"{self.path}__{name}": value})
        if NUMBER.fullmatch(value):
            exact |= Q(**{f"{self.path}__{name}": float(value) if "." in value else int(value)})
        return exact


class LabFilter(filters.FilterSet):
    kind = filters.ChoiceFilter(choices=Lab.Kind.choices)
    search = Search("slug", "name")

    class Meta:
        model = Lab
        fields: list[str] = []


class ProcessorFilter(filters.FilterSet):
    vendor = Either("vendor")
    isa = Either("isa", "inferred__isa")
    search = Search("slug", "name", "short_name", "vendor", "microarchitecture")

    class Meta:
        model = Processor
        fields: list[str] = []


class SystemFilter(filters.FilterSet):
    lab = LabOfSystem(Lab, "lab", help_text=gettext_lazy("Systems with runs of that lab."))
    processor = Slug(Processor, "processor")
    vendor = Either("vendor", "processor__vendor")
    isa = Either("processor__isa", "processor__inferred__isa")
    search = Search("slug", "name", "vendor", "processor__name", "processor__short_name")

    class Meta:
        model = System
        fields: list[str] = []


class BenchmarkFilter(filters.FilterSet):
    category = filters.ChoiceFilter(choices=list(CATEGORIES.items()))
    search = Search("slug", "name")

    class Meta:
        model = Benchmark
        fields: list[str] = []


class MetricFilter(filters.FilterSet):
    benchmark = Slug(Benchmark, "benchmark")
    workload = filters.CharFilter()

    class Meta:
        model = Metric
        fields: list[str] = []


class RunFilter(ByParameter):
    system = Slug(System, "system")
    benchmark = Slug(Benchmark, "benchmark")
    lab = Slug(Lab, "lab")
    scope = filters.ChoiceFilter(choices=Scope.choices)
    state = filters.ChoiceFilter(choices=Run.State.choices)

    class Meta:
        model = Run
        fields: list[str] = []


class MeasurementFilter(ByParameter):
    path = "run__parameters"

    run = Identifier(field_name="run")
    system = Slug(System, "run__system")
    benchmark = Slug(Benchmark, "run__benchmark")
    lab = Slug(Lab, "run__lab")
    metric = MetricName(help_text=gettext_lazy("A full name: triad.bandwidth."))
    scope = filters.ChoiceFilter(field_name="run__scope", choices=Scope.choices)

    class Meta:
        model = Measurement
        fields: list[str] = []


class ComparisonFilter(filters.FilterSet):
    search = Search("slug", "title")

    class Meta:
        model = Comparison
        fields: list[str] = []


class ListFilter(filters.FilterSet):
    benchmark = Slug(Benchmark, "metric__benchmark")
    search = Search("slug", "title")

    class Meta:
        model = List
        fields: list[str] = []


class UploadFilter(filters.FilterSet):
    lab = Slug(Lab, "lab")
    state = filters.ChoiceFilter(choices=Upload.State.choices)

    class Meta:
        model = Upload
        fields: list[str] = []
