"""Jobs asked for over the API of a hub, and what became of them by its database."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import psutil

from tests.benchhub.processes import wait_for
from tests.benchhub.receiver import Answer, head
from tests.reliability.hub import AGAIN, Hub

LAB = "jobs"
JOBS = "/api/v1/jobs/"
OVER = ("finished", "failed", "cancelled")
MARK = "BENCHHUB_ATTEMPT"


@dataclass(frozen=True)
class Desk:
    """Where jobs are handed in. Their benchmark is that of `tests.runners.given`."""

    hub: Hub

    @cached_property
    def host(self) -> str:
        """The slug of the hub's own host, once its worker has named it and looked around."""

        def look() -> str:
            got = self.hub.ask(LAB, "/api/v1/hosts/")
            hosts = json.loads(got.body)["results"] if got.status == 200 else []
            return str(hosts[0]["slug"]) if hosts and hosts[0]["alive"] else ""

        return wait_for(look)

    def post(self, path: str, document: dict[str, Any] | None = None) -> Answer:
        """POST a document, once; status 0 where no answer came."""
        body = json.dumps(document or {}).encode()
        key = f"Authorization: Token {self.hub.tokens[LAB]}"
        try:
            return self.hub.send(head(path, len(body), key, kind="application/json"), body)
        except OSError:
            return Answer(0)

    def order(self, **parameters: Any) -> int:
        """Ask for a job; its id. Asks again while the server says that it passes."""

        def ask() -> int:
            got = self.post(JOBS, self.document(parameters))
            assert got.status == 201 or got.status in AGAIN, got
            return int(json.loads(got.body)["id"]) if got.status == 201 else 0

        return wait_for(ask)

    def document(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """What is sent to ask for a job."""
        return {
            "host": self.host,
            "benchmark": "stream",
            "preset": "standard",
            "parameters": parameters,
        }

    def cancel(self, job: int) -> int:
        """The status of the answer to a wish to cancel."""
        return self.post(f"{JOBS}{job}/cancel/").status

    def job(self, number: int) -> dict[str, Any]:
        """The job's document; empty where no answer came."""
        got = self.hub.ask(LAB, f"{JOBS}{number}/")
        found: dict[str, Any] = json.loads(got.body) if got.status == 200 else {}
        return found

    def outcome(self, number: int) -> dict[str, Any]:
        """The job's document once it is over."""

        def look() -> dict[str, Any]:
            found = self.job(number)
            return found if found.get("state") in OVER else {}

        return wait_for(look)

    def states(self, jobs: list[int]) -> Counter[str]:
        """How many of these jobs are in each state, by the database."""
        rows = self.hub.rows("SELECT id, state FROM runners_job")
        return Counter(state for number, state in rows if number in set(jobs))

    def attempts(self, jobs: list[int]) -> list[tuple[int, int, str]]:
        """Job, number and state of every attempt of these jobs."""
        rows = self.hub.rows("SELECT job_id, number, state FROM runners_attempt ORDER BY id")
        return [(job, number, state) for job, number, state in rows if job in set(jobs)]

    def runs(self, jobs: list[int]) -> Counter[int]:
        """How many runs each of these jobs has."""
        rows = self.hub.rows("SELECT job_id, run_id FROM runners_job_runs")
        return Counter(job for job, _run in rows if job in set(jobs))


def marked() -> dict[str, list[psutil.Process]]:
    """Living processes that carry an attempt's mark, by the mark."""
    found: dict[str, list[psutil.Process]] = {}
    for process in psutil.process_iter():
        try:
            mark = process.environ().get(MARK)
            if mark and process.status() != psutil.STATUS_ZOMBIE:
                found.setdefault(mark, []).append(process)
        except psutil.Error:
            continue
    return found


def left_of(hub: Hub) -> int:
    """Processes that attempts of this hub have left."""
    owners = {owner for (owner,) in hub.rows("SELECT owner FROM runners_attempt")}
    return sum(len(found) for mark, found in marked().items() if mark in owners)
