"""Every answer carries the policy; only /embed/ may be framed."""

import pytest
from django.test import Client

from benchhub.middleware import ANYBODY, NOBODY


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/healthz", "/admin/login/", "/no/such/page", "/api/v1/schema/"])
def test_every_answer_carries_the_policy(client: Client, path: str) -> None:
    response = client.get(path)
    assert response.headers["Content-Security-Policy"] == NOBODY
    assert response.headers["X-Frame-Options"] == "DENY"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Referrer-Policy"] == "same-origin"
    assert response.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "camera=()" in response.headers["Permissions-Policy"]


def test_scripts_come_from_us_alone_and_none_is_inline() -> None:
    rules = dict(part.strip().split(" ", 1) for part in NOBODY.split(";"))
    assert rules["script-src"] == "'self'"
    assert rules["default-src"] == rules["object-src"] == rules["base-uri"] == "'none'"
    assert rules["form-action"] == rules["connect-src"] == "'self'"
    assert rules["frame-ancestors"] == "'none'"


@pytest.mark.django_db
def test_an_embedded_page_may_be_framed_by_anyone(client: Client) -> None:
    response = client.get("/embed/nothing/")
    assert response.headers["Content-Security-Policy"] == ANYBODY
    assert "X-Frame-Options" not in response.headers


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_health_is_only_read(client: Client, method: str) -> None:
    assert getattr(client, method)("/healthz").status_code == 405


@pytest.mark.django_db
def test_health_is_answered_and_never_cached(client: Client) -> None:
    response = client.get("/healthz")
    assert response.status_code == 200
    assert response.json() == {"status": "ok", "database": "ok", "disk": "ok"}
    assert "no-store" in response.headers["Cache-Control"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("query", "language"), [("", "en"), ("?lang=ja", "ja"), ("?lang=zh-hans", "zh-hans")]
)
def test_the_address_decides_the_language(client: Client, query: str, language: str) -> None:
    assert client.get(f"/healthz{query}").headers["Content-Language"] == language


@pytest.mark.django_db
def test_an_unknown_language_changes_nothing(client: Client) -> None:
    response = client.get("/healthz?lang=xx", headers={"accept-language": "ko"})
    assert response.headers["Content-Language"] == "ko"


@pytest.mark.django_db
def test_a_long_page_is_compressed(client: Client) -> None:
    response = client.get("/admin/login/", headers={"accept-encoding": "gzip"})
    assert response.headers["Content-Encoding"] == "gzip"
