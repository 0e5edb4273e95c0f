"""R-07: the disk fills up at one point after another of an upload; nothing accepted is lost."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.bench.remote import ROOT, environment
from tests.bench.report import Line
from tests.benchhub.processes import free_port, wait_for
from tests.benchhub.receiver import DISK_MB, ENTER, Answer, Limit, Tmpfs, answer
from tests.reliability import given, ledger
from tests.reliability.hub import Hub, end, form, order_head

LAB = "disk"
# Larger than the piece in which a body is read: a file is begun when one has arrived.
SIZE = 72_000
Disk = Tmpfs | Limit


def measure(hub: Hub, disk: Disk, folder: Path, left_kb: Sequence[int]) -> list[Line]:
    """One upload for each of `left_kb`, the room that is left once half of it has arrived."""
    hub.copy_to(folder / "template")
    with started(hub.tokens, disk, folder) as narrow:
        pids, answers, accepted, waited = narrow.pids(), list[Answer](), dict[int, str](), 0
        for number, room_kb in enumerate(left_kb):
            data = given.log(number, SIZE)
            answers.append(_while_it_fills(narrow, disk, data, room_kb))
            if answers[-1].status == 201:
                document = json.loads(answers[-1].body)
                waited += document["state"] == "received"
                accepted[document["id"]] = hashlib.sha256(data).hexdigest()
            disk.free(narrow)
        return [*_told(answers), *_kept(narrow, pids, accepted, waited)]


def _while_it_fills(hub: Hub, disk: Disk, data: bytes, room_kb: int) -> Answer:
    """Send half of an upload, leave only so much room, send the rest."""
    body = form([("a.txt", data)], given.FIELDS)
    whole = order_head(hub.tokens[LAB], len(body)) + body
    with hub.connect() as connection:
        connection.sendall(whole[:-1000])
        wait_for(hub.incoming)
        disk.fill(hub, room_kb)
        connection.sendall(whole[-1000:])
        return answer(connection)


def _told(answers: Sequence[Answer]) -> list[Line]:
    """Each is accepted, or refused with 507 or 503 in words."""
    statuses = Counter(got.status for got in answers)
    bad = [
        f"{got.status} {got.text[:200]}"
        for got in answers
        if got.status not in (201, 503, 507) or not _words(got)
    ]
    spread = ", ".join(f"{n} × {status}" for status, n in sorted(statuses.items()))
    return [
        Line("uploads while the disk filled up", len(answers), digits=0, remark=spread),
        Line(
            "answers but 201, and 503 or 507 in words", len(bad), 0, digits=0, remark="; ".join(bad)
        ),
    ]


def _words(got: Answer) -> bool:
    return got.status == 201 or bool(json.loads(got.body)["message"])


def _kept(hub: Hub, pids: list[int], accepted: Mapping[int, str], waited: int) -> list[Line]:
    """What is there when there is room again."""
    states = [hub.outcome(LAB, number)["state"] for number in accepted]
    rows = {(number, sha256) for number, _state, sha256 in hub.rows(ledger.FILES, LAB)}
    integrity = hub.rows("PRAGMA integrity_check")[0][0]
    later = hub.order(LAB, [("later.txt", given.log(5000))], given.FIELDS)
    lost = len({*accepted.items()} ^ rows)
    unread = len([state for state in states if state != "parsed"])
    damaged = len(ledger.damaged(hub.var, accepted))
    return [
        Line("accepted uploads that are lost, or stored and not told", lost, 0, digits=0),
        Line("accepted files lost or changed", damaged, 0, digits=0),
        Line(
            "accepted uploads not understood once there is room",
            unread,
            0,
            digits=0,
            remark=f"{waited} were waiting",
        ),
        Line("half files left", len(hub.incoming()), 0, digits=0),
        Line("faults that SQLite finds", int(integrity != "ok"), 0, digits=0),
        Line("uploads refused afterwards", int(later.status != 201), 0, digits=0),
        Line("processes that died", len({*pids} - {*hub.pids()}), 0, digits=0),
    ]


@contextmanager
def started(tokens: Mapping[str, str], disk: Disk, folder: Path) -> Iterator[Hub]:
    """A hub on a disk that can be filled, with what lies in the folder's template."""
    template, var, port = folder / "template", folder / "var", free_port()
    enter: list[str] = []
    if isinstance(disk, Tmpfs):
        var.mkdir()
        size = f"{DISK_MB}m"
        enter = [*disk.unshare, "sh", "-c", ENTER, "sh", size, str(var), str(template)]
    else:
        shutil.copytree(template, var, symlinks=True)
    env = environment(var, PORT=str(port), BIND="127.0.0.1")
    with (folder / "output.log").open("wb") as output:
        process = subprocess.Popen(
            [*enter, sys.executable, "-m", "tests.reliability.pair", str(port)],
            cwd=ROOT,
            env=env,
            stdout=output,
            stderr=subprocess.STDOUT,
            process_group=0,
        )
    seen = Path(f"/proc/{process.pid}/root{var}") if enter else var
    hub = Hub(process, port, seen, tokens)
    log = folder / "output.log"
    try:
        wait_for(lambda: process.poll() is not None or "serving" in log.read_text())
        assert process.poll() is None, log.read_text()
        wait_for(lambda: len(hub.pids()) == 4)
        yield hub
    finally:
        end(process)
