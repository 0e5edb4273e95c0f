"""R-08: the same file many times at once is one upload."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

from tests.bench.report import Line
from tests.reliability import given
from tests.reliability.hub import Hub, patient
from tests.reliability.ledger import FILES, RUNS, SENT

LAB = "same"
CLIENTS = 8


def measure(hub: Hub, times: int) -> list[Line]:
    """One file `times` times by eight clients at once."""
    file, fields = given.upload(1)
    with ThreadPoolExecutor(CLIENTS) as clients:
        told = list(clients.map(lambda _: patient(hub, LAB, [file], fields), range(times)))
    last = [answers[0] for answers in told]
    ids = {json.loads(answer.body).get("id") for answer in last}
    new = len([answer for answer in last if answer.status == 201])
    known = len([answer for answer in last if answer.status == 200])
    again = sum(len(answers) - 1 for answers in told)
    (number,) = ids
    hub.outcome(LAB, number)
    return [
        Line("answers 201", new, 1, digits=0, remark=f"{again} were asked to come again"),
        Line("answers 200", known, times - 1, "at least", digits=0),
        Line("ids", len(ids), 1, digits=0),
        Line("uploads", len(hub.rows(FILES, LAB)), 1, digits=0),
        Line("runs", len(hub.rows(RUNS, LAB)), 1, digits=0),
        Line("audit rows of sending", hub.rows(SENT, LAB)[0][0], 1, digits=0),
    ]
