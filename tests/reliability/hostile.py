"""S-01: thousands of damaged files; each is read or refused in words, and nothing dies."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from tests.bench.report import Line
from tests.reliability import given
from tests.reliability.hub import File, Hub, patient
from tests.results.test_formats_hostile import WAYS, corpus

LAB = "hostile"
CLIENTS = 4
SEED = 3
Fields = list[tuple[str, str]]
WRONG: tuple[Any, ...] = (
    *(None, True, [], {}, "", "x" * 5000, -1, 10**400, 1e308, "\0", "\ud800", "NaN"),
    *([[[[]]]], {"a": {"b": {}}}, "2026-13-45", "١٢", "<script>", "../../x"),
)
NAMES = (
    "a.txt",
    "",
    "..",
    "x" * 5000,
    "a\0b",
    "\ud800.json",
    "\u202etxt.exe",
    'a"b;c',
    "/etc/passwd",
)
SAID: tuple[Fields, ...] = (
    [("set", "=")],
    [("set", "scope=\0")],
    [("set", "threads=" + "9" * 250)],
    [("set", "threads=1e999")],
    [("set", "threads=NaN")],
    [("set", "node=\ud800")],
    [("set", f"{n}=1") for n in range(150)],
    [("system", "x" * 79)],
    [("system", "../..")],
    [("lab", "\0")],
    [("benchmark", "[" * 5000)],
    [("publish_at", "9999-12-31T23:59:59+14:00")],
    [("publish_at", "1" * 400)],
    [("dry_run", "1")],
    [("corrects", "9" * 18), ("reason", "x")],
    [("corrects", "9" * 400), ("reason", "x")],
)


@dataclass(frozen=True)
class Case:
    """An upload that may be anything; `origin` says how it was made."""

    origin: str
    file: File
    fields: Fields


def measure(hub: Hub, mutations: int) -> list[Line]:
    """The files of tests/data/hostile, then `mutations` damaged ones, by four clients."""
    pids, cases = hub.pids(), list(made(mutations))
    with ThreadPoolExecutor(CLIENTS) as clients:
        verdicts = Counter(clients.map(lambda case: _verdict(hub, case), cases))
    faults = {what: n for what, n in verdicts.items() if what.startswith("fault")}
    fine = ", ".join(f"{n} {what}" for what, n in verdicts.most_common() if what not in faults)
    return [
        Line("damaged uploads", len(cases), digits=0, remark=fine),
        Line(
            "answers 5xx, without a reason, or of a reading that failed",
            sum(faults.values()),
            0,
            digits=0,
            remark="; ".join(faults),
        ),
        Line("processes that died", len({*pids} - {*hub.pids()}), 0, digits=0),
        *_stored(hub),
    ]


def made(mutations: int) -> Iterator[Case]:
    """Always the same ones."""
    for path in given.hostile():
        yield Case(path.name, (path.name, path.read_bytes()), [])
    rng, files = random.Random(SEED), sorted(corpus().items())
    for number in range(mutations):
        name, data = files[number % len(files)]
        way = rng.choice((*WAYS, retype, retype, twice))
        sent = NAMES[number % len(NAMES)] if number % 10 == 7 else name
        fields = SAID[number // 10 % len(SAID)] if number % 10 == 3 else given.FIELDS
        origin = f"{number}: {way.__name__} of {name} as {sent[:20]!r}"
        yield Case(origin, (sent, way(rng, data)), list(fields))


def retype(rng: random.Random, data: bytes) -> bytes:
    """JSON with something of a wrong type in a random place; of another file, a cell."""
    try:
        tree = json.loads(data)
    except ValueError:
        cells = data.split(b",") if b"," in data else data.split(b" ")
        cells[rng.randrange(len(cells))] = str(rng.choice(WRONG)).encode("utf-8", "replace")
        return (b"," if b"," in data else b" ").join(cells)
    holder, key = rng.choice(list(_places(tree)))
    holder[key] = rng.choice(WRONG)
    return json.dumps(tree).encode("utf-8", "surrogatepass")


def twice(rng: random.Random, data: bytes) -> bytes:
    """Two damages, one after the other."""
    for _ in range(2):
        ways: Sequence[Callable[[random.Random, bytes], bytes]] = WAYS[:-1]
        data = rng.choice(ways)(rng, data) or b"\n"
    return data


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Each place of a JSON tree that something can be put into."""
    keys: list[Any] = list(tree) if isinstance(tree, dict) else []
    if isinstance(tree, list):
        keys = list(range(len(tree)))
    for key in keys:
        yield tree, key
        yield from _places(tree[key])


def _verdict(hub: Hub, case: Case) -> str:
    """What became of it in a word or two; 'fault', and how to make it again, for what is wrong."""
    answer = patient(hub, LAB, [case.file], case.fields)[0]
    where = f"fault {answer.status}, {case.origin}"
    if answer.status not in (200, 201, 400, 403, 413):
        return where
    found = json.loads(answer.body)
    if "state" not in found:
        return f"refused by the form ({answer.status})" if found.get("message") else where
    if found["state"] == "received":
        found = hub.outcome(LAB, found["id"])
    refused = found["state"] == "rejected"
    if refused and all(problem["message"] for problem in found["problems"]) and found["problems"]:
        return "refused with a reason"
    if found["state"] != "parsed":
        return f"{where}: {found['state']} {found['problems']}"
    return "understood"


def _stored(hub: Hub) -> list[Line]:
    """Rows that have no reason although they were refused, by the database itself."""
    rows = hub.rows(
        "SELECT upload.id, upload.report FROM results_upload upload "
        "JOIN results_lab lab ON lab.id = upload.lab_id WHERE lab.slug = ? AND state = 'rejected'",
        LAB,
    )
    silent = [number for number, report in rows if not json.loads(report).get("problems")]
    return [Line("refused uploads without a stored reason", len(silent), 0, digits=0)]
