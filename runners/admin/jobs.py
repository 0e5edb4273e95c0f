"""Jobs and their attempts: looked at, and cancelled; their rows are written by workers."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from results.admin.readonly import ModelAdmin, Seen, SeenInline, page_link, row_link
from runners.jobs import JobError, cancel_job
from runners.models import Attempt, Job
from runners.pages.jobwords import jobs_words


class AttemptInline(SeenInline):
    model = Attempt
    fields = ("number", "state", "started_at", "finished_at", "step", "progress", "message")


@admin.register(Job)
class JobAdmin(Seen, ModelAdmin):
    list_display = (
        "id",
        "state",
        "benchmark",
        "preset",
        "host",
        "actor_name",
        "created_at",
        "finished_at",
        "page",
    )
    list_filter = ("state", "host", "benchmark")
    list_select_related = ("host",)
    search_fields = ("=id", "benchmark", "host__slug", "host__name", "actor_name", "message")
    show_full_result_count = False
    inlines = (AttemptInline,)
    actions = ("cancel",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Job]:
        related = ("host", "lab", "created_by", "token__lab", "reruns")
        return super().get_queryset(request).select_related(*related)

    @admin.display(description=gettext_lazy("page"))
    def page(self, obj: Job) -> Any:
        return page_link(obj)

    @admin.action(description=gettext_lazy("Cancel"))
    def cancel(self, request: HttpRequest, queryset: QuerySet[Job]) -> None:
        """Those that are over stay as they are, and are named."""
        count = 0
        for job in queryset.order_by("pk"):
            try:
                cancel_job(job, actor=request.user)
            except JobError as error:
                words = _("Job %(number)d: %(why)s") % {"number": job.pk, "why": error}
                self.message_user(request, words, messages.WARNING)
            else:
                count += 1
        if count:
            words = _("Cancelled: %(jobs)s.") % {"jobs": jobs_words(count)}
            self.message_user(request, words, messages.SUCCESS)


@admin.register(Attempt)
class AttemptAdmin(Seen, ModelAdmin):
    list_display = ("id", "job_link", "number", "state", "host", "started_at", "finished_at")
    list_filter = ("state", "host")
    list_select_related = ("job", "host")
    search_fields = ("=id", "=job__id", "message")
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Attempt]:
        # Lists do not read what was printed and noted.
        found = super().get_queryset(request).select_related("job", "host")
        match = request.resolver_match
        listed = match is not None and match.url_name == "runners_attempt_changelist"
        return found.defer("tail", "record") if listed else found

    @admin.display(description=gettext_lazy("job"), ordering="job_id")
    def job_link(self, obj: Attempt) -> Any:
        return row_link(obj.job.get_absolute_url(), f"job {obj.job_id}")
