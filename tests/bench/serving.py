"""The real server: memory of its workers, and the bytes a comparison page takes."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin
from urllib.request import Request, urlopen

import brotli
import psutil

from benchhub.serve import web_command
from tests.bench.remote import ROOT, environment
from tests.bench.report import Line
from tests.bench.sample import compare_query, system_slug
from tests.benchhub.processes import free_port, wait_for

MB = 10**6
MOST_WORKERS_MB = 135
MOST_PAGE_KB = 150
CHART_LIBRARY = "plotly"
BROWSER = "gzip, deflate, br"
CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "gzip": gzip.decompress,
    "br": brotli.decompress,
}
IMPORTS = re.compile(r"""(?:\bfrom|\bimport|@import)\s*\(?\s*(?:url\()?["']([^"']+)["']""")
PAGES = (
    "/",
    "/compare/",
    "/systems/",
    f"/systems/{system_slug(0)}/",
    "/benchmarks/",
    "/benchmarks/stream/",
    "/runs/1/",
    "/api/v1/compare/",
    "/api/v1/measurements/",
)
PER = ("total", "core", "thread", "socket", "watt", "peak", "price")


@dataclass(frozen=True)
class Fetched:
    """An answer: as sent in `coding`, and unpacked."""

    sent: bytes
    plain: bytes
    coding: str


@contextmanager
def served(var: Path) -> Iterator[tuple[str, psutil.Process]]:
    """gunicorn as `make serve` starts it, on a prepared `var`: its address and its master."""
    port = free_port()
    env = environment(var, PORT=str(port), BIND="127.0.0.1")
    process = subprocess.Popen(web_command(), cwd=ROOT, env=env)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(lambda: process.poll() is not None or _answers(address))
        yield address, psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(timeout=60)


def prepare(var: Path) -> None:
    """Database, reference data and static files, as `make serve` prepares them."""
    argv = [sys.executable, "-m", "benchhub.prepare"]
    subprocess.run(argv, check=True, cwd=ROOT, env=environment(var), stdout=sys.stderr)


def _answers(address: str) -> bool:
    try:
        fetch(f"{address}/healthz")
    except OSError:
        return False
    return True


def fetch(address: str) -> Fetched:
    """GET as a browser does. Raises OSError (HTTPError is one) for all but a good answer."""
    request = Request(address, headers={"Accept-Encoding": BROWSER})
    with urlopen(request, timeout=60) as answer:
        sent = answer.read()
        coding = answer.headers.get("Content-Encoding", "")
        return Fetched(sent, CODINGS[coding](sent), coding)


def memory(address: str, master: psutil.Process, rounds: int) -> list[Line]:
    """Lines for proportional set sizes after `rounds` times all pages, eight at a time."""
    with ThreadPoolExecutor(8) as threads:
        for turn in range(rounds):
            list(threads.map(lambda page: fetch(address + page), _pages(turn)))
    workers = [worker.memory_full_info().pss / MB for worker in master.children()]
    own = master.memory_full_info().pss / MB
    parts = " + ".join(f"{size:.0f}" for size in workers)
    return [
        Line(
            f"memory: PSS of the {len(workers)} web workers",
            sum(workers),
            MOST_WORKERS_MB,
            unit="MB",
            digits=0,
            remark=f"{parts} MB; with gunicorn's master {sum(workers) + own:.0f} MB",
        )
    ]


def _pages(turn: int) -> list[str]:
    """PAGES, and comparisons that no other turn asks for, so that none is a kept one."""
    query = compare_query(baseline=turn, per=PER[turn % len(PER)])
    return [*PAGES, f"/compare/{query}", f"/api/v1/compare/{query}"]


def page_size(address: str) -> list[Line]:
    """Lines for the bytes of the default comparison, as sent to a browser for the first time."""
    page = fetch(f"{address}/compare/")
    files = {name: fetch(name) for name in _files(f"{address}/compare/", page)}
    html, css, js = len(page.sent) / 1000, _kilobytes(files, "css"), _kilobytes(files, "js")
    codings = sorted({file.coding for file in files.values()})
    return [
        Line(
            "page: /compare/ with css and js, packed, without the chart library",
            html + css + js,
            MOST_PAGE_KB,
            unit="kB",
            digits=1,
            remark=f"HTML {html:.1f} + css {css:.1f} + js {js:.1f} kB in {1 + len(files)} requests",
        ),
        Line(
            "page: /compare/ alone, its HTML unpacked",
            len(page.plain) / 1000,
            unit="kB",
            digits=1,
            remark=f"{page.coding} {html:.1f} kB; the files come in {' and '.join(codings)}",
        ),
    ]


def _kilobytes(files: dict[str, Fetched], kind: str) -> float:
    return sum(len(got.sent) for name, got in files.items() if name.endswith(f".{kind}")) / 1000


def _files(address: str, page: Fetched) -> list[str]:
    """Addresses of the style sheets and scripts that a page loads, and what those import."""
    links = Links()
    links.feed(page.plain.decode())
    waiting = [urljoin(address, link) for link in links.found]
    found: list[str] = []
    while waiting:
        name = waiting.pop(0)
        if name in found or CHART_LIBRARY in name or not name.endswith((".css", ".js")):
            continue
        found.append(name)
        text = fetch(name).plain.decode()
        waiting += [urljoin(name, link) for link in IMPORTS.findall(text)]
    return found


class Links(HTMLParser):
    """Collects what a page refers to as style sheet or script."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        link = values.get("href") if tag == "link" else values.get("src")
        if tag in ("link", "script") and link:
            self.found.append(link)
