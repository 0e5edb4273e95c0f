"""One row that changes with everything that pages show."""

from __future__ import annotations

from django.db import models


class Stamp(models.Model):
    """The only row's `value` is new after each change; pages kept from before are stale."""

    value = models.CharField(max_length=32)

    def __str__(self) -> str:
        return self.value
