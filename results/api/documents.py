# mypy: disallow-subclassing-any=False
"""The document of an upload: what was understood of its files and what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from results.api.answers import trust_word
from results.api.schema import ErrorSerializer, ValuesField
from results.models import Scope, Trust, Upload

Document = dict[str, Any]
STATES = Upload.State.choices
TRUSTS = [trust_word(value) for value in Trust.values]
NOT_STORED: Document = {
    "id": None,
    "state": None,
    "url": None,
    "lab": None,
    "corrects": None,
    "reason": "",
    "created_at": None,
    "sent_at": None,
    "returned_at": None,
    "note": "",
    "wished_date": None,
    "publish_at": None,
    "published_at": None,
    "trust": None,
    "not_ranked_because": "",
}
UNREAD: Document = {
    "systems": [],
    "runs": [],
    "run_count": 0,
    "questions": [],
    "optional": [],
    "problems": [],
    "remarks": [],
    "files": [],
    "machine": None,
}


def of_upload(upload: Upload, request: Request, remarks: Iterable[str] = ()) -> Document:
    """The document of a stored upload, as it is now. `remarks` go beside those of its report."""
    report = {**UNREAD, **upload.report}
    sent = [
        {"name": file.name, "size": file.artefact.size, "sha256": file.artefact.sha256}
        for file in upload.files.select_related("artefact").order_by("position")
    ]
    return {
        **NOT_STORED,
        **_standing(upload, request),
        **report,
        "state": upload.state,
        "files": _files(sent, report["files"]),
        "remarks": [*report["remarks"], *map(_remark, remarks)],
    }


def of_report(
    report: Mapping[str, Any], *, lab: str | None, sent: Iterable[Mapping[str, Any]]
) -> Document:
    """The document of files of which nothing is stored; `sent` as name, size, sha256."""
    found = {**UNREAD, **report}
    return {**NOT_STORED, **found, "lab": lab, "files": _files(sent, found["files"])}


def _standing(upload: Upload, request: Request) -> Document:
    """What the row itself says."""
    moments = ("created_at", "sent_at", "returned_at", "publish_at", "published_at")
    return {
        "id": upload.pk,
        "url": request.build_absolute_uri(upload.get_absolute_url()),
        "lab": upload.lab.slug if upload.lab else None,
        "corrects": upload.corrects_id,
        "reason": upload.reason,
        "note": upload.note,
        "wished_date": upload.given.get("wished_date"),
        "trust": None if upload.trust is None else trust_word(upload.trust),
        "not_ranked_because": upload.not_ranked_because,
        **{name: _iso(getattr(upload, name)) for name in moments},
    }


def _iso(moment: Any) -> str | None:
    return moment.isoformat() if moment else None


def _remark(text: str) -> Document:
    return {"file": "", "line": None, "text": text}


def _files(sent: Iterable[Mapping[str, Any]], read: Iterable[Mapping[str, Any]]) -> list[Document]:
    """The files that were sent, then those that came out of archives; kinds as they were read."""
    kinds = {file["name"]: file["kind"] for file in read}
    files = [{**file, "kind": kinds.get(file["name"], "")} for file in sent]
    names = {file["name"] for file in files}
    return files + [{**file, "sha256": None} for file in read if file["name"] not in names]


# The same for the OpenAPI. Answers are the dicts above; a test holds both together.


class PlaceSerializer(serializers.Serializer[Any]):
    """Where a value was read: lines of a file, else the source that a bundle names."""

    artefact = serializers.CharField(required=False)
    lines = serializers.ListField(
        child=serializers.IntegerField(),
        min_length=2,
        max_length=2,
        required=False,
        allow_null=True,
    )
    source = serializers.CharField(required=False)  # type: ignore[assignment]


class UnderstoodMeasurementSerializer(serializers.Serializer[Any]):
    """A value in the metric's unit; `printed` is what the file says; a range has low and high."""

    metric = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    unit = serializers.CharField()
    printed = serializers.CharField()
    evidence = PlaceSerializer(allow_null=True)
    low = serializers.FloatField(required=False, allow_null=True)
    high = serializers.FloatField(required=False, allow_null=True)
    n = serializers.IntegerField(required=False)


class UnderstoodRunSerializer(serializers.Serializer[Any]):
    """A run of the files. `run` is the stored one; `known`: it was stored before."""

    system = serializers.CharField()
    benchmark = serializers.CharField()
    version = serializers.CharField()
    scope = serializers.ChoiceField(choices=Scope.choices)
    parameters = ValuesField()
    assumed = serializers.ListField(child=serializers.CharField())
    variant = ValuesField()
    axis = ValuesField()
    scale = ValuesField()
    setup = serializers.DictField(child=serializers.CharField())
    node = serializers.CharField()
    started_at = serializers.CharField(allow_null=True)
    file = serializers.CharField()
    run = serializers.IntegerField(allow_null=True)
    known = serializers.BooleanField()
    measurements = UnderstoodMeasurementSerializer(many=True)


class OptionSerializer(serializers.Serializer[Any]):
    value = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]


class QuestionSerializer(serializers.Serializer[Any]):
    """What the files leave open; `field` is lab, system or a name for `set`."""

    field = serializers.CharField()
    text = serializers.CharField()
    needed = serializers.BooleanField()
    options = OptionSerializer(many=True)
    taken = serializers.CharField()


class ProblemSerializer(serializers.Serializer[Any]):
    """What is wrong with a file, and where."""

    file = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)
    field = serializers.CharField()
    found = serializers.CharField()
    expected = serializers.CharField()
    message = serializers.CharField()


class RemarkSerializer(serializers.Serializer[Any]):
    """How something was read or taken."""

    file = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)
    text = serializers.CharField()


class SentFileSerializer(serializers.Serializer[Any]):
    """A file that was sent, or one out of an archive (`sha256` null); `kind` is whose output."""

    name = serializers.CharField()
    size = serializers.IntegerField()
    kind = serializers.CharField()
    sha256 = serializers.CharField(allow_null=True)


@extend_schema_field({"oneOf": [{"type": "string"}, {"type": "number"}]})
class ScalarField(serializers.Field[Any, Any, Any, Any]):
    """A text or a number."""


class ToldSerializer(serializers.Serializer[Any]):
    """What a file says of the machine, and where."""

    value = ScalarField()
    file = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)


class ContradictionSerializer(serializers.Serializer[Any]):
    """A field of which files, or a file and the stored system, say different things."""

    field = serializers.CharField()
    told = ToldSerializer(many=True)


class ProposedSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField()
    name = serializers.CharField()


class MachineSerializer(serializers.Serializer[Any]):
    """The machine that the files describe: a stored system, or one proposed as new."""

    facts = serializers.DictField(child=ToldSerializer())
    matched = serializers.CharField(allow_null=True)
    proposed = ProposedSerializer(allow_null=True)
    contradictions = ContradictionSerializer(many=True)


class UploadDocumentSerializer(serializers.Serializer[Any]):
    """What was understood of files. `id` is null where nothing was stored."""

    id = serializers.IntegerField(allow_null=True)
    url = serializers.CharField(allow_null=True)
    state = serializers.ChoiceField(choices=STATES)
    lab = serializers.CharField(allow_null=True)
    systems = serializers.ListField(child=serializers.CharField())
    runs = UnderstoodRunSerializer(many=True)
    run_count = serializers.IntegerField()
    questions = QuestionSerializer(many=True)
    optional = QuestionSerializer(many=True)
    problems = ProblemSerializer(many=True)
    remarks = RemarkSerializer(many=True)
    files = SentFileSerializer(many=True)
    machine = MachineSerializer(allow_null=True)
    corrects = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField()
    created_at = serializers.DateTimeField(allow_null=True)
    sent_at = serializers.DateTimeField(allow_null=True)
    returned_at = serializers.DateTimeField(allow_null=True)
    note = serializers.CharField()
    wished_date = serializers.DateTimeField(allow_null=True)
    publish_at = serializers.DateTimeField(allow_null=True)
    published_at = serializers.DateTimeField(allow_null=True)
    trust = serializers.ChoiceField(choices=TRUSTS, allow_null=True)
    not_ranked_because = serializers.CharField()


class UploadSerializer(serializers.ModelSerializer[Upload]):
    """An upload in a list; its own address says what was understood of it."""

    lab: Any = serializers.SlugRelatedField(slug_field="slug", read_only=True, allow_null=True)
    url = serializers.SerializerMethodField()
    files = serializers.SerializerMethodField()
    trust = serializers.SerializerMethodField()

    class Meta:
        model = Upload
        fields = (
            "id",
            "url",
            "state",
            "lab",
            "files",
            "corrects",
            "reason",
            "created_at",
            "sent_at",
            "returned_at",
            "note",
            "publish_at",
            "published_at",
            "trust",
            "not_ranked_because",
        )

    def get_url(self, upload: Upload) -> str:
        return str(self.context["request"].build_absolute_uri(upload.get_absolute_url()))

    def get_files(self, upload: Upload) -> list[str]:
        return [file.name for file in upload.files.all()]

    @extend_schema_field(serializers.ChoiceField(choices=TRUSTS, allow_null=True))
    def get_trust(self, upload: Upload) -> str | None:
        return None if upload.trust is None else trust_word(upload.trust)


class AnswersSerializer(serializers.Serializer[Any]):
    """What may be said beside files. `set` is `name=value`, as often as there is to say."""

    lab = serializers.CharField(required=False)
    system = serializers.CharField(required=False)
    benchmark = serializers.CharField(required=False)
    publish = serializers.BooleanField(required=False)
    publish_at = serializers.DateTimeField(required=False)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """With `file` and `set`, which may be given several times."""
        texts = serializers.ListField(child=serializers.CharField(), required=False)
        files = serializers.ListField(child=serializers.FileField(), required=False)
        return {"file": files, **super().get_fields(), "set": texts}


class OrderSerializer(AnswersSerializer):
    """Files and what is said beside them."""

    dry_run = serializers.BooleanField(required=False)
    corrects = serializers.IntegerField(required=False)
    reason = serializers.CharField(required=False)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """The files are needed here."""
        files = serializers.ListField(child=serializers.FileField())
        return {**super().get_fields(), "file": files}


class DateSerializer(serializers.Serializer[Any]):
    publish_at = serializers.DateTimeField(required=False)


class ReasonGivenSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField()


class NoteSerializer(serializers.Serializer[Any]):
    note = serializers.CharField()


class LabelSerializer(serializers.Serializer[Any]):
    trust = serializers.ChoiceField(choices=TRUSTS, required=False)
    not_ranked_because = serializers.CharField(required=False)


REFUSED = PolymorphicProxySerializer(
    component_name="Refused",
    serializers=[UploadDocumentSerializer, ErrorSerializer],
    resource_type_field_name=None,
)
