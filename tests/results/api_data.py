"""What the API's tests store by hand: labs, systems, runs and summaries beside the reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from results.models import (
    Benchmark,
    Lab,
    Measurement,
    Membership,
    Metric,
    Processor,
    Run,
    Setup,
    Summary,
    System,
)

ROOT = "/api/v1/"


def make_lab(slug: str = "acme") -> Lab:
    return Lab.objects.get_or_create(slug=slug, defaults={"name": slug.title()})[0]


def make_system(slug: str = "acme-box", **fields: Any) -> System:
    """A system of two sockets of 64 cores."""
    processor, _ = Processor.objects.get_or_create(
        slug="acme-64", defaults={"name": "Acme 64", "cores": 64, "tdp_w": 300, "vendor": "Acme"}
    )
    fields = {"name": slug, "processor": processor, "sockets": 2, **fields}
    return System.objects.get_or_create(slug=slug, defaults=fields)[0]


def make_benchmark(slug: str = "stream") -> Benchmark:
    """The catalogue's benchmark, as the migration stored it."""
    return Benchmark.objects.get(slug=slug)


def metric_of(benchmark: Benchmark, name: str) -> Metric:
    workload, _, short = name.rpartition(".")
    return Metric.objects.get(benchmark=benchmark, workload=workload, name=short)


def make_setup() -> Setup:
    fields = {"os": "Debian 12"}
    return Setup.objects.get_or_create(digest="0" * 64, defaults={"fields": fields})[0]


def new_run(**fields: Any) -> Run:
    """A run that is not stored yet: of lab acme, on its box, STREAM, published."""
    state = fields.get("state", "published")
    dates = {"published": "published_at", "scheduled": "publish_at"}
    if state in dates:
        fields.setdefault(dates[state], timezone.now())
    if state == "withdrawn":
        fields.setdefault("reason", "the fan had failed")
    return Run(
        **{
            "identity": uuid4().hex * 2,
            "lab": fields.get("lab") or make_lab(),
            "system": fields.get("system") or make_system(),
            "benchmark": fields.get("benchmark") or make_benchmark(),
            "setup": fields.get("setup") or make_setup(),
            "scope": "system",
            "parameters": {"placement": "all"},
            "fingerprint": "f",
            "state": state,
            **fields,
        }
    )


def make_run(values: Mapping[str, float] | None = None, **fields: Any) -> Run:
    """A stored run with its measurements by metric name, STREAM Triad 100 GB/s by default."""
    run = new_run(**fields)
    run.save()
    for name, value in (values or {"triad.bandwidth": 100.0}).items():
        Measurement.objects.create(run=run, metric=metric_of(run.benchmark, name), value=value)
    return run


def make_many(count: int) -> None:
    """So many published runs of one lab and system, with a measurement each."""
    lab, system, benchmark, setup = make_lab(), make_system(), make_benchmark(), make_setup()
    metric = metric_of(benchmark, "triad.bandwidth")
    shared: dict[str, Any] = {
        "lab": lab,
        "system": system,
        "benchmark": benchmark,
        "setup": setup,
    }
    runs = Run.objects.bulk_create([new_run(**shared) for _ in range(count)])
    Measurement.objects.bulk_create(
        Measurement(run=run, metric=metric, value=float(at)) for at, run in enumerate(runs)
    )


def make_summary(run: Run, name: str = "triad.bandwidth", **fields: Any) -> Summary:
    """What the run's measurement adds to a comparison; one value unless `fields` say more."""
    metric = metric_of(run.benchmark, name)
    reading = run.measurements.filter(metric=metric).first()
    return Summary.objects.create(
        **{
            "key": uuid4().hex,
            "system": run.system,
            "lab": run.lab,
            "benchmark": run.benchmark,
            "metric": metric,
            "scope": run.scope,
            "fingerprint": run.fingerprint,
            "variant": run.parameters,
            "n": 1,
            "median": reading.value if reading else None,
            "qualifier": "exact",
            "trust": run.trust,
            "best_run": run,
            "newest": timezone.now(),
            **fields,
        }
    )


def make_member(lab: Lab, name: str = "mia") -> User:
    user = User.objects.create_user(name, password="a-password")
    Membership.objects.create(lab=lab, user=user)
    return user


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def get(client: Client, path: str, query: Any = None, status: int = 200) -> Any:
    """The JSON of a GET under /api/v1/, which must answer with `status`."""
    answer = client.get(ROOT + path, query or {})
    assert answer.status_code == status, answer.content[:500]
    assert answer["Content-Type"] == "application/json"
    return answer.json()


def refused(client: Client, path: str, query: Any = None, status: int = 400) -> dict[str, Any]:
    """The fields of an error, which must be in the house's form."""
    body = get(client, path, query, status)
    assert set(body) == {"message", "fields"}
    assert isinstance(body["message"], str)
    assert body["message"]
    fields: dict[str, Any] = body["fields"]
    return fields


def queries_of(client: Client, path: str, query: Any = None) -> int:
    """How many queries a GET takes."""
    with CaptureQueriesContext(
        connection,
    ) as context:
        get(client, path, query)
    return len(context)
