"""Tokens: shown once, found by their secret alone, refused at once when revoked (S-10)."""

from __future__ import annotations

import logging
import re
from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator

from results import tokens
from results.models import AuditEntry, Token
from results.services import NotAllowed, ServiceError
from tests.results.api_data import make_lab, make_run, signed_in
from tests.results.asking import account, make_token, with_token
from tests.results.pages import staff

pytestmark = pytest.mark.django_db
RUNS = "/api/v1/runs/?lab=acme"


def test_only_the_digest_of_a_secret_is_stored() -> None:
    token, secret = make_token("run", "upload", "run")
    assert re.fullmatch(r"bh_[0-9a-f]{8}_[A-Za-z0-9_-]{43}", secret)
    stored = Token.objects.get()
    assert stored.digest == sha256(secret.encode()).hexdigest()
    assert stored.prefix == secret[3:11] == token.prefix
    assert stored.scopes == ["upload", "run"]


def test_two_secrets_differ() -> None:
    assert make_token()[1][12:] != make_token()[1][12:]


@pytest.mark.parametrize(
    ("scopes", "words"),
    [(["uplod"], "did you mean upload"), (["upload", "admin"], "'admin'"), ([], "needs a scope")],
)
def test_scopes_that_are_none_are_refused(scopes: list[str], words: str) -> None:
    with pytest.raises(ServiceError, match=words):
        tokens.make(lab=make_lab(), scopes=scopes, name="", actor=None)
    assert not Token.objects.exists()
    assert not AuditEntry.objects.filter(action="make token").exists()


def test_a_long_name_and_a_past_end_are_refused() -> None:
    with pytest.raises(ServiceError, match="81 characters"):
        tokens.make(lab=make_lab(), scopes=["run"], name="x" * 81, actor=None)
    with pytest.raises(ServiceError, match="expired before"):
        make_token(expires_at=timezone.now())


def test_each_change_leaves_an_audit_row_without_the_secret() -> None:
    sam = account("sam", is_staff=True)
    token, secret = tokens.make(lab=make_lab(), scopes=["upload"], name=" ci ", actor=sam)
    assert tokens.revoke(token=token, actor=sam, reason=" leaked ")
    assert not tokens.revoke(token=token, actor=sam, reason="again")
    made, ended = AuditEntry.objects.filter(action__contains="token").order_by("pk")
    assert (made.action, made.actor, made.actor_name) == ("make token", sam, "sam")
    assert made.after == {
        "lab": "acme",
        "prefix": token.prefix,
        "name": "ci",
        "scopes": ["upload"],
        "expires_at": None,
    }
    assert (ended.action, ended.reason) == ("revoke token", "leaked")
    assert secret[12:] not in f"{made.after}{ended.after}"


def test_only_the_staff_makes_and_revokes() -> None:
    lab = make_lab()
    token, _secret = make_token(lab=lab)
    mia = account("mia", lab)
    with pytest.raises(NotAllowed):
        tokens.make(lab=lab, scopes=["upload"], name="", actor=mia)
    with pytest.raises(NotAllowed):
        tokens.revoke(token=token, actor=mia, reason="x")
    with pytest.raises(ServiceError, match="reason"):
        tokens.revoke(token=token, actor=None, reason=" ")
    assert Token.objects.get().is_live


def test_only_the_whole_secret_of_a_live_token_finds_it() -> None:
    token, secret = make_token()
    assert tokens.find(secret) == token
    for wrong in ("", secret[:-1], secret + "x", secret.upper(), token.digest, token.prefix):
        assert tokens.find(wrong) is None
    Token.objects.update(expires_at=timezone.now())
    assert tokens.find(secret) is None
    Token.objects.update(expires_at=timezone.now() + timedelta(days=1))
    assert tokens.find(secret) == token


def test_the_last_use_is_noted_once_a_minute() -> None:
    token, secret = make_token()
    assert tokens.find(secret) is not None
    first = Token.objects.get().last_used_at
    assert first is not None
    with CaptureQueriesContext(connection) as seen:
        tokens.find(secret)
    assert len(seen) == 1
    Token.objects.update(last_used_at=first - timedelta(minutes=2))
    tokens.find(secret)
    latest = Token.objects.get(pk=token.pk).last_used_at
    assert latest is not None
    assert latest >= first


def test_a_database_that_cannot_be_written_to_refuses_no_token() -> None:
    token, secret = make_token()
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA query_only = ON")
        try:
            found = tokens.find(secret)
        finally:
            cursor.execute("PRAGMA query_only = OFF")
    assert found == token
    assert Token.objects.get().last_used_at is None


def test_the_schema_names_the_header() -> None:
    generator: Any = SchemaGenerator
    schema = generator().get_schema(public=True)
    described = schema["components"]["securitySchemes"]["token"]
    assert (described["in"], described["name"]) == ("header", "Authorization")
    runs = schema["paths"]["/api/v1/runs/"]["get"]
    assert {"token": []} in runs["security"]
    assert "401" in runs["responses"]
    assert "401" not in schema["paths"]["/api/v1/compare/"]["get"]["responses"]


def test_a_token_reads_what_its_lab_may_read() -> None:
    hidden = make_run(state="pending")
    _token, secret = make_token()
    found = with_token(secret).get(RUNS).json()["results"]
    assert [run["id"] for run in found] == [hidden.pk]
    assert Client().get(RUNS).json()["results"] == []


def test_a_token_to_run_jobs_reads_what_all_read() -> None:
    make_run(state="pending")
    _token, secret = make_token("run")
    assert with_token(secret).get(RUNS).json()["results"] == []


@pytest.mark.parametrize(
    "header",
    [
        "Token",
        "Token ",
        "Token bh_00000000_" + "x" * 43,
        "Token \xff\xfe",
        "Bearer bh_00000000_" + "x" * 43,
        "Basic bWlhOmEtcGFzc3dvcmQ=",
        "Token " + "x" * 5000,
    ],
)
def test_a_wrong_header_is_refused_and_never_falls_back_to_the_cookie(header: str) -> None:
    client = signed_in(account("sam", make_lab(), is_staff=True))
    assert client.get(RUNS).status_code == 200
    answer = client.get(RUNS, headers={"authorization": header})
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Token")
    assert set(answer.json()) == {"message", "fields"}


def test_the_scheme_may_be_written_in_any_case() -> None:
    _token, secret = make_token()
    client = Client(headers={"authorization": f"token  {secret}"})
    assert client.get(RUNS).status_code == 200


def test_what_answers_all_alike_asks_for_no_token() -> None:
    client = with_token("wrong")
    assert client.get("/api/v1/").status_code == 200
    assert client.get("/api/v1/compare/").status_code == 200


def test_caches_are_told_that_the_token_matters() -> None:
    _token, secret = make_token()
    for client in (Client(), with_token(secret)):
        varies = client.get(RUNS)["Vary"]
        assert "Authorization" in varies
        assert "Cookie" in varies


def test_a_revoked_token_is_refused_at_once() -> None:
    token, secret = make_token()
    client = with_token(secret)
    assert client.get(RUNS).status_code == 200
    tokens.revoke(token=token, actor=None, reason="lost")
    assert client.get(RUNS).status_code == 401


def test_no_secret_is_in_database_logs_or_admin(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    root = staff()
    form = {"lab": make_lab().pk, "name": "by hand", "scopes": ["upload"]}
    page = root.post("/admin/results/token/add/", form).content.decode()
    found = re.search(r'<code id="secret">(bh_\w+_[\w-]+)</code>', page)
    assert found is not None
    secrets = [found.group(1), *(make_token("upload", "publish")[1] for _ in range(3))]
    for secret in secrets:
        assert with_token(secret).get(RUNS).status_code == 200
        assert with_token(secret[:-2]).get(RUNS).status_code == 401
    tokens.revoke(token=Token.objects.latest("pk"), actor=None, reason="leaked")
    assert with_token(secrets[-1]).get(RUNS).status_code == 401
    token, lab = Token.objects.earliest("pk"), make_lab()
    pages = [
        root.get(f"/admin/{path}").content.decode()
        for path in (
            "",
            "results/token/",
            f"results/token/{token.pk}/change/",
            f"results/token/{token.pk}/history/",
            f"results/lab/{lab.pk}/change/",
            "results/auditentry/",
        )
    ]
    connection.ensure_connection()
    assert connection.connection is not None
    dump = "\n".join(connection.connection.iterdump())
    assert token.digest in dump
    for secret in secrets:
        assert secret[12:] not in dump
        assert secret[12:] not in caplog.text
        assert not any(secret[12:] in one for one in pages)
    assert not any(token.digest in one for one in pages)
