"""The OpenAPI of what no serializer writes: the comparison, and the errors of every view."""

from __future__ import annotations

from typing import Any, Literal

from django.utils.translation import gettext_lazy as _
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema_field
from rest_framework import serializers

from results.catalogue.base import NORMALISATIONS
from results.models import Qualifier, Scope

VALUE = {"oneOf": [{"type": "string"}, {"type": "number"}]}
POINT = {
    "type": "array",
    "minItems": 5,
    "maxItems": 5,
    "items": {"nullable": True, **VALUE},
    "description": "x, value, low, high, n",
}
VALUES = {"type": "object", "additionalProperties": VALUE}


class ErrorSerializer(serializers.Serializer[Any]):
    """What went wrong, in one sentence and by field."""

    message = serializers.CharField()
    fields = serializers.DictField(  # type: ignore[assignment]
        child=serializers.ListField(child=serializers.CharField())
    )


class ColumnSerializer(serializers.Serializer[Any]):
    """A system, or a system pinned to values of the factor."""

    key = serializers.CharField()
    system = serializers.CharField()
    pins = serializers.DictField(child=serializers.CharField())
    label = serializers.CharField()  # type: ignore[assignment]
    cores = serializers.IntegerField(allow_null=True)
    sockets = serializers.IntegerField(allow_null=True)


class ReasonSerializer(serializers.Serializer[Any]):
    """A setup field or parameter in which cell (left) and baseline (right) differ."""

    field = serializers.CharField()
    left = serializers.CharField(allow_null=True)
    right = serializers.CharField(allow_null=True)


@extend_schema_field(VALUES)
class ValuesField(serializers.DictField):
    """Values by name: texts and numbers."""


@extend_schema_field(POINT)
class PointField(serializers.ListField):
    """A point of a curve."""


class CellSerializer(serializers.Serializer[Any]):
    """`value` is normalised by `denominator`, `raw` is not; null is not known, never 0."""

    value = serializers.FloatField(allow_null=True)
    raw = serializers.FloatField(allow_null=True)
    denominator = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    low = serializers.FloatField(allow_null=True, required=False)
    high = serializers.FloatField(allow_null=True, required=False)
    range = serializers.BooleanField(required=False)
    qualifier = serializers.ChoiceField(choices=Qualifier.choices)
    run = serializers.IntegerField()
    ratio = serializers.FloatField(allow_null=True)
    rank = serializers.IntegerField(allow_null=True)
    lab = serializers.CharField()
    trust = serializers.ChoiceField(choices=["verified", "source", "vendor", "community"])
    reasons = ReasonSerializer(many=True)
    at = ValuesField(required=False)
    points = serializers.ListField(child=PointField(), required=False)
    scope = serializers.ChoiceField(choices=Scope.choices, required=False)
    others = serializers.IntegerField(required=False)
    assumed = serializers.ListField(child=serializers.CharField(), required=False)
    inferred = serializers.BooleanField(required=False)
    basis = serializers.ChoiceField(choices=["measured", "tdp"], required=False)
    missing = serializers.CharField(required=False)
    above_peak = serializers.BooleanField(required=False)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """With `class`, which no Python attribute can be called."""
        return {**super().get_fields(), "class": serializers.CharField(allow_null=True)}


class RowSerializer(serializers.Serializer[Any]):
    """A metric of a workload at a scope, in a variant; missing cells are left out."""

    id = serializers.CharField()
    benchmark = serializers.CharField()
    workload = serializers.CharField()
    metric = serializers.CharField()
    unit = serializers.CharField()
    value_unit = serializers.CharField()
    better = serializers.ChoiceField(choices=["higher", "lower"])
    scope = serializers.ChoiceField(choices=Scope.choices, allow_null=True)
    variant = ValuesField()
    at = ValuesField(required=False)
    cells = serializers.DictField(child=CellSerializer())


class TableSerializer(serializers.Serializer[Any]):
    """A comparison. `geomean` is null without a row that all columns share."""

    columns = ColumnSerializer(many=True)
    baseline = serializers.CharField()
    factor = serializers.CharField()
    per = serializers.ChoiceField(choices=NORMALISATIONS)
    axis = serializers.CharField(allow_null=True)
    rows = RowSerializer(many=True)
    geomean = serializers.DictField(child=serializers.FloatField(), allow_null=True)
    common_rows = serializers.IntegerField()
    left_out = serializers.ListField(child=serializers.CharField())


def _query(name: str, text: Any, **options: Any) -> OpenApiParameter:
    return OpenApiParameter(name, OpenApiTypes.STR, description=text, **options)


# A form-exploded object is how OpenAPI writes names that are not known beforehand.
BY_PARAMETER = OpenApiParameter(
    "param.*",
    {"type": "object", "additionalProperties": {"type": "string"}},
    style="form",
    explode=True,
    description=_(
        "`param.<name>=<value>`: only what has that value of the parameter, which may be any of "
        "the catalogue (`param.placement=local`); an empty value means 'not stated'."
    ),
)
COMPARE = [
    _query("system", _("A column: `slug` or `slug@name=value`. Repeatable."), many=True),
    _query("benchmark", _("Rows: `slug` or `slug/workload`. Repeatable; all."), many=True),
    _query("factor", _("What is compared: system, sockets, a parameter or a setup field.")),
    _query("baseline", _("The key of the column that ratios are against; the first.")),
    _query("per", _("Normalisation; total."), enum=NORMALISATIONS),
    _query("axis", _("A parameter along which `points` are wanted.")),
    _query("lang", _("Language of labels and messages: en, ja, ko, zh-hans.")),
    BY_PARAMETER,
]


class HouseSchema(AutoSchema):
    """Describes the errors of each operation beside its answer.

    `errors` of a view names the status codes; else lists refuse filters (400) and pages
    that are not there (404), details only what is not there. Where tokens are read, a
    wrong one is refused (401).
    """

    def _get_response_bodies(self, direction: Literal["request", "response"] = "response") -> Any:
        answers = super()._get_response_bodies(direction)
        detail = bool(getattr(self.view, "detail", False))
        codes = getattr(self.view, "errors", ("404",) if detail else ("400", "404"))
        if self.view.get_authenticators():
            codes = (*codes, "401")
        for code in dict.fromkeys(codes):
            answers[code] = self._get_response_for_code(  # type: ignore[no-untyped-call]
                ErrorSerializer, code
            )
        return answers
