"""A database in a folder of its own, and real workers on it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tests.bench.remote import ROOT, environment
from tests.benchhub.processes import DEADLINE_S, wait_for

JOBS = {"EXTRA_RUNNERS": "tests.runners.given", "JOB_LEASE_S": "4", "JOB_SWEEP_S": "1"}
ORDER = """
from runners.hosts import this_host
from runners.jobs import request_job
for parameters in {all_parameters!r}:
    job = request_job(
        host=this_host(), benchmark="stream", preset="standard", parameters=parameters, actor=None
    )
    print(job.pk)
"""


@dataclass(frozen=True)
class Worker:
    """A running `manage.py worker`."""

    process: subprocess.Popen[bytes]

    @property
    def celery(self) -> psutil.Process:
        """Its only child, once it has compiled the kernels."""
        children = psutil.Process(self.process.pid).children()
        [found] = [child for child in children if "celery" in child.cmdline()]
        return found

    @property
    def pool_child(self) -> psutil.Process:
        """Celery's only child, in which the engine works."""
        [found] = self.celery.children()
        return found

    @property
    def tree(self) -> list[int]:
        """All of it, and what it runs."""
        keeper = psutil.Process(self.process.pid)
        return [p.pid for p in (keeper, *keeper.children(recursive=True))]


@dataclass(frozen=True)
class Workplace:
    """A VAR with a database."""

    var: Path

    @property
    def environment(self) -> Mapping[str, str]:
        return environment(self.var, **JOBS)

    @property
    def log(self) -> str:
        """What all workers have printed."""
        return (self.var / "worker.log").read_text(encoding="utf-8")

    def manage(self, *words: str) -> str:
        """What a command of manage.py prints on standard output."""
        argv = [sys.executable, "manage.py", *words]
        done = subprocess.run(
            argv, cwd=ROOT, env=self.environment, check=True, stdout=subprocess.PIPE
        )
        return done.stdout.decode()

    def do(self, code: str) -> str:
        """The last line that some Python prints."""
        return self.manage("shell", "-v", "0", "-c", code).splitlines()[-1]

    def order(self, **parameters: Any) -> int:
        """Ask for a job on this machine; its id."""
        return self.orders([parameters])[0]

    def orders(self, all_parameters: list[dict[str, Any]]) -> list[int]:
        """Ask for several at once."""
        code = ORDER.format(all_parameters=all_parameters)
        printed = self.manage("shell", "-v", "0", "-c", code).splitlines()
        return [int(line) for line in printed[-len(all_parameters) :]]

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.var / "benchhub.sqlite3", timeout=20)) as line:
            return line.execute(query, values).fetchall()

    def attempts(self, job: int) -> list[tuple[str, str]]:
        """State and message of a job's attempts, the first one first."""
        query = "SELECT state, message FROM runners_attempt WHERE job_id = ? ORDER BY number"
        return self.rows(query, job)

    def state(self, job: int) -> str:
        [(state,)] = self.rows("SELECT state FROM runners_job WHERE id = ?", job)
        return str(state)

    def wait_until_it_measures(self, job: int) -> str:
        """The mark of the attempt whose program runs."""
        query = "SELECT owner FROM runners_attempt WHERE job_id = ? AND session_id IS NOT NULL"
        ((owner,),) = wait_for(lambda: self.rows(query + " AND state = 'running'", job))
        return str(owner)

    def wait_until_it_is_over(self, job: int) -> str:
        wait_for(lambda: self.state(job) not in ("queued", "running"))
        return self.state(job)

    @contextmanager
    def worker(self) -> Iterator[Worker]:
        """A worker whose consumer is ready; nothing of it stays behind."""
        with (self.var / "worker.log").open("ab") as output:
            process = subprocess.Popen(
                [sys.executable, "manage.py", "worker"],
                cwd=ROOT,
                env=self.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                process_group=0,
            )
        worker = Worker(process)
        try:
            wait_for(lambda: process.poll() is not None or has_pool(worker))
            assert process.poll() is None, self.log
            yield worker
        finally:
            process.terminate()
            process.wait(timeout=DEADLINE_S)


def has_pool(worker: Worker) -> bool:
    """Whether Celery has started its child."""
    try:
        return bool(worker.pool_child)
    except (ValueError, psutil.Error):
        return False
