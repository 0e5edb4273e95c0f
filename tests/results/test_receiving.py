"""Files come in whole, under good names, within limits, and leave nothing behind when refused."""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import InterfaceError, OperationalError
from django.test import Client, RequestFactory
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from pytest_django import Settings

from results import artefacts
from results.receiving import MOST_BYTES, ReceiveError, gate, handler, keep, refusal
from results.receiving.names import flat, unique
from results.receiving.refusals import passing

API, PAGE = "/api/v1/receive/", "/receive/"
pytestmark = pytest.mark.django_db
EMPTY = hashlib.sha256(b"").hexdigest()


@pytest.fixture(autouse=True)
def store(tmp_path: Path, settings: Settings) -> Path:
    """A store of this test's own, and the addresses that take files."""
    settings.ARTEFACT_ROOT = tmp_path / "artefacts"
    settings.ROOT_URLCONF = "tests.results.receiving_urls"
    return tmp_path / "artefacts"


def log(name: str, data: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data)


def files_in(store: Path) -> list[str]:
    """Every file below the store, but its lock."""
    found = [path for path in store.rglob("*") if path.is_file() and path.name != artefacts.LOCK]
    return sorted(path.name for path in found)


def raw(
    client: Client, *parts: bytes, path: str = API, end: bytes = b"--b--\r\n", **more: Any
) -> Any:
    """Send parts as they are."""
    body = b"".join(b"--b\r\n" + part + b"\r\n" for part in parts) + end
    kind = "multipart/form-data; boundary=b"
    return client.generic("POST", path, body, content_type=kind, **more)


def part(name: str, data: bytes = b"x", *more: str, field: str = "file") -> bytes:
    lines = [f'Content-Disposition: form-data; name="{field}"; filename="{name}"', *more]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


@pytest.mark.parametrize("path", [API, PAGE])
def test_files_arrive_in_order_with_digest_and_size(client: Client, path: str, store: Path) -> None:
    large = os.urandom(300_000)
    sent = [log("b.log", large), log("a.log", b"one"), log("empty.txt", b"")]
    answer = client.post(path, {"file": sent, "lab": "mylab"})
    assert answer.status_code == 200, answer.content
    assert answer.json()["lab"] == "mylab"
    assert answer.json()["files"] == [
        {"name": "b.log", "sha256": hashlib.sha256(large).hexdigest(), "size": 300_000},
        {"name": "a.log", "sha256": hashlib.sha256(b"one").hexdigest(), "size": 3},
        {"name": "empty.txt", "sha256": EMPTY, "size": 0},
    ]
    assert artefacts.path_of(hashlib.sha256(large).hexdigest()).read_bytes() == large
    assert len(files_in(store)) == 3
    assert list((store / "incoming").iterdir()) == []


def test_pasted_text_is_kept_like_a_file(client: Client) -> None:
    answer = client.post(PAGE, {"text": "Triad: 1"})
    digest = hashlib.sha256(b"Triad: 1").hexdigest()
    assert answer.json()["files"] == [{"name": "pasted.txt", "sha256": digest, "size": 8}]
    assert artefacts.path_of(digest).read_bytes() == b"Triad: 1"


def test_a_page_form_needs_its_token_and_finds_its_files(store: Path) -> None:
    client = Client(enforce_csrf_checks=True)
    token = client.get(PAGE).content.decode()
    refused = client.post(PAGE, {"file": log("a", b"1")})
    assert refused.status_code == 403
    taken = client.post(PAGE, {"file": log("a", b"1"), "csrfmiddlewaretoken": token})
    assert [file["name"] for file in taken.json()["files"]] == ["a"]


def test_who_is_turned_away_by_the_header_leaves_nothing_in_the_store(
    client: Client, store: Path
) -> None:
    headers = {"authorization": "Token nobody"}
    answer = client.post(API, {"file": log("a", b"1")}, headers=headers)
    assert answer.status_code == 401
    assert files_in(store) == []


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("stream.log", "stream.log"),
        ("../../etc/passwd", "passwd"),
        ("C:\\logs\\run 1.txt", "run 1.txt"),
        ("/", "unnamed"),
        ("..", "unnamed"),
        ("", "unnamed"),
        ("a\x00b\x1b[31m\u202egol.txt", "ab[31mgol.txt"),
        ("a\u200b\ufeffb.log", "ab.log"),
        ("re\u0301sume\u0301.log", "r\u00e9sum\u00e9.log"),
        ("a\u00a0b\u3000\n c.log", "a b c.log"),
        ("\ud800x.log", "x.log"),
        ("\u6e2c\u5b9a.log", "\u6e2c\u5b9a.log"),
        ("x" * 300 + ".log", "x" * 196 + ".log"),
        ("x." + "y" * 300, "x." + "y" * 198),
        ("&lt;b&gt;.log", "&lt;b&gt;.log"),
    ],
)
def test_names_are_flat_printable_and_short(sent: str, kept: str) -> None:
    assert flat(sent) == kept


def test_names_are_made_unique() -> None:
    assert unique("a.log", []) == "a.log"
    assert unique("a.log", ["a.log"]) == "a (2).log"
    assert unique("a.log", ["a.log", "a (2).log"]) == "a (3).log"
    long = "x" * 196 + ".log"
    assert unique(long, [long]) == "x" * 192 + " (2).log"


def test_files_of_one_name_are_told_apart(client: Client) -> None:
    sent = [part("a.log", b"1"), part("dir/a.log", b"2"), part("..", b"3"), part("a.log", b"4")]
    names = [file["name"] for file in raw(client, *sent).json()["files"]]
    assert names == ["a.log", "a (2).log", "unnamed", "a (3).log"]


def test_true_bytes_count_not_those_announced(
    client: Client, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler, "MOST_BYTES", 100_000)
    sent = [log("a", b"x" * 60_000), log("b", b"x" * 40_000)]
    assert client.post(API, {"file": sent}).status_code == 200
    before = files_in(store)
    sent = [log("a", b"y" * 60_000), log("b", b"y" * 40_001)]
    answer = client.post(API, {"file": sent})
    assert answer.status_code == 413
    assert "together" in answer.json()["message"]
    assert files_in(store) == before


def test_the_limit_is_that_of_the_contract() -> None:
    assert MOST_BYTES == 64_000_000


@pytest.mark.parametrize("path", [API, PAGE])
def test_what_is_announced_too_large_is_refused_unread(path: str) -> None:
    request = RequestFactory().post(path, {"file": log("a", b"1")})
    request.META["CONTENT_LENGTH"] = str(MOST_BYTES + 1_000_001)
    with pytest.raises(ReceiveError, match="more than 64 MB together") as caught:
        gate.check(request)
    assert caught.value.status == 413
    request.META["CONTENT_LENGTH"] = str(MOST_BYTES + 1_000_000)
    gate.check(request)


def test_a_refusal_is_a_page_for_people(client: Client) -> None:
    answer = raw(client, part("a"), path=PAGE, CONTENT_LENGTH="65000001")
    assert answer.status_code == 413
    assert "The files hold more than 64 MB together" in answer.content.decode()
    assert answer.templates[0].name == "results/refused.html"


def test_chunks_without_a_length_are_refused_in_words(client: Client) -> None:
    answer = raw(client, part("a"), HTTP_TRANSFER_ENCODING="chunked")
    assert answer.status_code == 411
    assert "Content-Length" in answer.json()["message"]
    assert answer.json()["fields"] == {}


def test_more_text_than_fits_in_memory_is_refused_in_words(client: Client, store: Path) -> None:
    answer = client.post(PAGE, {"text": "x" * 3_000_000})
    assert answer.status_code == 413
    assert "more than 2.6 MB; send long text as a file" in answer.content.decode()
    answer = client.post(API, "{" + " " * 3_000_000 + "}", content_type="application/json")
    assert answer.status_code == 413
    assert files_in(store) == []


@pytest.mark.parametrize("path", [API, PAGE])
def test_too_many_files_are_refused_in_words_and_none_is_kept(
    client: Client, path: str, store: Path
) -> None:
    most = [part(f"{n}.log", str(n).encode()) for n in range(20)]
    assert len(raw(client, *most, path=path).json()["files"]) == 20
    before = files_in(store)
    answer = raw(client, *[part(f"{n}", b"new%d" % n) for n in range(21)], path=path)
    assert answer.status_code == 400
    assert "More than 20 files were sent at once." in answer.content.decode()
    assert files_in(store) == before


@pytest.mark.parametrize("count", [201, 5_000])
def test_too_many_fields_are_refused_in_words(client: Client, count: int, store: Path) -> None:
    fields = [b'Content-Disposition: form-data; name="set"\r\n\r\na=b'] * count
    answer = raw(client, part("a.log"), *fields)
    assert answer.status_code == 400
    assert "fields." in answer.json()["message"]
    assert files_in(store) == []
    assert raw(client, part("a.log"), *fields[:200]).status_code == 200


@pytest.mark.parametrize(
    "cut", [200, 2_000, 100_000, 150_180, 150_250, 299_900], ids=lambda cut: f"after-{cut}"
)
def test_a_body_that_breaks_off_is_never_half_an_upload(
    client: Client, cut: int, store: Path
) -> None:
    whole = encode_multipart(
        BOUNDARY, {"file": [log("a", b"a" * 150_000), log("b", b"b" * 150_000)]}
    )
    sent: dict[str, Any] = {"wsgi.input": BytesIO(whole[:cut])}
    answer = client.generic("POST", API, whole, content_type=MULTIPART_CONTENT, **sent)
    assert answer.status_code == 400
    assert f"after {cut} of {len(whole)} bytes" in answer.json()["message"]
    assert files_in(store) == []


def test_a_form_without_its_last_boundary_is_refused(client: Client, store: Path) -> None:
    answer = raw(client, part("a.log", b"1"), part("b.log", b"2"), end=b"")
    assert answer.status_code == 400
    assert "its last boundary is missing" in answer.json()["message"]
    assert files_in(store) == []


@pytest.mark.parametrize("path", [API, PAGE])
@pytest.mark.parametrize(
    "kind", ["multipart/form-data", "multipart/form-data; boundary=\u00e9", "multipart/form-data;;"]
)
def test_a_form_that_is_none_is_refused(client: Client, kind: str, path: str) -> None:
    answer = client.generic("POST", path, b"--b\r\n\r\n", content_type=kind)
    assert answer.status_code == 400


@pytest.mark.parametrize(
    "sent",
    [
        part("a", b"!", "Content-Transfer-Encoding: base64"),
        part("a", b"x", "Content-Length: minus"),
        b"Content-Disposition: form-data; name=file; filename*=nothing''a%ff\r\n\r\nx",
        b"Content-Disposition: form-data; name=file; filename*=utf-7''+2AA-\r\n\r\nx",
        b"Content-Disposition: form-data; name*=utf-8''%ff; filename=a\r\n\r\nx",
        b"Content-Disposition: form-data\r\n\r\nx",
        b"X: " + b"y" * 9_000 + b"\r\n\r\nx",
        b"\xff\xfe\r\n\r\n",
        b"Content-Type: text/plain; charset=none\r\n" + part("a"),
    ],
)
def test_odd_parts_are_taken_or_refused_but_break_nothing(client: Client, sent: bytes) -> None:
    assert raw(client, sent).status_code in {200, 400}


@pytest.mark.parametrize("where", ["flush", "fsync", "rename"])
def test_a_disk_that_fills_up_is_told_and_nothing_is_left(
    client: Client, store: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel's own refusal, of /dev/full, at each step of keeping."""

    def full(*_args: Any, **_more: Any) -> None:
        Path("/dev/full").write_bytes(b"x")

    if where == "flush":
        monkeypatch.setattr(artefacts.Writer, "write", full)
    elif where == "fsync":
        monkeypatch.setattr(os, "fsync", full)
    else:
        monkeypatch.setattr(Path, "replace", full)
    answer = client.post(API, {"file": [log("a", b"1"), log("b", b"2")]})
    assert answer.status_code == 507
    assert answer.headers["Retry-After"] == "30"
    assert "no room" in answer.json()["message"]
    assert files_in(store) == []


def test_a_disk_that_is_nearly_full_takes_nothing_in(
    client: Client, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "LEAST_FREE_BYTES", 10**18)
    monkeypatch.setattr(os, "statvfs", _with_blocks(total=1_000, free=49))
    answer = client.post(PAGE, {"file": log("a", b"1")})
    assert answer.status_code == 507
    assert "no room" in answer.content.decode()
    monkeypatch.setattr(os, "statvfs", _with_blocks(total=1_000, free=50))
    assert client.post(PAGE, {"file": log("a", b"1")}).status_code == 200
    assert client.post(PAGE, {"file": log("a", b"1" * 60_000)}).status_code == 507


def _with_blocks(total: int, free: int) -> Any:
    """What a disk of `total` blocks of 1,024 bytes says of itself."""
    return lambda _path: os.statvfs_result((1024, 1024, total, free, free, 9, 9, 9, 0, 255))


def test_beyond_the_places_an_upload_is_asked_to_come_again(
    client: Client, settings: Settings
) -> None:
    settings.UPLOADS_AT_ONCE = 2
    gate._places.cache_clear()
    with ExitStack() as held:
        for _ in range(2):
            held.enter_context(gate.place())
        answer = client.post(API, {"file": log("a", b"1")})
        assert answer.status_code == 503
        assert answer.headers["Retry-After"] == "5"
        assert client.get(PAGE).status_code == 200
    assert client.post(API, {"file": log("a", b"1")}).status_code == 200
    gate._places.cache_clear()


def test_a_refused_upload_gives_its_place_back(client: Client, settings: Settings) -> None:
    settings.UPLOADS_AT_ONCE = 1
    gate._places.cache_clear()
    for _ in range(3):
        assert raw(client, part("a"), end=b"").status_code == 400
    assert raw(client, part("a")).status_code == 200
    gate._places.cache_clear()


def test_a_text_too_large_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handler, "MOST_BYTES", 10)
    with pytest.raises(ReceiveError, match="more than 0 MB"):
        keep("a.txt", b"x" * 11)


@pytest.fixture
def old(store: Path) -> Path:
    """A file that was kept two hours ago."""
    path = artefacts.path_of(artefacts.save(b"old"))
    _age(path)
    return path


def _age(path: Path) -> None:
    os.utime(path, (time.time() - 7_200,) * 2)


def test_a_file_that_is_kept_again_is_young_again(client: Client, old: Path) -> None:
    client.post(API, {"file": log("a", b"old")})
    assert not artefacts.remove_older(old.name, 3_600)
    _age(old)
    artefacts.save(b"old")
    assert not artefacts.remove_older(old.name, 3_600)
    assert list(artefacts.stored()) == [old.name]


def test_an_old_file_is_removed_and_may_come_again(old: Path) -> None:
    assert artefacts.remove_older(old.name, 3_600)
    assert not artefacts.remove_older(old.name, 3_600)
    assert not old.exists()
    artefacts.save(b"old")
    assert old.read_bytes() == b"old"


def test_what_a_killed_process_left_is_cleared(store: Path) -> None:
    left, coming = artefacts.incoming() / "1.left", artefacts.incoming() / "2.coming"
    left.write_bytes(b"half")
    coming.write_bytes(b"half")
    _age(left)
    assert artefacts.clear_incoming(3_600) == 1
    assert list(artefacts.incoming().iterdir()) == [coming]


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("database or disk is full", 503),
        ("disk I/O error", 503),
        ("unable to open database file", 503),
        ("database is locked", 503),
        ("no such table: results_run", None),
    ],
)
def test_only_what_passes_is_asked_to_be_tried_again(text: str, status: int | None) -> None:
    found = passing(OperationalError(text))
    assert (found and found.status) == status
    if found:
        assert found.headers == {"Retry-After": "30"}


def test_a_database_that_is_away_is_asked_again_soon() -> None:
    for error in (InterfaceError("connection already closed"), OperationalError("unreachable")):
        # As psycopg raises where the server gave no answer, and so no code.
        error.__cause__ = psycopg.OperationalError("connection refused")
        found = passing(error)
        assert found is not None
        assert (found.status, found.headers) == (503, {"Retry-After": "5"})
        assert "does not answer" in found.message


def test_an_error_that_hides_a_full_disk_is_still_known() -> None:
    try:
        try:
            raise OperationalError("database or disk is full")
        except OperationalError:
            raise ValueError("the session was lost") from None
    except ValueError as error:
        found = passing(error)
    assert found is not None
    assert refusal(ValueError("something else")) is None
