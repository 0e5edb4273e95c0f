"""Runs: looked through, published, withdrawn and kept out of ranks; their numbers stay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from results import hooks, services
from results.admin.asking import ask_reason
from results.admin.readonly import ModelAdmin, Seen, SeenInline, page_link, row_link
from results.models import Measurement, Run


class MeasurementInline(SeenInline):
    model = Measurement
    fields = (
        "metric",
        "value",
        "low",
        "high",
        "qualifier",
        "printed",
        "artefact",
        "line_from",
        "line_to",
        "note",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Measurement]:
        return super().get_queryset(request).select_related("metric__benchmark", "artefact")


@admin.register(Run)
class RunAdmin(ModelAdmin):
    list_display = (
        "id",
        "state",
        "benchmark",
        "system",
        "lab",
        "scope",
        "trust",
        "published_at",
        "page",
    )
    list_filter = ("state", "trust", "scope", "benchmark", "lab")
    list_select_related = ("benchmark", "system__processor", "lab")
    search_fields = (
        "=id",
        "system__name",
        "system__slug",
        "system__processor__name",
        "benchmark__name",
        "lab__name",
        "note",
        "node",
    )
    show_full_result_count = False
    inlines = (MeasurementInline,)
    actions = ("publish", "withdraw", "keep_out_of_ranks", "let_into_ranks")

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Its own and those of other apps; none in a window that only picks a run."""
        own = super().get_actions(request)
        added = [found for one in hooks.run_actions if (found := self.get_action(one))]
        return {**own, **{action[1]: action for action in added}} if own else own

    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        related = ("benchmark", "system__processor", "lab", "setup", "source", "created_by")
        return super().get_queryset(request).select_related(*related)

    def get_readonly_fields(self, request: HttpRequest, obj: Run | None = None) -> list[str]:
        """All of them: what a run says is changed by a correction, its standing by actions."""
        names = [field.name for field in Run._meta.fields if field.name != "supersedes"]
        return [*names, "correction", "artefact_files", "page"]

    def get_fields(self, request: HttpRequest, obj: Run | None = None) -> list[Any]:
        hidden = {"id", "identity", "ordinal", "fingerprint"}
        return [name for name in self.get_readonly_fields(request, obj) if name not in hidden]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Run | None = None) -> bool:
        return False

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """A run's page without buttons: there is nothing on it to save."""
        shown = {"show_save": False, "show_save_and_continue": False, **(extra_context or {})}
        return super().change_view(request, object_id, form_url, shown)

    @admin.display(description=gettext_lazy("page"))
    def page(self, obj: Run) -> Any:
        return page_link(obj)

    @admin.display(description=gettext_lazy("corrects"))
    def correction(self, obj: Run) -> Any:
        if obj.supersedes_id is None:
            return "–"
        address = reverse("admin:results_run_change", args=[obj.supersedes_id])
        return row_link(address, f"run {obj.supersedes_id}")

    @admin.display(description=gettext_lazy("files"))
    def artefact_files(self, obj: Run) -> str:
        return ", ".join(str(artefact) for artefact in obj.artefacts.all()) or "–"

    @admin.action(description=gettext_lazy("Publish"), permissions=["change"])
    def publish(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        self._do(request, lambda ids: services.publish(runs=ids, actor=request.user), queryset)

    @admin.action(description=gettext_lazy("Withdraw, with a reason…"), permissions=["change"])
    def withdraw(self, request: HttpRequest, queryset: QuerySet[Run]) -> HttpResponse | None:
        return self._ask(
            request,
            queryset,
            "withdraw",
            _("Withdraw runs"),
            lambda ids, reason: services.withdraw(runs=ids, actor=request.user, reason=reason),
        )

    @admin.action(
        description=gettext_lazy("Keep out of ranks, with a reason…"), permissions=["change"]
    )
    def keep_out_of_ranks(
        self, request: HttpRequest, queryset: QuerySet[Run]
    ) -> HttpResponse | None:
        return self._ask(
            request,
            queryset,
            "keep_out_of_ranks",
            _("Keep runs out of ranks"),
            lambda ids, reason: services.edit_not_ranked(
                runs=ids, because=reason, actor=request.user
            ),
        )

    @admin.action(description=gettext_lazy("Let into ranks again"), permissions=["change"])
    def let_into_ranks(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        def change(ids: Sequence[int]) -> int:
            return services.edit_not_ranked(runs=ids, because="", actor=request.user)

        self._do(request, change, queryset)

    def _ask(
        self,
        request: HttpRequest,
        queryset: QuerySet[Run],
        action: str,
        title: str,
        change: Callable[[Sequence[int], str], int],
    ) -> HttpResponse | None:
        """A page in between that asks for the reason; with one, the change is made."""
        return ask_reason(
            self,
            request,
            queryset,
            action=action,
            title=title,
            change=lambda reason: self._do(request, lambda ids: change(ids, reason), queryset),
            describe=_described,
        )

    def _do(
        self,
        request: HttpRequest,
        change: Callable[[Sequence[int]], int],
        queryset: QuerySet[Run],
    ) -> None:
        """Make a change through `results.services` and say what it did."""
        try:
            count = change(list(queryset.order_by("pk").values_list("pk", flat=True)))
        except services.ServiceError as error:
            self.message_user(request, str(error), messages.ERROR)
            return
        words = ngettext("%(count)d run was changed.", "%(count)d runs were changed.", count)
        self.message_user(request, words % {"count": count}, messages.SUCCESS)


def _described(run: Run) -> str:
    words = {"number": run.pk, "benchmark": run.benchmark.name, "system": run.system}
    return _("Run %(number)s, %(benchmark)s on %(system)s") % words


@admin.register(Measurement)
class MeasurementAdmin(Seen, ModelAdmin):
    list_display = ("id", "metric", "system", "value", "low", "high", "qualifier", "run_link")
    list_filter = ("qualifier", "metric__benchmark", "run__lab")
    list_select_related = ("metric__benchmark", "run__system__processor")
    search_fields = ("=id", "=run__id", "metric__workload", "run__system__name")
    show_full_result_count = False

    @admin.display(ordering="run__system")
    def system(self, obj: Measurement) -> str:
        return str(obj.run.system)

    @admin.display(description="run", ordering="run_id")
    def run_link(self, obj: Measurement) -> Any:
        return row_link(obj.run.get_absolute_url(), f"run {obj.run_id}")
