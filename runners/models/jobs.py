"""Requests to measure, and their executions."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from results.models import Lab, Run, Token
from runners.models.hosts import Host

MOST_ATTEMPTS = 3


class Job(models.Model):
    """A request to run a benchmark on a host. Its row is the truth; a message only rings.

    `benchmark` is the slug that a runner and the catalogue share; `parameters` are complete:
    those of the preset, and what was chosen instead. `lab` is the lab that asked, None for the
    hub's staff: the runs belong to the hub's own lab in any case. `reruns` is the published run
    that it repeats. `publish`: as soon as it is finished. `message` says why it ended.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        FINISHED = "finished", _("finished")
        FAILED = "failed", _("failed")
        CANCELLED = "cancelled", _("cancelled")

    host = models.ForeignKey(Host, on_delete=models.PROTECT, related_name="jobs")
    benchmark = models.SlugField(max_length=80)
    preset = models.CharField(max_length=40)
    parameters: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)
    publish = models.BooleanField(default=False)
    reruns = models.ForeignKey(
        Run, null=True, blank=True, on_delete=models.SET_NULL, related_name="rerun_by"
    )
    runs = models.ManyToManyField(Run, blank=True, related_name="jobs")

    lab = models.ForeignKey(
        Lab, null=True, blank=True, on_delete=models.SET_NULL, related_name="jobs"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="jobs",
    )
    token = models.ForeignKey(
        Token, null=True, blank=True, on_delete=models.SET_NULL, related_name="jobs"
    )
    actor_name = models.CharField(max_length=150)

    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    message = models.TextField(blank=True)

    class Meta:
        ordering = ("-id",)
        indexes = [
            models.Index(fields=("state", "-id"), name="job_state"),
            models.Index(fields=("host", "state", "-id"), name="job_host"),
        ]

    def __str__(self) -> str:
        return f"job {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("job", args=[self.pk])

    @property
    def is_over(self) -> bool:
        return self.state not in (self.State.QUEUED, self.State.RUNNING)


class Attempt(models.Model):
    """One execution of a job. States move forward only: queued, running, then one of the rest.

    A worker claims it by one UPDATE that sets `owner`, `lease_until` and who the owner is
    (`place`, `owner_pid`, `owner_started`: clock ticks since boot, so that a recycled id is not
    taken for it). `session_id` and `session_started` are those of the benchmark's own session.
    Every later write is guarded by `owner`. `rung_at`: when a message was last sent. `ended_at`
    says that nothing of it is left on its host. `record` is what the engine noted: arguments,
    environment, samples of the host before, during and after; `flags` what speaks against the
    result; `tail` the end of what the program printed.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        FINISHED = "finished", _("finished")
        FAILED = "failed", _("failed")
        CANCELLED = "cancelled", _("cancelled")
        LOST = "lost", _("lost")

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="attempts")
    host = models.ForeignKey(Host, on_delete=models.PROTECT, related_name="attempts")
    number = models.PositiveSmallIntegerField(default=1)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    created_at = models.DateTimeField(auto_now_add=True)
    rung_at = models.DateTimeField(null=True, blank=True)

    owner = models.CharField(max_length=32, blank=True)
    place = models.CharField(max_length=120, blank=True)
    owner_pid = models.PositiveIntegerField(null=True, blank=True)
    owner_started = models.PositiveBigIntegerField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    session_id = models.PositiveIntegerField(null=True, blank=True)
    session_started = models.PositiveBigIntegerField(null=True, blank=True)
    stop_requested_at = models.DateTimeField(null=True, blank=True)

    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    step = models.CharField(max_length=80, blank=True)
    progress = models.FloatField(default=0.0)
    tail = models.TextField(blank=True)
    message = models.TextField(blank=True)
    flags: models.JSONField[Any, Any] = models.JSONField(default=list, blank=True)
    record: models.JSONField[Any, Any] = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ("job", "number")
        indexes = [
            models.Index(fields=("host", "state", "id"), name="attempt_queue"),
            models.Index(
                fields=("lease_until",), name="attempt_lease", condition=Q(state="running")
            ),
            models.Index(
                fields=("host", "id"), name="attempt_left", condition=Q(ended_at__isnull=True)
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=("job", "number"), name="one_attempt_a_number"),
            models.UniqueConstraint(
                fields=("job",),
                condition=Q(state__in=("queued", "running")),
                name="one_open_attempt_a_job",
            ),
            # Two measuring at once on one host would measure each other.
            models.UniqueConstraint(
                fields=("host",), condition=Q(state="running"), name="one_running_attempt_a_host"
            ),
            models.CheckConstraint(
                condition=~Q(state="running") | (~Q(owner="") & Q(lease_until__isnull=False)),
                name="running_attempt_has_a_lease",
            ),
            models.CheckConstraint(
                condition=Q(number__gte=1) & Q(number__lte=MOST_ATTEMPTS),
                name="attempt_number_is_in_bounds",
            ),
            models.CheckConstraint(
                condition=Q(progress__gte=0) & Q(progress__lte=1), name="progress_is_a_share"
            ),
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} of job {self.job_id}"
