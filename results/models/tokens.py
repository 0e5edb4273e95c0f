"""Keys with which a lab's programs speak for it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from results.models.labs import Lab


class Token(models.Model):
    """A lab's key: the secret is shown once and kept as its SHA-256 only.

    `prefix` is the part that is shown in lists. `scopes` are of `Scope`; `publish` brings
    `upload` with it.
    """

    class Scope(models.TextChoices):
        UPLOAD = "upload", _("upload")
        PUBLISH = "publish", _("publish what is the lab's own")
        RUN = "run", _("start and cancel jobs")

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=80, blank=True)
    scopes: models.JSONField[Any, Any] = models.JSONField(default=list)
    prefix = models.CharField(max_length=12, editable=False)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
    )
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"token {self.name or self.prefix} of {self.lab}"

    @property
    def is_live(self) -> bool:
        """Whether it opens anything now."""
        now = timezone.now()
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def may(self, scope: str) -> bool:
        """Whether its scopes allow something."""
        return scope in self.scopes or (scope == self.Scope.UPLOAD and "publish" in self.scopes)
