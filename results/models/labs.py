"""Who measured, and who may speak for them."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


class Lab(models.Model):
    """Who measured: a reviewer, a vendor, an HPC centre, a published list, or this hub."""

    class Kind(models.TextChoices):
        REVIEW = "review", _("reviewer")
        VENDOR = "vendor", _("vendor")
        HPC = "hpc", _("HPC centre")
        LIST = "list", _("published list")
        LOCAL = "local", _("this hub")

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.REVIEW)
    homepage = models.URLField(blank=True)
    members: models.ManyToManyField[models.Model, Membership] = models.ManyToManyField(
        settings.AUTH_USER_MODEL, through="Membership", related_name="labs"
    )

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return f"{reverse('systems')}?lab={self.slug}"


class Membership(models.Model):
    """An account that belongs to a lab; a publisher may publish what is the lab's own."""

    class Role(models.TextChoices):
        MEMBER = "member", _("member")
        PUBLISHER = "publisher", _("publisher")

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=10, choices=Role, default=Role.MEMBER)

    class Meta:
        constraints = [models.UniqueConstraint(fields=("lab", "user"), name="one_membership")]

    def __str__(self) -> str:
        return f"{self.user} · {self.lab}"
