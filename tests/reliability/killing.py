"""R-01: uploads go on while processes are killed; nothing is lost, nothing is there twice."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from tests.bench.report import Line
from tests.benchhub.processes import wait_for
from tests.reliability import given, ledger
from tests.reliability.hub import Hub, patient
from tests.reliability.ledger import Accepted

LAB = "killed"
CLIENTS = 4
TARGETS = ("worker", "master", "worker", "reader", "worker")


def measure(hub: Hub, uploads: int, kills: int) -> list[Line]:
    """`uploads` different files by four clients with retry, while processes are killed."""
    accepted, dead = Accepted(), Counter[str]()
    with ThreadPoolExecutor(CLIENTS) as clients:
        sending = [clients.submit(_send, hub, number, accepted) for number in range(uploads)]
        for number in range(kills):
            _wait_until(accepted, (number + 1) * uploads // (kills + 1))
            dead[_kill(hub, TARGETS[number % len(TARGETS)], number)] += 1
        for future in sending:
            future.result()
        list(clients.map(lambda number: hub.outcome(LAB, number), list(accepted.digests)))
    killed = ", ".join(f"{n} × {which}" for which, n in sorted(dead.items()))
    broken = sum(accepted.statuses[status] for status in (0, 502, 503))
    return [
        Line("uploads sent", uploads, digits=0, remark=f"killed: {killed}"),
        Line("requests that broke off and were sent again", broken, digits=0),
        *ledger.lines(hub, LAB, accepted, uploads),
        *ledger.after_sweep(hub),
    ]


def _wait_until(accepted: Accepted, due: int) -> None:
    """Wait until so many uploads were answered."""
    wait_for(lambda: accepted.done >= due)


def _send(hub: Hub, number: int, accepted: Accepted) -> None:
    file, fields = given.upload(number)
    answers = patient(hub, LAB, [file], fields)
    accepted.answered(*(answer.status for answer in answers))
    if answers[0].status in (200, 201):
        accepted.add(json.loads(answers[0].body)["id"], hashlib.sha256(file[1]).hexdigest())


def _kill(hub: Hub, which: str, number: int) -> str:
    """Kill one process of that kind, without a warning; which kind."""
    found = wait_for(lambda: hub.find(which))
    random.Random(number).choice(found).kill()
    return which
