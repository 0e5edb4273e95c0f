"""Pages are kept between readers, and are never older than what is stored."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from results import freshness, services
from results.intake.standing import publish_upload
from results.models import Lab, Summary, System
from tests.results import sent
from tests.results.made import run, store, system

pytestmark = pytest.mark.django_db
PAGE = "/compare/?system=a&benchmark=stream"
API = "/api/v1/compare/?system=a"


@pytest.fixture(autouse=True)
def cache(settings: Any) -> Iterator[None]:
    backend = "django.core.cache.backends.locmem.LocMemCache"
    settings.CACHES = {**settings.CACHES, "pages": {"BACKEND": backend, "LOCATION": "kept"}}
    yield
    caches["pages"].clear()


@pytest.fixture
def stored() -> list[int]:
    return store(system("a"), run("a", "triad.bandwidth", 123.0))


def queries_of(client: Client, address: str) -> int:
    with CaptureQueriesContext(
        connection,
    ) as seen:
        assert client.get(address).status_code == 200
    return len(seen)


@pytest.mark.parametrize("address", [PAGE, API, "/", "/benchmarks/stream/", "/systems/a/"])
def test_a_kept_page_costs_one_query(client: Client, stored: list[int], address: str) -> None:
    first = client.get(address)
    assert queries_of(client, address) == 1
    assert client.get(address).content == first.content


def test_a_kept_page_is_the_same_packed_and_plain(client: Client, stored: list[int]) -> None:
    packed = client.get(PAGE, headers={"Accept-Encoding": "gzip"})
    plain = client.get(PAGE)
    assert packed["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain
    assert gzip.decompress(packed.content) == plain.content
    assert "Accept-Encoding" in packed["Vary"]


def test_an_ingested_value_shows_at_once(client: Client, stored: list[int]) -> None:
    assert client.get(API).json()["rows"][0]["cells"]["a"]["value"] == 123.0
    store(run("a", "triad.bandwidth", 125.0, started_at="2026-10-01T00:00:00Z"))
    assert client.get(API).json()["rows"][0]["cells"]["a"]["n"] == 2


def test_a_withdrawn_value_is_gone_at_once(client: Client, stored: list[int]) -> None:
    assert client.get(API).json()["rows"]
    services.withdraw(runs=stored, actor=None, reason="a wrong build")
    assert client.get(API).json()["rows"] == []


def test_a_system_edited_in_the_admin_shows_at_once(client: Client, stored: list[int]) -> None:
    assert "Renamed box" not in client.get("/systems/a/").text
    box = System.objects.get(slug="a")
    box.note = "Renamed box"
    box.save()
    assert "Renamed box" in client.get("/systems/a/").text


def test_rows_written_past_the_models_are_noticed(stored: list[int]) -> None:
    before = freshness.mark()
    cell = Summary.objects.latest("pk")
    cell.pk, cell.key = None, "another"
    Summary.objects.bulk_create([cell])
    assert freshness.mark() != before


def test_saving_and_deleting_change_the_mark() -> None:
    marks = [freshness.mark()]
    lab = Lab.objects.create(slug="short-lived", name="Short-lived")
    marks.append(freshness.mark())
    lab.delete()
    marks.append(freshness.mark())
    assert len(set(marks)) == 3


def test_readers_who_are_signed_in_get_pages_of_their_own(
    client: Client, stored: list[int]
) -> None:
    anonymous = client.get(PAGE).text
    client.force_login(User.objects.create_user("someone"))
    assert client.get(PAGE).text != anonymous
    assert client.get(PAGE).text != anonymous
    assert Client().get(PAGE).text == anonymous


def test_errors_are_not_kept(client: Client, stored: list[int]) -> None:
    address = "/api/v1/compare/?system=b"
    assert client.get(address).status_code == 400
    store(system("b"), run("b", "triad.bandwidth", 1.0))
    assert client.get(address).status_code == 200


def test_each_language_has_its_own_page(client: Client, stored: list[int]) -> None:
    english, japanese = client.get(PAGE).text, client.get(f"{PAGE}&lang=ja").text
    assert '<html lang="en"' in english
    assert '<html lang="ja"' in japanese
    by_header = client.get(PAGE, headers={"Accept-Language": "ja"}).text
    assert '<html lang="ja"' in by_header


def test_an_upload_that_is_not_public_leaves_kept_pages_as_they_are() -> None:
    pia = sent.publisher(sent.lab_of())
    before = freshness.mark()
    log = {"s.log": sent.stream_log("gcc_1t.txt")}
    upload = sent.sent(log, actor=pia, system=sent.EPYC)
    assert upload.runs.count() == 1
    assert freshness.mark() == before
    publish_upload(upload=upload, actor=sent.staff())
    assert freshness.mark() != before
