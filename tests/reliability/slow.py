"""R-12: clients that send 1 KB a second do not slow the pages of others."""

from __future__ import annotations

import threading
import time
from itertools import count

from tests.bench.report import Line
from tests.benchhub.receiver import Slow, pace
from tests.reliability import given
from tests.reliability.hub import Hub, form, order_head

LAB = "slow"
CLIENTS = 20
PAGES = ("/", "/systems/", "/api/v1/runs/", "/accounts/login/")


class Dribbling(Slow):
    """A real upload that is sent piece by piece."""

    def __init__(self, hub: Hub, number: int, size: int) -> None:
        self.data = given.log(number, size)
        body = form([(f"{number}.txt", self.data)], given.FIELDS)
        self._left = order_head(hub.tokens[LAB], len(body)) + body
        self.connection = hub.connect()


def measure(hub: Hub, seconds: int) -> list[Line]:
    """Pages alone for so long, then beside twenty clients."""
    over = threading.Event()
    threading.Timer(seconds, over.set).start()
    idle_s = page_times_s(hub, over)
    clients = [Dribbling(hub, number, (seconds + 5) * 1000) for number in range(CLIENTS)]
    over.clear()
    dribble = threading.Thread(target=pace, args=(clients, 1000, seconds, over))
    dribble.start()
    busy_s = page_times_s(hub, over)
    dribble.join()
    answers = [client.end().status for client in clients]
    refused = len([status for status in answers if status != 201])
    remark = f"{p95(idle_s) * 1000:.0f} ms idle, {p95(busy_s) * 1000:.0f} ms beside; "
    remark += f"{len(idle_s)} and {len(busy_s)} pages"
    ratio = p95(busy_s) / p95(idle_s)
    return [
        Line(f"p95 of pages beside {CLIENTS} slow uploads / alone", ratio, 2, remark=remark),
        Line("slow uploads that were refused", refused, 0, digits=0),
    ]


def page_times_s(hub: Hub, over: threading.Event) -> list[float]:
    """Ask for pages over and over; all must be answered."""
    times_s: list[float] = []
    for number in count():
        if over.is_set() and number >= 20:
            break
        began_s = time.monotonic()
        assert hub.get(PAGES[number % len(PAGES)]).status == 200
        times_s.append(time.monotonic() - began_s)
    return times_s


def p95(times_s: list[float]) -> float:
    return sorted(times_s)[int(0.95 * (len(times_s) - 1))]
