"""What the API tells of hosts and jobs, as far as the reader may see it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from results import actors
from results.api.documents import ScalarField
from results.api.schema import ValuesField
from runners import benchmarks
from runners.api.asking import default_preset
from runners.benchmarks.base import Bound, Parameter, Runner
from runners.jobs import may_read
from runners.machine import Facts
from runners.models import Attempt, Host, Job
from runners.pages.joblist import short_message
from runners.preflight import LEVELS, preflight

Document = dict[str, Any]
STATES = Attempt.State.choices


class PresetSerializer(serializers.Serializer[Any]):
    """A choice of parameters with a name."""

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    note = serializers.CharField()
    values = ValuesField()


class BoundedSerializer(serializers.Serializer[Any]):
    """A parameter and what it may be on this host; `because` says why no more."""

    name = serializers.CharField()
    type = serializers.ChoiceField(choices=["integer", "number", "choice"])
    label = serializers.CharField()  # type: ignore[assignment]
    unit = serializers.CharField()
    help = serializers.CharField()

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """With `default`, which no attribute of a serializer can be called."""
        bounds: dict[str, serializers.Field[Any, Any, Any, Any]] = {
            "default": ScalarField(),
            "minimum": serializers.FloatField(allow_null=True),
            "maximum": serializers.FloatField(allow_null=True),
            "choices": serializers.ListField(child=serializers.CharField()),
            "because": serializers.CharField(),
        }
        return {**super().get_fields(), **bounds}


class ReadySerializer(serializers.Serializer[Any]):
    """Whether the host can run it: the version found, or what is missing."""

    ready = serializers.BooleanField()
    version = serializers.CharField()
    missing = serializers.CharField()


class RunnerSerializer(ReadySerializer):
    """With what can be chosen; `preset` is taken where none is named."""

    preset = serializers.CharField()
    presets = PresetSerializer(many=True)
    parameters = BoundedSerializer(many=True)


class FactSerializer(serializers.Serializer[Any]):
    """Something that was detected, and the tool or file that said it."""

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    value = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]


class NoticeSerializer(serializers.Serializer[Any]):
    """Something about measuring there now; `level` says how grave it is."""

    level = serializers.ChoiceField(choices=LEVELS)
    text = serializers.CharField()


class HostSerializer(serializers.ModelSerializer[Host]):
    """A machine that takes jobs. `system` is null where the reader may not know of it."""

    url = serializers.SerializerMethodField()
    system = serializers.CharField(source="seen_system", allow_null=True)
    alive = serializers.BooleanField(source="is_alive")
    open = serializers.BooleanField(source="is_open")
    runners = serializers.SerializerMethodField()
    running = serializers.IntegerField(source="running_job", allow_null=True)
    waiting = serializers.IntegerField()
    newest_job = serializers.IntegerField(allow_null=True)

    class Meta:
        model = Host
        fields: tuple[str, ...] = (
            "slug",
            "name",
            "url",
            "system",
            "node",
            "alive",
            "open",
            "seen_at",
            "detected_at",
            "runners",
            "running",
            "waiting",
            "newest_job",
        )

    def get_url(self, host: Host) -> str:
        return str(self.context["request"].build_absolute_uri(host.get_absolute_url()))

    @extend_schema_field(serializers.DictField(child=ReadySerializer()))
    def get_runners(self, host: Host) -> Document:
        return {slug: _ready(kept) for slug, kept in sorted(host.runners.items())}


class HostDetailSerializer(HostSerializer):
    """With what was detected, what speaks against measuring now, and what can be chosen."""

    facts = serializers.SerializerMethodField()
    notices = serializers.SerializerMethodField()

    class Meta(HostSerializer.Meta):
        fields = (*HostSerializer.Meta.fields, "facts", "notices")

    @extend_schema_field(serializers.DictField(child=RunnerSerializer()))
    def get_runners(self, host: Host) -> Document:
        facts = Facts.of(host.facts)
        return {slug: _runner(slug, kept, facts) for slug, kept in sorted(host.runners.items())}

    @extend_schema_field(FactSerializer(many=True))
    def get_facts(self, host: Host) -> list[Document]:
        details = Facts.of(host.facts).details
        return [dict(FactSerializer(detail).data) for detail in details]

    @extend_schema_field(NoticeSerializer(many=True))
    def get_notices(self, host: Host) -> list[Document]:
        running: int | None = host.running_job  # type: ignore[attr-defined]  # put there by the view
        notices = preflight(host, running=running)
        return [{"level": one.level, "text": one.text} for one in notices]


def _ready(kept: Document) -> Document:
    return {
        "ready": bool(kept.get("ready")),
        "version": str(kept.get("version", "")),
        "missing": str(kept.get("missing", "")),
    }


def _runner(slug: str, kept: Document, facts: Facts) -> Document:
    """A runner on a host; nothing can be chosen of one that this hub has not any more."""
    runner = benchmarks.get(slug)
    if runner is None:
        return {**_ready(kept), "preset": "", "presets": [], "parameters": []}
    return {
        **_ready(kept),
        "preset": default_preset(runner),
        "presets": [
            {"name": p.name, "label": str(p.label), "note": str(p.note), "values": dict(p.values)}
            for p in runner.presets
        ],
        "parameters": _parameters(runner, facts),
    }


def _parameters(runner: Runner, facts: Facts) -> list[Document]:
    bounds = runner.bounds(facts)
    return [_parameter(one, bounds[one.name]) for one in runner.parameters if one.name in bounds]


def _parameter(one: Parameter, bound: Bound) -> Document:
    return {
        "name": one.name,
        "type": one.kind,
        "label": str(one.label),
        "unit": str(one.unit),
        "help": str(one.help),
        "default": bound.default,
        "minimum": bound.minimum,
        "maximum": bound.maximum,
        "choices": list(bound.choices),
        "because": str(bound.because),
    }


class AttemptSerializer(serializers.ModelSerializer[Attempt]):
    """One execution; a lost one is followed by another, three in all."""

    state = serializers.ChoiceField(choices=STATES)

    class Meta:
        model = Attempt
        fields = ("number", "state", "started_at", "finished_at", "message")


class FlagSerializer(serializers.Serializer[Any]):
    """What speaks against the result."""

    word = serializers.CharField()
    text = serializers.CharField()


class JobSerializer(serializers.ModelSerializer[Job]):
    """A request to measure. `progress` goes from 0 to 1; `run` is the first of its `runs`.

    Runs that the reader may not see are left out, `run` and `reruns` null then.
    """

    url = serializers.SerializerMethodField()
    progress = serializers.SerializerMethodField()
    step = serializers.SerializerMethodField()
    host = serializers.CharField(source="host.slug")
    parameters = ValuesField()
    attempts = AttemptSerializer(many=True)
    run = serializers.SerializerMethodField()
    runs = serializers.SerializerMethodField()
    reruns = serializers.IntegerField(source="seen_reruns", allow_null=True)
    cancelling = serializers.SerializerMethodField()
    message = serializers.SerializerMethodField()

    class Meta:
        model = Job
        fields: tuple[str, ...] = (
            "id",
            "url",
            "state",
            "progress",
            "step",
            "cancelling",
            "message",
            "host",
            "benchmark",
            "preset",
            "parameters",
            "publish",
            "created_at",
            "finished_at",
            "attempts",
            "run",
            "runs",
            "reruns",
        )

    def get_url(self, job: Job) -> str:
        return str(self.context["request"].build_absolute_uri(job.get_absolute_url()))

    @extend_schema_field(serializers.FloatField())
    def get_progress(self, job: Job) -> float:
        newest = newest_attempt(job)
        if job.state == Job.State.FINISHED:
            return 1.0
        return newest.progress if newest else 0.0

    def get_message(self, job: Job) -> str:
        """Why it ended; who cancelled it is for the staff to read."""
        return short_message(job, with_names=actors.is_staff(self.context["request"].user))

    def get_step(self, job: Job) -> str:
        newest = newest_attempt(job)
        return newest.step if newest else ""

    @extend_schema_field(serializers.BooleanField())
    def get_cancelling(self, job: Job) -> bool:
        """Whether it is to end and has not yet."""
        return job.cancel_requested_at is not None and not job.is_over

    @extend_schema_field(serializers.IntegerField(allow_null=True))
    def get_run(self, job: Job) -> int | None:
        return next(iter(self.get_runs(job)), None)

    @extend_schema_field(serializers.ListField(child=serializers.IntegerField()))
    def get_runs(self, job: Job) -> list[int]:
        # Put there by the view: those that the reader may see.
        seen: Iterable[Any] = job.seen_runs  # type: ignore[attr-defined]
        return [run.pk for run in seen]


class JobDetailSerializer(JobSerializer):
    """With what speaks against the result, and the end of what the program printed.

    `tail` is null for who may not read it, `flags` for who may not see the result either.
    """

    flags = serializers.SerializerMethodField()
    tail = serializers.SerializerMethodField()

    class Meta(JobSerializer.Meta):
        fields = (*JobSerializer.Meta.fields, "flags", "tail")

    @extend_schema_field(FlagSerializer(many=True, allow_null=True))
    def get_flags(self, job: Job) -> list[Document] | None:
        if not (self._reads(job) or self.get_runs(job)):
            return None
        newest = newest_attempt(job)
        return [{"word": f["word"], "text": f["text"]} for f in (newest.flags if newest else ())]

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_tail(self, job: Job) -> str | None:
        if not self._reads(job):
            return None
        newest = newest_attempt(job)
        return newest.tail if newest else ""

    def _reads(self, job: Job) -> bool:
        return may_read(self.context["request"].user, job)


class StartedSerializer(JobDetailSerializer):
    """With `remarks`: what of a repeated run the host cannot do, and what stands instead."""

    remarks = serializers.SerializerMethodField()

    class Meta(JobDetailSerializer.Meta):
        fields = (*JobDetailSerializer.Meta.fields, "remarks")

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_remarks(self, job: Job) -> list[str]:
        return [str(text) for text in self.context.get("remarks", ())]


class WantedSerializer(serializers.Serializer[Any]):
    """What is asked for. `run` is one to repeat; then `benchmark` may be left out."""

    host = serializers.CharField(required=False)
    benchmark = serializers.CharField(required=False)
    preset = serializers.CharField(required=False)
    parameters = ValuesField(required=False)
    run = serializers.IntegerField(required=False)
    publish = serializers.BooleanField(required=False)


def newest_attempt(job: Job) -> Attempt | None:
    """The attempt that counts; `job.attempts` are in their order and loaded."""
    return next(reversed(list(job.attempts.all())), None)
