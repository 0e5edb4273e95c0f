"""S-02 and S-03: bombs and archives that reach out; refused in words, nothing is written."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import stat
import tarfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from tests.bench.remote import ROOT
from tests.bench.report import Line
from tests.reliability import given
from tests.reliability.hub import File, Hub
from tests.results.packed import overlapping, tarred, with_mode, zipped

LAB = "bombs"
MB = 10**6
MARK = "reached-out"
LAUGHS = [f"&l{n};" * 10 for n in range(9)]
ENTITIES = "".join(f'<!ENTITY l{n + 1} "{text}">' for n, text in enumerate(LAUGHS))
ATTRIBUTES = " ".join(f"a{n}='1'" for n in range(100_000))
XML = {
    "billion-laughs.xml": f'<!DOCTYPE l [<!ENTITY l0 "lol">{ENTITIES}]><l>&l9;</l>',
    "quadratic.xml": f"<!DOCTYPE q [<!ENTITY a '{'a' * 100_000}'>]><q>{'&a;' * 10_000}</q>",
    "external.xml": '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><x>&f;</x>',
    "attributes.xml": f"<x {ATTRIBUTES}/>",
}
OUTSIDE = (f"../{MARK}", f"../../../{MARK}", f"/tmp/{MARK}", f"a/../../{MARK}", f"..\\{MARK}")  # noqa: S108


def measure(hub: Hub, bomb_mb: int) -> list[Line]:
    """All of them one by one; bombs unpack to `bomb_mb` MB."""
    pids, before_mb, before = hub.pids(), hub.rss_mb(), outside(hub)
    times_s, faults = [], []
    for file in made(bomb_mb * MB):
        began_s = time.monotonic()
        answer = hub.order(LAB, [file])
        times_s.append((time.monotonic() - began_s, file[0]))
        found = json.loads(answer.body or b"{}")
        refused = answer.status == 400 and found["state"] == "rejected"
        if not refused or not all(problem["message"] for problem in found["problems"]):
            faults.append(f"{file[0]}: {answer.status} {answer.body[:500]!r}")
    slowest_s, name = max(times_s)
    return [
        Line("bombs and archives that reach out", len(times_s), digits=0),
        Line("not refused with a reason", len(faults), 0, digits=0, remark="; ".join(faults)),
        Line("the slowest answer", slowest_s, unit="s", remark=name),
        Line("files written outside", len(outside(hub) - before), 0, digits=0),
        Line("half files left", len(hub.incoming()), 0, digits=0),
        Line("a web worker's memory grew by", hub.rss_mb() - before_mb, unit="MB", digits=0),
        Line("processes that died", len({*pids} - {*hub.pids()}), 0, digits=0),
        *_named(hub),
    ]


def made(size: int) -> Iterator[File]:
    """Each of them, by name."""
    yield from ((name, text.encode()) for name, text in XML.items())
    yield "bomb.zip", zip_of_zeros(size)
    yield "bomb.gz", b"".join(gzip_of_zeros(size))
    yield "bomb.xz", lzma.compress(bytes(min(size, 100 * MB)), preset=0)
    yield "overlap.zip", overlapping(150)
    yield "nested.zip", zipped(("inner.zip", zipped(("a.log", b"x"))))
    yield "many.zip", zipped(*((f"{n}.log", b"x") for n in range(5000)))
    for number, name in enumerate(OUTSIDE):
        yield f"outside-{number}.zip", zipped((name, b"x"))
        yield f"outside-{number}.tar", tarred((name, b"x"))
        yield f"outside-{number}.tar.gz", gzip.compress(tarred((name, b"x")))
    yield "link.zip", zipped((with_mode(MARK, stat.S_IFLNK | 0o777), b"/etc/passwd"))
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
        yield f"kind-{kind.decode()}.tar", tarred((MARK, b""), type=kind, linkname="/etc/passwd")
    yield "deep.json", b"[" * 10**6


def zip_of_zeros(size: int) -> bytes:
    """A zip whose one member unpacks to so many bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("0", "w") as file:
        for _ in range(size // MB):
            file.write(bytes(MB))
    return out.getvalue()


def gzip_of_zeros(size: int) -> Iterator[bytes]:
    """The same as gzip, in pieces."""
    pack = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    yield from (pack.compress(bytes(MB)) for _ in range(size // MB))
    yield pack.flush()


def outside(hub: Hub) -> set[Path]:
    """Files around VAR, and wherever the names in the archives lead."""
    folder = hub.var.parent
    known = {folder / "output.log"}
    around = {p for p in folder.rglob("*") if hub.var not in (p, *p.parents)} - known
    bases = (ROOT, ROOT.parent, Path("/tmp"), Path("/"), *hub.var.parents)  # noqa: S108
    return around | {base / MARK for base in bases if (base / MARK).exists()}


def _named(hub: Hub) -> list[Line]:
    """A file whose own name reaches out is taken under the last part of it."""
    file = (f"../../{MARK}.json", given.bundle(1))
    answer = hub.order(LAB, [file])
    names = [one["name"] for one in json.loads(answer.body)["files"]]
    wrong = int(answer.status != 201 or names != [f"{MARK}.json"])
    return [Line("names that were not made flat", wrong, 0, digits=0)]
