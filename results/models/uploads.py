"""Files that a lab sent, what was understood of them, and what became of it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from results.models.labs import Lab
from results.models.provenance import Artefact
from results.models.runs import Run, Trust
from results.models.tokens import Token


class Upload(models.Model):
    """Files, stored before any parser sees them, and what is said beside them.

    `identity` is a SHA-256 of lab, file digests and the upload that this one corrects: the
    same files are one upload. `given` is what was said beside the files: system, benchmark,
    scope and `set`, the settings by name. `report` is what was understood: the document of
    `POST uploads/` and what its page shows beside.
    """

    class State(models.TextChoices):
        RECEIVED = "received", _("received")
        PARSED = "parsed", _("understood")
        REJECTED = "rejected", _("refused")
        FAILED = "failed", _("failed")
        PUBLISHED = "published", _("published")
        WITHDRAWN = "withdrawn", _("withdrawn")

    identity = models.CharField(max_length=64, unique=True, editable=False)
    lab = models.ForeignKey(
        Lab, null=True, blank=True, on_delete=models.PROTECT, related_name="uploads"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="uploads",
    )
    token = models.ForeignKey(
        Token, null=True, blank=True, on_delete=models.SET_NULL, related_name="uploads"
    )
    state = models.CharField(max_length=10, choices=State, default=State.RECEIVED)
    given: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    report: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    runs = models.ManyToManyField(Run, blank=True, related_name="uploads")

    # Reading: one process at a time, three times at most.
    attempts = models.PositiveSmallIntegerField(default=0)
    claimed_at = models.DateTimeField(null=True, blank=True)
    claim = models.CharField(max_length=32, blank=True)
    parsed_at = models.DateTimeField(null=True, blank=True)

    # Review: sent to the staff or the lab's publishers, returned with a note.
    sent_at = models.DateTimeField(null=True, blank=True)
    returned_at = models.DateTimeField(null=True, blank=True)
    note = models.TextField(blank=True)
    trust = models.PositiveSmallIntegerField(choices=Trust, null=True, blank=True)
    not_ranked_because = models.CharField(max_length=300, blank=True)

    # Standing.
    publish_at = models.DateTimeField(null=True, blank=True)
    published_at = models.DateTimeField(null=True, blank=True)
    corrects = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="corrections"
    )
    reason = models.TextField(blank=True)
    preview_key = models.CharField(max_length=32, blank=True, editable=False)

    class Meta:
        ordering = ("-id",)
        indexes = [
            models.Index(fields=("lab", "-id"), name="upload_lab"),
            models.Index(fields=("state", "claimed_at"), name="upload_state"),
            models.Index(
                fields=("publish_at",),
                name="upload_due",
                condition=Q(publish_at__isnull=False),
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=~Q(state="published") | Q(published_at__isnull=False),
                name="published_upload_has_a_date",
            ),
            models.CheckConstraint(
                condition=~Q(state="withdrawn") | ~Q(reason=""),
                name="withdrawn_upload_has_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"upload {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("upload", args=[self.pk])

    @property
    def is_open(self) -> bool:
        """Whether files and answers may still change: nothing of it was ever public."""
        return self.state not in (self.State.PUBLISHED, self.State.WITHDRAWN)

    @property
    def is_in_review(self) -> bool:
        return self.state == self.State.PARSED and self.sent_at is not None


class UploadFile(models.Model):
    """A file of an upload under the name that it came with, flat and unique in the upload."""

    upload = models.ForeignKey(Upload, on_delete=models.CASCADE, related_name="files")
    artefact = models.ForeignKey(Artefact, on_delete=models.PROTECT, related_name="upload_files")
    name = models.CharField(max_length=200)
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ("position",)
        constraints = [
            models.UniqueConstraint(fields=("upload", "name"), name="one_file_a_name"),
            models.UniqueConstraint(fields=("upload", "position"), name="one_file_a_position"),
        ]

    def __str__(self) -> str:
        return self.name
