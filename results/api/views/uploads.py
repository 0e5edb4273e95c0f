"""Uploads: files come in, are answered, published, corrected and withdrawn."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from django.db import DatabaseError
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from results import actors, artefacts
from results.api import documents, filters
from results.api.answers import TRUST_WORDS
from results.api.documents import Document, UploadDocumentSerializer
from results.api.fields import Fields
from results.api.ordering import (
    Order,
    change,
    read_answers,
    read_order,
    require_right_to_publish,
    take,
)
from results.api.views.base import ById, Posted
from results.intake import client, standing
from results.intake.client import OnDisk
from results.intake.given import Given
from results.models import Artefact, Upload
from results.queries.uploads import visible_uploads
from results.receiving import Received, received, receives
from results.services import ServiceError

State = Upload.State
DOCUMENT = UploadDocumentSerializer
BODY = ("409", "411", "413", "503", "507")


class MayUpload(BasePermission):
    """Reading is asked of each upload; sending is for labs, before anything is read."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        if request.method in SAFE_METHODS:
            return True
        user = request.user
        return bool(user.is_authenticated) and actors.may_upload(user, None)


class UploadViewSet(ById):
    """What labs have sent; newest first. Seen by its lab and the staff."""

    queryset = Upload.objects.none()
    serializer_class = documents.UploadSerializer
    filterset_class = filters.UploadFilter
    http_method_names = ["get", "head", "options", "post"]
    permission_classes = [MayUpload]
    content_negotiation_class = Posted
    parser_classes = Posted.parsers

    brought: Sequence[Received] = ()

    @classmethod
    def as_view(cls, actions: Any = None, **initkwargs: Any) -> Any:
        """Files go straight to the store, once it is known who sends them."""
        return receives(super().as_view(actions, **initkwargs))

    @property
    def errors(self) -> Sequence[str]:
        """The statuses of refusals, for the schema."""
        named = {
            "list": ("400", "404"),
            "retrieve": ("404",),
            "create": ("403", *BODY),
            "answer": ("403", "404", *BODY),
        }
        return named.get(self.action, ("400", "403", "404", "409"))

    def get_queryset(self) -> QuerySet[Any]:
        rows = visible_uploads(self.request.user).select_related("lab").order_by("-pk")
        if self.detail:
            return rows.select_related("corrects")
        return rows.defer("report", "given").prefetch_related("files")

    def handle_exception(self, exc: Exception) -> Response:
        """What is refused leaves no file."""
        forget(self.brought)
        return super().handle_exception(exc)

    def bring(self, request: Request) -> list[Received]:
        """The request's files. Raises ReceiveError."""
        files = received(request)
        self.brought = files
        return files

    def tell(self, upload: Upload, status: int = 200, remarks: Sequence[str] = ()) -> Response:
        """The document of an upload as it is now; 400 if it is refused."""
        fresh = visible_uploads(self.request.user).select_related("lab").get(pk=upload.pk)
        if fresh.state in (State.REJECTED, State.FAILED):
            status = 400
        return Response(documents.of_upload(fresh, self.request, remarks), status=status)

    # Reading

    @extend_schema(responses=DOCUMENT)
    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """What was understood of an upload, and what became of it."""
        return Response(documents.of_upload(self.get_object(), request))

    # Sending

    @extend_schema(
        operation_id="uploads_create",
        request={"multipart/form-data": documents.OrderSerializer},
        responses={200: DOCUMENT, 201: DOCUMENT, 400: documents.REFUSED},
    )
    def create(self, request: Request) -> Response:
        """Send files. 201: stored; 200: known, or a dry run; 400: refused."""
        files = self.bring(request)
        order = read_order(request, files)
        if order.dry_run:
            return self._look(order, files)
        upload, is_new = take(order, files)
        remarks = finish(upload, order)
        if is_new:
            answer = self.tell(upload, 201, remarks)
            answer["Location"] = reverse("api-upload-detail", [upload.pk], request=request)
            return answer
        return self.tell(upload, 200, [*untaken(upload, order.given), *remarks])

    @extend_schema(
        operation_id="uploads_answer",
        request={"multipart/form-data": documents.AnswersSerializer},
        responses={200: DOCUMENT, 400: documents.REFUSED},
    )
    def answer(self, request: Request, pk: str = "") -> Response:
        """Answer the questions of an upload, or replace its files; it is read anew."""
        upload = self.get_object()
        files = self.bring(request)
        order = read_answers(request, upload)
        changed = change(upload, order, files)
        return self.tell(changed, 200, finish(changed, order))

    def _look(self, order: Order, files: Sequence[Received]) -> Response:
        """What would be understood; nothing stays behind."""
        account, token = actors.account(order.actor), getattr(order.actor, "token", None)
        on_disk = [OnDisk(file.name, str(artefacts.path_of(file.sha256))) for file in files]
        report = client.have_looked_at(
            on_disk,
            order.given.as_json(),
            lab=order.lab.pk if order.lab else None,
            account=None if token or account is None else account.pk,
            token=token.pk if token else None,
            corrects=order.correction.upload.pk if order.correction else None,
        )
        forget(files)
        sent = [{"name": f.name, "size": f.size, "sha256": f.sha256} for f in files]
        lab = order.lab.slug if order.lab else None
        document = documents.of_report(report or _unread(), lab=lab, sent=sent)
        refused = document["state"] in (State.REJECTED, State.FAILED)
        return Response(document, status=400 if refused else 200)

    # Standing

    @extend_schema(request=documents.DateSerializer, responses=DOCUMENT)
    @action(detail=True, methods=["post"])
    def publish(self, request: Request, pk: str = "") -> Response:
        """Publish an upload, now or by itself at `publish_at`."""
        upload = self.get_object()
        require_right_to_publish(request.user, upload.lab)
        moment = self._moment(request)
        if moment is None:
            standing.publish_upload(upload=upload, actor=request.user)
        else:
            standing.schedule_upload(upload=upload, actor=request.user, publish_at=moment)
        return self.tell(upload)

    @extend_schema(request=documents.DateSerializer, responses=DOCUMENT)
    @action(detail=True, methods=["post"])
    def send(self, request: Request, pk: str = "") -> Response:
        """Put an upload before those who may publish it, with the date that its lab wishes."""
        upload, moment = self.get_object(), self._moment(request)
        standing.send(upload=upload, actor=request.user, publish_at=moment)
        return self.tell(upload)

    @extend_schema(request=documents.ReasonGivenSerializer, responses=DOCUMENT)
    @action(detail=True, methods=["post"])
    def withdraw(self, request: Request, pk: str = "") -> Response:
        """Withdraw all of an upload, with the reason that readers will see."""
        upload, reason = self.get_object(), self._prose(request, "reason")
        standing.withdraw_upload(upload=upload, actor=request.user, reason=reason)
        return self.tell(upload)

    @extend_schema(request=documents.NoteSerializer, responses=DOCUMENT)
    @action(detail=True, methods=["post"], url_path="return", url_name="return")
    def give_back(self, request: Request, pk: str = "") -> Response:
        """Return an upload to its lab with a note of what is to be mended."""
        upload = self.get_object()
        if not actors.may_review(request.user):
            require_right_to_publish(request.user, upload.lab)
        note = self._prose(request, "note")
        standing.give_back(upload=upload, actor=request.user, why=note)
        return self.tell(upload)

    @extend_schema(request=documents.LabelSerializer, responses=DOCUMENT)
    @action(detail=True, methods=["post"])
    def label(self, request: Request, pk: str = "") -> Response:
        """Say who stands behind an upload's runs, or why they are kept out of ranks."""
        upload = self.get_object()
        if not actors.may_review(request.user):
            raise PermissionDenied(_("Only the staff labels uploads."))
        self.bring(request)
        fields = Fields(request, ("trust", "not_ranked_because"))
        levels = {word: level for level, word in TRUST_WORDS.items()}
        trust = fields.choice("trust", list(levels))
        because = fields.prose("not_ranked_because", 300)
        is_kept_out = fields.has("not_ranked_because")
        if not trust and not is_kept_out:
            fields.refuse("trust", _("expected trust or not_ranked_because"))
        fields.check()
        standing.judge(
            upload=upload,
            actor=request.user,
            trust=levels[trust] if trust else None,
            not_ranked_because=because if is_kept_out else None,
        )
        return self.tell(upload)

    def _moment(self, request: Request) -> datetime | None:
        self.bring(request)
        fields = Fields(request, ("publish_at",))
        moment = fields.moment("publish_at")
        fields.check()
        return moment

    def _prose(self, request: Request, name: str) -> str:
        """A text that must be given."""
        self.bring(request)
        fields = Fields(request, (name,))
        text = fields.prose(name)
        fields.check()
        if not text:
            raise ValidationError({name: [_("is needed here")]})
        return text


def finish(upload: Upload, order: Order) -> list[str]:
    """Have an upload read, and give it its date; what cannot be done yet, in words."""
    if upload.state == State.RECEIVED:
        client.have_read(upload.pk)
    if order.publish_at is None:
        return []
    try:
        standing.schedule_upload(upload=upload, actor=order.actor, publish_at=order.publish_at)
    except ServiceError as error:
        return [_("It has no date to be published yet. %s") % error]
    return []


def untaken(upload: Upload, given: Given) -> list[str]:
    """What to say where answers came with files that were published or withdrawn before."""
    kept = Given.of(upload.given)
    if upload.is_open or kept.answered(given) in (kept, kept.answered(Given(publish=True))):
        return []
    return [_("These files are known; what was said beside them now was not taken.")]


def forget(files: Sequence[Received]) -> None:
    """Remove files that a request brought into the store and that no row names."""
    made = {file.sha256: file.made_ns for file in files if file.made_ns is not None}
    # What cannot be removed now is a stray, and the sweep's.
    with suppress(DatabaseError, OSError):
        named = Artefact.objects.filter(sha256__in=made).values_list("sha256", flat=True)
        for sha256 in set(made) - set(named):
            artefacts.take_back(sha256, made[sha256])


def _unread() -> Document:
    message = _("These files could not be read in time.")
    problem = {"file": "", "line": None, "field": "", "found": "", "expected": ""}
    return {"state": str(State.FAILED), "problems": [{**problem, "message": message}]}
