"""Tokens of labs: made, looked through, revoked. A secret is shown once, when it is made."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.debug import sensitive_variables

from results import services, tokens
from results.admin.asking import ask_reason
from results.admin.readonly import ModelAdmin, ModelForm
from results.models import Token

SEEN = (
    "lab",
    "name",
    "prefix",
    "scope_words",
    "state",
    "created_at",
    "created_by",
    "expires_at",
    "revoked_at",
    "last_used_at",
)


def state_of(token: Token) -> str:
    """live, revoked or expired, in the reader's language."""
    if token.revoked_at is not None:
        return _("revoked")
    return _("live") if token.is_live else _("expired")


class TokenForm(ModelForm):
    """What a new token is for and what it may."""

    scopes = forms.MultipleChoiceField(
        choices=Token.Scope.choices,
        initial=[Token.Scope.UPLOAD],
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("To publish includes to upload."),
    )

    class Meta:
        model = Token
        fields = ("lab", "name", "scopes", "expires_at")

    def clean_expires_at(self) -> Any:
        expires_at = self.cleaned_data["expires_at"]
        if expires_at is not None and expires_at <= timezone.now():
            raise forms.ValidationError(_("Expected a moment in the future, or none."))
        return expires_at


@admin.register(Token)
class TokenAdmin(ModelAdmin):
    form = TokenForm
    list_display = ("prefix", "lab", "name", "scope_words", "created_at", "last_used_at", "state")
    list_filter = ("lab", "revoked_at")
    list_select_related = ("lab",)
    search_fields = ("prefix", "name", "lab__name", "lab__slug")
    actions = ("revoke",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Token]:
        return super().get_queryset(request).defer("digest").select_related("lab", "created_by")

    def get_fields(self, request: HttpRequest, obj: Token | None = None) -> Any:
        return SEEN if obj else TokenForm.Meta.fields

    def get_readonly_fields(self, request: HttpRequest, obj: Token | None = None) -> Any:
        """A token that is made stays as it is until it is revoked."""
        return SEEN if obj else ()

    def has_delete_permission(self, request: HttpRequest, obj: Token | None = None) -> bool:
        return False

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """A token's page without buttons: there is nothing on it to save."""
        shown = {"show_save": False, "show_save_and_continue": False, **(extra_context or {})}
        return super().change_view(request, object_id, form_url, shown)

    @sensitive_variables("secret")
    def save_model(self, request: HttpRequest, obj: Token, form: Any, change: bool) -> None:
        """Make the token by the service; the secret goes no further than this answer."""
        if change:
            return
        token, secret = tokens.make(
            lab=obj.lab,
            scopes=obj.scopes,
            name=obj.name,
            actor=request.user,
            expires_at=obj.expires_at,
        )
        obj.__dict__.update(token.__dict__, secret=secret)

    def response_add(
        self, request: HttpRequest, obj: Token, post_url_continue: str | None = None
    ) -> HttpResponse:
        """The page that shows the secret: in no message, since those are kept in cookies."""
        context = {
            **self.admin_site.each_context(request),
            "title": _("New token"),
            "opts": self.opts,
            "token": str(obj),
            "secret": obj.__dict__["secret"],
        }
        return TemplateResponse(
            request,
            "admin/results/token/made.html",
            context,
            headers={"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"},
        )

    @admin.display(description=gettext_lazy("scopes"))
    def scope_words(self, obj: Token) -> str:
        return ", ".join(obj.scopes)

    @admin.display(description=gettext_lazy("state"))
    def state(self, obj: Token) -> str:
        return state_of(obj)

    @admin.action(description=gettext_lazy("Revoke, with a reason…"), permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[Token]) -> HttpResponse | None:
        def change(reason: str) -> None:
            self._revoke(request, queryset, reason)

        return ask_reason(
            self,
            request,
            queryset,
            action="revoke",
            title=_("Revoke tokens"),
            change=change,
            label=_("Reason, kept in the audit trail"),
        )

    def _revoke(self, request: HttpRequest, queryset: QuerySet[Token], reason: str) -> None:
        try:
            found = [tokens.revoke(token=t, actor=request.user, reason=reason) for t in queryset]
        except services.ServiceError as error:
            self.message_user(request, str(error), messages.ERROR)
            return
        count = sum(found)
        words = ngettext("%(count)d token was revoked.", "%(count)d tokens were revoked.", count)
        self.message_user(request, words % {"count": count}, messages.SUCCESS)
