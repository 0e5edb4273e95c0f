"""Who changed a published number: rows that are only ever added."""

from __future__ import annotations

from typing import Any, NoReturn

from django.conf import settings
from django.db import models

from results.models.runs import Run
from results.models.uploads import Upload


class AuditError(RuntimeError):
    """An audit row was about to be changed or deleted."""


class AuditQuerySet(models.QuerySet["AuditEntry"]):
    def update(self, **kwargs: Any) -> NoReturn:
        raise AuditError("audit rows are never changed")

    def delete(self) -> NoReturn:
        raise AuditError("audit rows are never deleted")


class AuditEntry(models.Model):
    """One change of a run, an upload, a token, or of its standing: who, when, what, why.

    `actor_name` outlives the account. The database refuses UPDATE and DELETE by trigger.
    """

    at = models.DateTimeField(auto_now_add=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
    )
    actor_name = models.CharField(max_length=150)
    action = models.CharField(max_length=40)
    run = models.ForeignKey(
        Run,
        null=True,
        blank=True,
        on_delete=models.DO_NOTHING,
        related_name="audit",
        db_constraint=False,
    )
    upload = models.ForeignKey(
        Upload,
        null=True,
        blank=True,
        on_delete=models.DO_NOTHING,
        related_name="audit",
        db_constraint=False,
    )
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    reason = models.TextField(blank=True)

    objects = AuditQuerySet.as_manager()

    class Meta:
        ordering = ("-id",)
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.actor_name}: {self.action}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk is not None:
            raise AuditError("audit rows are never changed")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AuditError("audit rows are never deleted")
