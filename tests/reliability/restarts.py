"""R-13: PostgreSQL and Redis are restarted under load; nothing is lost, pages say 503."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from tests.bench.report import Line
from tests.benchhub.processes import wait_for
from tests.reliability import given, ledger
from tests.reliability.desk import Desk
from tests.reliability.hub import AGAIN, Hub, patient
from tests.reliability.ledger import Accepted
from tests.servers.postgres import Postgres
from tests.servers.private import Private
from tests.servers.redis import Redis

LAB = "restarts"
CLIENTS = 4
PAGES = ("/compare/", "/systems/", "/api/v1/compare/", "/api/v1/runs/", "/", "/nothing/")
AWAY_S = 1.0  # long enough for every client to meet it
MOST_S = 60.0
BEARABLE = frozenset({200, 404})


@dataclass
class Reader:
    """Somebody who reads one page after the other, and what was answered."""

    hub: Hub
    over: threading.Event = field(default_factory=threading.Event)
    statuses: Counter[int] = field(default_factory=Counter)
    without_hint: int = 0

    def read(self) -> None:
        number = 0
        while not self.over.is_set():
            number += 1
            answer = self.hub.get(PAGES[number % len(PAGES)])
            self.statuses[answer.status] += 1
            if answer.status == 503 and not answer.headers.get("retry-after"):
                self.without_hint += 1
            time.sleep(0.02)

    def wrong(self) -> int:
        """Answers that are neither of the page nor 'not just now'."""
        fine = BEARABLE | AGAIN
        return sum(n for status, n in self.statuses.items() if status not in fine)


def measure(
    hub: Hub, postgres: Postgres, redis: Redis, *, restarts: int, uploads: int
) -> list[Line]:
    """Both servers are restarted in turn, `restarts` times together, while labs upload, readers
    read and a job runs. Call it from the thread that lives as long as the servers shall."""
    pids, accepted, reader, desk = hub.pids(), Accepted(), Reader(hub), Desk(hub)
    asked: list[int] = []
    with ThreadPoolExecutor(CLIENTS + 1) as pool:
        reading = pool.submit(reader.read)
        sending = [pool.submit(_send, hub, number, accepted) for number in range(uploads)]
        waits = []
        for number in range(restarts):
            due = (number + 1) * uploads // (restarts + 1)
            wait_for(lambda due=due: accepted.done >= due)  # type: ignore[misc]
            asked.append(desk.order(ms=1000, serial=number))
            waits.append(_restart(hub, redis if number % 2 else postgres))
        _finish(sending)
        list(pool.map(lambda number: hub.outcome(LAB, number), list(accepted.digests)))
        reader.over.set()
        reading.result()
    ended = Counter(desk.outcome(job)["state"] for job in asked)
    pages = ", ".join(f"{n} × {status}" for status, n in sorted(reader.statuses.items()))
    return [
        Line("restarts", restarts, digits=0),
        Line("longest until all worked again", max(waits), MOST_S, unit="s", digits=1),
        Line("pages answered 5xx but 503", reader.wrong(), 0, digits=0, remark=pages),
        Line("answers 503 without Retry-After", reader.without_hint, 0, digits=0),
        *ledger.lines(hub, LAB, accepted, uploads),
        Line("jobs not finished", restarts - ended["finished"], 0, digits=0),
        Line("jobs with no run, or two", _off(desk, asked), 0, digits=0),
        Line("processes that died", len({*pids} - {*hub.pids()}), 0, digits=0),
    ]


def _send(hub: Hub, number: int, accepted: Accepted) -> None:
    file, fields = given.upload(number)
    answers = patient(hub, LAB, [file], fields)
    accepted.answered(*(answer.status for answer in answers))
    if answers[0].status in (200, 201):
        accepted.add(json.loads(answers[0].body)["id"], hashlib.sha256(file[1]).hexdigest())


def _finish(sending: list[Future[None]]) -> None:
    for future in sending:
        future.result()


def _restart(hub: Hub, server: Private) -> float:
    """Seconds from the server's return until pages and uploads are answered."""
    server.stop()
    time.sleep(AWAY_S)
    server.start()
    began_s = time.monotonic()
    wait_for(lambda: hub.get("/healthz").status == 200 and hub.get("/compare/").status == 200)
    return time.monotonic() - began_s


def _off(desk: Desk, jobs: list[int]) -> int:
    runs = desk.runs(jobs)
    return sum(abs(runs[job] - 1) for job in jobs)
