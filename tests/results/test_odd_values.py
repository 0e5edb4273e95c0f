"""What one database takes and another refuses: NUL, numbers too large, texts too long.

SQLite takes texts of any length and whole numbers of 64 bits; PostgreSQL holds its columns to
their lengths and to 32 bits, and takes no NUL. Run on both.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client

from results.bundle import BundleError, read_bundle
from results.ingest import ingest_bundle
from tests.results.api_data import signed_in
from tests.results.bundles import (
    FILE,
    NEW_CPU,
    NEW_SYSTEM,
    as_bytes,
    bundle,
    measurement,
    run,
)

pytestmark = pytest.mark.django_db
ODD = ("a\0b", "9" * 30, str(2**31), f"-{2**31 + 1}", "1e400", "x" * 5000)
PAGES = {
    "/systems/": ("q", "lab", "vendor", "isa", "page"),
    "/benchmarks/": ("q",),
    "/benchmarks/stream/": ("metric", "page", "system"),
    "/compare/": ("system", "benchmark", "factor", "baseline", "per", "axis", "param.threads"),
    "/uploads/": ("state", "page", "q"),
    "/review/": ("state", "page", "q"),
    "/upload/": ("lab", "corrects", "system"),
    "/jobs/": ("state", "host", "benchmark", "page"),
    "/jobs/new/": ("run", "benchmark", "host", "preset"),
    "/admin/results/run/": ("q", "o", "p", "e", "state__exact", "lab__id__exact", "id__exact"),
    "/admin/results/upload/": ("q", "p", "state__exact", "id__exact"),
    "/admin/results/auditentry/": ("q", "p", "action", "id__exact"),
}


@pytest.fixture
def staff() -> Client:
    return signed_in(User.objects.create_superuser("sam"))


def test_the_api_answers_every_odd_value_of_every_parameter(client: Client) -> None:
    paths = client.get("/api/v1/schema/?format=json").json()["paths"]
    asked = [
        (re.sub(r"\{\w+\}", "1", path), parameter["name"])
        for path, about in paths.items()
        for parameter in about.get("get", {}).get("parameters", [])
        if parameter["in"] == "query"
    ]
    assert len(asked) > 30
    failed = [
        (path, name, odd[:40])
        for path, name in asked
        for odd in ODD
        if client.get(path, {name: odd}).status_code >= 500
    ]
    assert failed == []


def test_the_api_answers_every_odd_key(client: Client) -> None:
    paths = client.get("/api/v1/schema/?format=json").json()["paths"]
    keyed = [path for path, about in paths.items() if "{" in path and "get" in about]
    assert len(keyed) > 5
    for path in keyed:
        for odd in (*ODD, str(2**31 + 5), str(2**62)):
            answer = client.get(re.sub(r"\{\w+\}", odd.replace("\0", "%00"), path))
            assert answer.status_code in (400, 401, 403, 404), (path, odd[:40])


@pytest.mark.parametrize("path", PAGES)
def test_a_page_answers_every_odd_value(staff: Client, path: str) -> None:
    for name in PAGES[path]:
        for odd in ("a\0b", "9" * 30, str(2**31)):
            assert staff.get(path, {name: odd}).status_code < 500, (path, name, odd)


def test_a_nul_in_an_address_of_the_admin_is_refused_in_words(staff: Client) -> None:
    answer = staff.get("/admin/results/run/", {"state__exact": "a\0b"})
    assert answer.status_code == 400
    assert staff.get("/admin/results/run/", {"q": "a"}).status_code == 200


def test_forms_refuse_a_nul_in_words(client: Client) -> None:
    for name in ("username", "password", "next"):
        given = {"username": "sam", "password": "secret", "next": "/", name: "a\0b"}
        assert client.post("/accounts/login/", given).status_code in (200, 400)


WRONG = ("x" * 301, "a\0b", 2**31, 2**63)


def places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Each leaf of a document: what holds it, and its key there."""
    keys = list(tree) if isinstance(tree, dict) else range(len(tree))
    for key in keys:
        if isinstance(tree[key], dict | list):
            yield from places(tree[key])
        else:
            yield tree, key


def rich() -> dict[str, Any]:
    """A bundle with something of everything that a lab may send."""
    evidence = {"artefact": FILE["name"], "lines": [1, 2]}
    value = measurement(100.0, samples=[99.0, 101.0], evidence=evidence, note="note")
    system = {
        **NEW_SYSTEM,
        "vendor": "Acme",
        "firmware": {"bios": "1.0", "profile": "Performance"},
        "memory": {"config": "24 x 64 GB", "type": "DDR5", "channels": 24, "speed_mts": 6400},
        "storage": {"device": "NVMe", "link": "PCIe Gen5 x4"},
        "price_usd": 10000,
        "note": "note",
    }
    cpu = {**NEW_CPU, "vendor": "Acme", "isa": "x86-64", "threads": 128, "tdp_w": 300}
    source = {"id": "s", "title": "Title", "publisher": "P", "date": "2026-10-01"}
    return bundle(
        run(value, system="box", source="s", node="n1", note="note", ordinal=2),
        sources=[source],
        processors=[cpu],
        systems=[system],
        artefacts=[FILE],
    )


def stored(given: dict[str, Any]) -> bool:
    """Whether a bundle is stored; what is wrong with it is refused in words, and only so."""
    try:
        with transaction.atomic():
            ingest_bundle(read_bundle(as_bytes(given), name="b.json"), state="published")
            transaction.set_rollback(True)
    except BundleError as error:
        return not error.problems
    return True


def test_every_leaf_of_a_bundle_fits_its_column_or_is_refused() -> None:
    whole = rich()
    assert stored(whole)
    count = len(list(places(whole)))
    assert count > 50
    refused = 0
    for number in range(count):
        for wrong in WRONG:
            changed = copy.deepcopy(whole)
            holder, key = list(places(changed))[number]
            holder[key] = wrong
            refused += not stored(changed)
    assert refused > count
