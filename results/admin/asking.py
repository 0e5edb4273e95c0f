"""A page between an action and what it does, which asks for the reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django import forms
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _

from results.admin.readonly import ModelAdmin

MOST_LISTED = 20
SHOWN_TO_READERS = _("Reason, shown to readers")


class ReasonForm(forms.Form):
    """Why a standing is changed; `label` says who will read it."""

    reason = forms.CharField(
        max_length=300, strip=True, widget=forms.Textarea(attrs={"rows": 3, "cols": 70})
    )

    def __init__(self, data: Any, *, label: Any) -> None:
        super().__init__(data)
        self.fields["reason"].label = label


def ask_reason(
    admin: ModelAdmin,
    request: HttpRequest,
    queryset: QuerySet[Any],
    *,
    action: str,
    title: str,
    change: Callable[[str], None],
    label: Any = SHOWN_TO_READERS,
    describe: Callable[[Any], str] = str,
) -> HttpResponse | None:
    """The page that asks for a reason; None once there is one and the change is made."""
    form = ReasonForm(request.POST if "apply" in request.POST else None, label=label)
    if form.is_valid():
        change(form.cleaned_data["reason"])
        return None
    rows: Sequence[Any] = list(queryset[:MOST_LISTED])
    context = {
        **admin.admin_site.each_context(request),
        "title": title,
        "opts": admin.opts,
        "media": admin.media,
        "form": form,
        "action": action,
        "checkbox": ACTION_CHECKBOX_NAME,
        "across": request.POST.get("select_across", "0"),
        "chosen": request.POST.getlist(ACTION_CHECKBOX_NAME),
        "rows": [(describe(row), _address(row)) for row in rows],
        "count": queryset.count(),
    }
    return TemplateResponse(request, "admin/results/reason.html", context)


def _address(row: Any) -> str:
    """The row's public page, "" where it has none."""
    return row.get_absolute_url() if hasattr(row, "get_absolute_url") else ""
