"""What the API tells of each noun. References are slugs where there is one, else ids."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from results import catalogue
from results.api.answers import trust_word
from results.catalogue.base import NORMALISATIONS
from results.models import (
    Artefact,
    Benchmark,
    Comparison,
    Lab,
    List,
    ListEntry,
    Measurement,
    Metric,
    Processor,
    Run,
    Source,
    System,
    Trust,
)
from results.request import stored_address

Json = dict[str, Any]
SlugOf = serializers.SlugRelatedField[Any]
BETTER = serializers.ChoiceField(choices=["higher", "lower"])
TRUST = serializers.ChoiceField(choices=[trust_word(value) for value in Trust.values])


def better(metric: Metric) -> str:
    """higher or lower."""
    return "higher" if metric.higher_is_better else "lower"


class LabSerializer(serializers.ModelSerializer[Lab]):
    homepage = serializers.CharField()

    class Meta:
        model = Lab
        fields = ("slug", "name", "kind", "homepage")


class ProcessorSerializer(serializers.ModelSerializer[Processor]):
    """Cores, caches and TDP are of one socket; `inferred` holds what no source states."""

    extra = serializers.DictField()
    inferred = serializers.DictField()

    class Meta:
        model = Processor
        fields = (
            "slug",
            "name",
            "short_name",
            "vendor",
            "isa",
            "microarchitecture",
            "cores",
            "threads",
            "base_ghz",
            "max_ghz",
            "tdp_w",
            "l1i_kb",
            "l1d_kb",
            "l2_kb",
            "l3_mb",
            "extra",
            "inferred",
            "note",
        )


class SystemSerializer(serializers.ModelSerializer[System]):
    """`cores` are physical ones of all sockets; peaks are GB/s; `members` make it a group."""

    processor: SlugOf = serializers.SlugRelatedField(
        slug_field="slug", read_only=True, allow_null=True
    )
    cores = serializers.IntegerField(read_only=True, allow_null=True)
    members: SlugOf = serializers.SlugRelatedField(slug_field="slug", read_only=True, many=True)
    extra = serializers.DictField()
    inferred = serializers.DictField()

    class Meta:
        model = System
        fields = (
            "slug",
            "name",
            "vendor",
            "processor",
            "sockets",
            "cores",
            "memory_config",
            "memory_type",
            "memory_mts",
            "memory_channels",
            "memory_gb",
            "peak_gbs",
            "peak_gbs_per_socket",
            "storage_device",
            "storage_link",
            "firmware",
            "firmware_profile",
            "price_usd",
            "members",
            "extra",
            "inferred",
            "note",
        )


class MetricSerializer(serializers.ModelSerializer[Metric]):
    """`name` is the full name, `metric` its last part; `per` lists what it may be divided by."""

    benchmark: SlugOf = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    name = serializers.CharField(source="full_name")
    metric = serializers.CharField(source="name")
    better = serializers.SerializerMethodField()
    per = serializers.SerializerMethodField()

    class Meta:
        model = Metric
        fields = ("id", "benchmark", "workload", "metric", "name", "unit", "better", "per")

    @extend_schema_field(BETTER)
    def get_better(self, metric: Metric) -> str:
        return better(metric)

    @extend_schema_field(serializers.ListField(child=serializers.ChoiceField(NORMALISATIONS)))
    def get_per(self, metric: Metric) -> list[str]:
        benchmark = catalogue.get(metric.benchmark.slug)
        entry = benchmark.metric(metric.full_name) if benchmark else None
        return list(entry.per) if entry else []


class BenchmarkSerializer(serializers.ModelSerializer[Benchmark]):
    """`stresses`: what of the machine it loads, in plain words."""

    stresses = serializers.CharField(source="entry.stresses")
    homepage = serializers.CharField(source="entry.homepage")

    class Meta:
        model = Benchmark
        fields = ("slug", "name", "category", "stresses", "homepage")


class WorkloadSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField()
    title = serializers.CharField()
    summary = serializers.CharField()


class ParameterSerializer(serializers.Serializer[Any]):
    """A setting of a run. `role`: variant, axis, tracked, scale or describes."""

    name = serializers.CharField()
    role = serializers.ChoiceField(choices=["variant", "axis", "tracked", "scale", "describes"])
    type = serializers.ChoiceField(choices=["text", "integer", "number"], source="kind")
    unit = serializers.CharField()
    choices = serializers.ListField(child=serializers.CharField())
    follows = serializers.CharField()
    note = serializers.CharField()


class TrackedSerializer(serializers.Serializer[Any]):
    """A setup field that counts when runs are judged, to `depth` version parts (0: whole)."""

    field = serializers.CharField()
    title = serializers.CharField(source="label")
    depth = serializers.IntegerField()


class BenchmarkDetailSerializer(BenchmarkSerializer):
    """With its rules, workloads, metrics, parameters and tracked setup fields."""

    rules = serializers.CharField(source="entry.rules")
    caveat = serializers.CharField(source="entry.caveat")
    workloads = WorkloadSerializer(source="entry.workloads", many=True)
    metrics = MetricSerializer(many=True)
    parameters = ParameterSerializer(source="entry.parameters", many=True)
    tracked = TrackedSerializer(source="entry.tracked", many=True)

    class Meta(BenchmarkSerializer.Meta):
        fields = (  # type: ignore[assignment]
            *BenchmarkSerializer.Meta.fields,
            "rules",
            "caveat",
            "workloads",
            "metrics",
            "parameters",
            "tracked",
        )


class SourceSerializer(serializers.ModelSerializer[Source]):
    """A published source; `date` is as precise as known."""

    language = serializers.ListField(child=serializers.CharField())
    url = serializers.CharField()

    class Meta:
        model = Source
        fields = ("slug", "title", "publisher", "date", "language", "url")


class ArtefactSerializer(serializers.ModelSerializer[Artefact]):
    class Meta:
        model = Artefact
        fields = ("name", "sha256", "size")


class EvidenceSerializer(serializers.Serializer[Any]):
    """Where the value was read: lines of an artefact, else the published source."""

    artefact = serializers.CharField(required=False)
    sha256 = serializers.CharField(required=False)
    lines = serializers.ListField(
        child=serializers.IntegerField(), min_length=2, max_length=2, required=False
    )
    source = SourceSerializer(required=False)  # type: ignore[assignment]


class ReadingSerializer(serializers.ModelSerializer[Measurement]):
    """A metric's value within a run, in the metric's unit; `low` and `high` are a range."""

    metric = serializers.CharField(source="metric.full_name")
    unit = serializers.CharField(source="metric.unit")
    better = serializers.SerializerMethodField()
    samples = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    covers = serializers.ListField(child=serializers.DictField())
    evidence = serializers.SerializerMethodField()

    class Meta:
        model = Measurement
        fields: tuple[str, ...] = (
            "id",
            "metric",
            "unit",
            "better",
            "value",
            "low",
            "high",
            "samples",
            "qualifier",
            "printed",
            "covers",
            "evidence",
            "note",
        )

    @extend_schema_field(BETTER)
    def get_better(self, measurement: Measurement) -> str:
        return better(measurement.metric)

    @extend_schema_field(EvidenceSerializer(allow_null=True))
    def get_evidence(self, measurement: Measurement) -> Json | None:
        artefact, source = measurement.artefact, measurement.run.source
        if artefact is not None:
            lines = [measurement.line_from, measurement.line_to]
            found: Json = {"artefact": artefact.name, "sha256": artefact.sha256}
            return found if None in lines else {**found, "lines": lines}
        return {"source": SourceSerializer(source).data} if source else None


class MeasurementSerializer(ReadingSerializer):
    """A metric's value with the run it belongs to."""

    run = serializers.IntegerField(source="run_id")
    lab = serializers.CharField(source="run.lab.slug")
    system = serializers.CharField(source="run.system.slug")
    benchmark = serializers.CharField(source="run.benchmark.slug")
    scope = serializers.CharField(source="run.scope")
    parameters = serializers.DictField(source="run.parameters")

    class Meta(ReadingSerializer.Meta):
        fields = (
            "run",
            "lab",
            "system",
            "benchmark",
            "scope",
            "parameters",
            *ReadingSerializer.Meta.fields,
        )


class RunSerializer(serializers.ModelSerializer[Run]):
    """One execution. `assumed` names the parameters that the source does not state."""

    lab: SlugOf = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    system: SlugOf = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    benchmark: SlugOf = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    parameters = serializers.DictField()
    assumed = serializers.ListField(child=serializers.CharField())
    setup = serializers.DictField(source="setup.fields", child=serializers.CharField())
    setup_inferred = serializers.DictField(source="setup.inferred", child=serializers.CharField())
    source = SourceSerializer(allow_null=True)  # type: ignore[assignment]
    artefacts = ArtefactSerializer(many=True)
    trust = serializers.SerializerMethodField()
    supersedes = serializers.IntegerField(source="seen_supersedes", allow_null=True)
    superseded_by = serializers.IntegerField(source="seen_superseded_by", allow_null=True)

    class Meta:
        model = Run
        fields: tuple[str, ...] = (
            "id",
            "lab",
            "system",
            "node",
            "benchmark",
            "version",
            "scope",
            "parameters",
            "assumed",
            "setup",
            "setup_inferred",
            "started_at",
            "source",
            "artefacts",
            "note",
            "state",
            "publish_at",
            "published_at",
            "trust",
            "reason",
            "not_ranked_because",
            "supersedes",
            "superseded_by",
        )

    @extend_schema_field(TRUST)
    def get_trust(self, run: Run) -> str:
        return trust_word(run.trust)


class RunDetailSerializer(RunSerializer):
    """With what was measured."""

    measurements = ReadingSerializer(many=True)

    class Meta(RunSerializer.Meta):
        fields = (*RunSerializer.Meta.fields, "measurements")


class ComparisonSerializer(serializers.ModelSerializer[Comparison]):
    """A stored comparison; `address` is the query that `/compare/` takes for it."""

    columns = serializers.ListField(child=serializers.CharField())
    benchmarks = serializers.ListField(child=serializers.CharField())
    address = serializers.SerializerMethodField()

    class Meta:
        model = Comparison
        fields = (
            "slug",
            "title",
            "text",
            "columns",
            "benchmarks",
            "factor",
            "baseline",
            "per",
            "is_default",
            "address",
        )

    def get_address(self, comparison: Comparison) -> str:
        return stored_address(comparison)


class ListSerializer(serializers.ModelSerializer[List]):
    """An external ranking, in the metric's unit."""

    benchmark = serializers.CharField(source="metric.benchmark.slug")
    metric = serializers.CharField(source="metric.full_name")
    unit = serializers.CharField(source="metric.unit")
    source = SourceSerializer()  # type: ignore[assignment]

    class Meta:
        model = List
        fields: tuple[str, ...] = (
            "slug",
            "title",
            "benchmark",
            "metric",
            "unit",
            "source",
            "date",
            "length",
            "note",
        )


class ListEntrySerializer(serializers.ModelSerializer[ListEntry]):
    """One place; `system` where the hub has the machine."""

    system: SlugOf = serializers.SlugRelatedField(
        slug_field="slug", read_only=True, allow_null=True
    )
    parameters = serializers.DictField()

    class Meta:
        model = ListEntry
        fields = ("rank", "label", "system", "value", "scope", "parameters")


class ListDetailSerializer(ListSerializer):
    """With its places, best first."""

    entries = ListEntrySerializer(many=True)

    class Meta(ListSerializer.Meta):
        fields = (*ListSerializer.Meta.fields, "entries")
