"""Hosts and jobs: read by all; jobs are started and cancelled by the staff and by tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Count, OuterRef, Prefetch, Q, QuerySet, Subquery
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from results.api.pagination import Newest
from results.api.views.base import ById, BySlug, Posted
from results.queries import visible_runs, visible_systems
from runners.api import documents, filters
from runners.api.asking import read_wanted, refused, require_small
from runners.benchmarks.base import ParameterError
from runners.jobs import JobError, cancel_job, may_run, request_job
from runners.models import Attempt, Host, Job

WRITES = ("create", "cancel")


class HostViewSet(BySlug):
    """Machines that take jobs."""

    queryset = Host.objects.none()
    serializer_class = documents.HostSerializer
    detail_serializer_class = documents.HostDetailSerializer
    filterset_class = filters.HostFilter

    def get_queryset(self) -> QuerySet[Any]:
        jobs = Job.objects.filter(host=OuterRef("pk")).order_by("-pk").values("pk")
        seen = visible_systems(self.request.user).filter(pk=OuterRef("system_id"))
        queued = Q(attempts__state=Attempt.State.QUEUED)
        return (
            Host.objects.select_related("system__processor")
            .annotate(
                seen_system=Subquery(seen.values("slug")[:1]),
                newest_job=Subquery(jobs[:1]),
                running_job=Subquery(jobs.filter(state=Job.State.RUNNING)[:1]),
                waiting=Count("attempts", filter=queued),
            )
            .order_by("slug")
        )


class MayRun(BasePermission):
    """Reading is for all; starting and cancelling for the staff and tokens made for it."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        if getattr(view, "action", None) not in WRITES:
            return True
        return bool(request.user.is_authenticated) and may_run(request.user)


class JobViewSet(ById):
    """What hosts were asked to measure; newest first. Runs and logs only for who may see them."""

    queryset = Job.objects.none()
    serializer_class = documents.JobSerializer
    detail_serializer_class = documents.JobDetailSerializer
    filterset_class = filters.JobFilter
    pagination_class = Newest
    http_method_names = ["get", "head", "options", "post"]
    permission_classes = [MayRun]
    content_negotiation_class = Posted
    parser_classes = Posted.parsers

    @property
    def errors(self) -> Sequence[str]:
        """The statuses of refusals, for the schema."""
        named = {
            "list": ("400", "404"),
            "retrieve": ("404",),
            "create": ("400", "403", "409", "413"),
        }
        return named.get(self.action, ("403", "404", "409"))

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        require_small(request)
        super().initial(request, *args, **kwargs)

    def get_queryset(self) -> QuerySet[Any]:
        seen = visible_runs(self.request.user).order_by()
        attempts = Attempt.objects.order_by("number").defer("record")
        if not self.detail:
            attempts = attempts.defer("record", "tail")
        runs = Prefetch("runs", seen.order_by("pk").only("pk"), to_attr="seen_runs")
        return (
            Job.objects.select_related("host")
            .annotate(seen_reruns=seen.filter(pk=OuterRef("reruns_id")).values("pk")[:1])
            .prefetch_related(Prefetch("attempts", attempts), runs)
            .order_by("-pk")
        )

    @extend_schema(
        request={
            "application/json": documents.WantedSerializer,
            "multipart/form-data": documents.WantedSerializer,
        },
        responses={201: documents.StartedSerializer},
    )
    def create(self, request: Request) -> Response:
        """Ask a host to measure; 201 with the job, which waits for its turn."""
        wanted = read_wanted(request)
        try:
            job = request_job(
                host=wanted.host,
                benchmark=wanted.benchmark,
                preset=wanted.preset,
                parameters=wanted.parameters,
                actor=request.user,
                reruns=wanted.reruns,
                publish=wanted.publish,
            )
        except (ParameterError, JobError) as error:
            raise refused(error) from None
        context = {**self.get_serializer_context(), "remarks": wanted.remarks}
        told = documents.StartedSerializer(self._fresh(job), context=context).data
        place = reverse("api-job-detail", [job.pk], request=request)
        return Response(told, status=201, headers={"Location": place})

    @extend_schema(request=None, responses={202: documents.JobDetailSerializer})
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str = "") -> Response:
        """End a job: at once while it waits, within seconds while it runs."""
        try:
            job = cancel_job(self.get_object(), actor=request.user)
        except JobError as error:
            raise refused(error) from None
        context = self.get_serializer_context()
        told = documents.JobDetailSerializer(self._fresh(job), context=context).data
        return Response(told, status=202)

    def _fresh(self, job: Job) -> Job:
        """The job as the reader may see it."""
        self.detail = True
        fresh: Job = self.get_queryset().get(pk=job.pk)
        return fresh
