"""What was measured on: processors and the systems built from them."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.urls import reverse

Fact = tuple[float | None, bool]
AT_LEAST_ONE = [MinValueValidator(1), MaxValueValidator(100_000)]
POSITIVE = [MinValueValidator(0), MaxValueValidator(10**9)]


def _measure() -> models.FloatField[float | None, float | None]:
    return models.FloatField(null=True, blank=True, validators=POSITIVE)


def _count() -> models.PositiveIntegerField[int | None, int | None]:
    return models.PositiveIntegerField(null=True, blank=True, validators=AT_LEAST_ONE)


class Processor(models.Model):
    """A CPU model; cores, caches and TDP are those of one socket.

    `inferred` holds general knowledge that no source states, by field name. One that came
    with an upload is public once something measured on it is.
    """

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=120)
    short_name = models.CharField(max_length=60, blank=True)
    vendor = models.CharField(max_length=60, blank=True)
    isa = models.CharField("ISA", max_length=40, blank=True)
    microarchitecture = models.CharField(max_length=60, blank=True)
    cores = _count()
    threads = _count()
    base_ghz = _measure()
    max_ghz = _measure()
    tdp_w = _measure()
    l1i_kb = _measure()
    l1d_kb = _measure()
    l2_kb = _measure()
    l3_mb = _measure()
    extra = models.JSONField(default=dict, blank=True)
    inferred = models.JSONField(default=dict, blank=True)
    note = models.TextField(blank=True)
    is_public = models.BooleanField(default=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    @property
    def short(self) -> str:
        return self.short_name or self.name


class System(models.Model):
    """A configuration as tested; identical machines share one.

    Peaks are GB/s (10**9 bytes a second). A system with `members` is a group that a
    source quotes as one: shown, never ranked. One that came with an upload is public once
    something measured on it is.
    """

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=120)
    vendor = models.CharField(max_length=60, blank=True)
    processor = models.ForeignKey(
        Processor, null=True, blank=True, on_delete=models.PROTECT, related_name="systems"
    )
    sockets = _count()
    memory_config = models.CharField(max_length=120, blank=True)
    memory_type = models.CharField(max_length=40, blank=True)
    memory_mts = models.PositiveIntegerField("memory MT/s", null=True, blank=True)
    memory_channels = _count()
    memory_gb = _measure()
    peak_gbs = _measure()
    peak_gbs_per_socket = _measure()
    storage_device = models.CharField(max_length=120, blank=True)
    storage_link = models.CharField(max_length=60, blank=True)
    firmware = models.CharField(max_length=80, blank=True)
    firmware_profile = models.CharField(max_length=80, blank=True)
    price_usd = _measure()
    members = models.ManyToManyField("self", symmetrical=False, blank=True, related_name="groups")
    source = models.ForeignKey(
        "results.Source", null=True, blank=True, on_delete=models.PROTECT, related_name="systems"
    )
    extra = models.JSONField(default=dict, blank=True)
    inferred = models.JSONField(default=dict, blank=True)
    note = models.TextField(blank=True)
    is_public = models.BooleanField(default=True)

    class Meta:
        ordering = ("name", "slug")

    def __str__(self) -> str:
        return f"{self.short} · {self.name}" if self.processor_id else self.name

    def get_absolute_url(self) -> str:
        return reverse("system", args=[self.slug])

    @property
    def short(self) -> str:
        """The name a table head uses: the CPU first, the system where no CPU is known."""
        return self.processor.short if self.processor else self.name

    @property
    def chassis(self) -> str:
        """The system's name without its vendor's."""
        return self.name.removeprefix(f"{self.vendor} ") if self.processor_id else ""

    @property
    def cores(self) -> int | None:
        """Physical cores of all sockets, from topology; None where not known."""
        if self.processor is None or not self.sockets or not self.processor.cores:
            return None
        return self.sockets * self.processor.cores

    @property
    def tdp_w(self) -> float | None:
        """TDP of all sockets, watts."""
        if self.processor is None or not self.sockets or not self.processor.tdp_w:
            return None
        return self.sockets * self.processor.tdp_w

    def peak(self) -> Fact:
        """Peak memory bandwidth of the whole system, GB/s, and whether it is inferred.

        The stated one; else what one socket states times sockets; else channels × MT/s × 8.
        """
        if self.peak_gbs:
            return self.peak_gbs, False
        if self.memory_channels and self.memory_mts:
            return self.memory_channels * self.memory_mts * 8 / 1000, True
        if self.inferred.get("peak_gbs"):
            return float(self.inferred["peak_gbs"]), True
        if self.peak_gbs_per_socket and self.sockets:
            return self.peak_gbs_per_socket * self.sockets, True
        return None, False

    def socket_peak(self) -> Fact:
        """Peak memory bandwidth of one socket, GB/s: the stated one, else its share."""
        if self.peak_gbs_per_socket:
            return self.peak_gbs_per_socket, False
        whole, inferred = self.peak()
        if whole is None or not self.sockets:
            return None, False
        return whole / self.sockets, inferred
