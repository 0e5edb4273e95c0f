"""S-10: a live token's secret is nowhere but with its owner."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.bench.report import Line
from tests.benchhub.receiver import Browser, head
from tests.reliability import given
from tests.reliability.hub import UPLOADS, Hub, form

LAB = "tokens"
PAGES = (
    *("/", "/upload/", "/uploads/", "/review/", "/runs/1/", "/api/v1/", UPLOADS, "/admin/"),
    *("/admin/results/token/", "/admin/results/auditentry/", "/admin/results/upload/"),
)


def measure(hub: Hub) -> list[Line]:
    """A token is made, used well and badly, and looked for everywhere."""
    secret = hub.manage("create_token", LAB, "--name", "S-10").strip()
    key = f"Authorization: Token {secret}"
    number = _use(hub, key)
    _misuse(hub, key)
    public, hidden = secret[3:11], secret[12:]
    pages = _pages(hub, number, public)
    files = [path for path in hub.var.rglob("*") if path.is_file()]
    texts = {"files": _texts([*files, hub.log]), "pages": pages}
    found = [
        Line(
            f"{what} that hold the secret",
            _holding(texts[what], hidden),
            0,
            digits=0,
            remark=f"of {len(texts[what])}",
        )
        for what in texts
    ]
    told = _holding(texts["files"], public)
    return [*found, Line("files that hold its public part", told, 1, "at least", digits=0)]


def _use(hub: Hub, key: str) -> int:
    """Send something with the token; the upload's id."""
    body = form([("b.json", given.bundle(10_000))])
    answer = hub.send(head(UPLOADS, len(body), key), body)
    assert answer.status == 201, answer
    return int(answer.headers["location"].rstrip("/").rpartition("/")[2])


def _misuse(hub: Hub, key: str) -> None:
    """Everything with the token that is answered, and perhaps logged, as a mistake."""
    hub.send(head("/api/v1/nowhere/", None, key, method="GET"))
    hub.send(head(f"{UPLOADS}999999999/", None, key, method="GET"))
    hub.send(head(UPLOADS, 10, key), b"not a form")
    hub.send(head(UPLOADS, None, key, "Transfer-Encoding: chunked"))
    hub.send(head(UPLOADS, None, key, "Host: evil.example", method="GET"))
    hub.send(head(UPLOADS, None, f"{key}x", method="GET"))
    hub.send(head("/\x00", None, key, method="GET"))


def _pages(hub: Hub, number: int, public: str) -> list[bytes]:
    """All that the admin sees of it; the token's own page must be there."""
    admin = Browser(hub)
    assert admin.sign_in().status == 200
    row = hub.rows("SELECT id FROM results_token WHERE prefix = ?", public)[0][0]
    own = f"/admin/results/token/{row}/change/"
    paths = (*PAGES, f"/uploads/{number}/", f"{UPLOADS}{number}/", own)
    answers = {path: admin.get(path) for path in paths}
    assert answers[own].status == 200
    assert public in answers[own].text
    return [answer.body for answer in answers.values()]


def _texts(paths: Iterable[Path]) -> list[bytes]:
    return [path.read_bytes() for path in paths]


def _holding(texts: Iterable[bytes], part: str) -> int:
    return sum(part.encode() in text for text in texts)
