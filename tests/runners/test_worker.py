"""`manage.py worker`, for real: it measures, and goes on whatever of it is killed."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.bench.remote import ROOT
from tests.benchhub.processes import DEADLINE_S, gone, processes_of, wait_for
from tests.runners.workplace import Worker, Workplace, has_pool

# One process of pytest-xdist runs these, so that the database is made once.
pytestmark = pytest.mark.xdist_group("worker")
LONG_MS = 120_000
ODD_MESSAGES = """
from runners.hosts import this_host
from runners.models import Attempt, Host, Job
from runners.tasks import run_attempt
here = this_host()
other, _new = Host.objects.get_or_create(slug="other", defaults={"name": "other", "key": "other"})
job = Job.objects.create(host=other, benchmark="stream", preset="standard", actor_name="x")
foreign = Attempt.objects.create(job=job, host=other)
for odd in ((0,), (-1,), (10**30,), (True,), ("x",), (None,), (), ([1],), (10**12,), (1, 2, 3)):
    run_attempt.apply_async(odd, queue=here.queue)
run_attempt.apply_async((), {"strange": 1}, queue=here.queue)
run_attempt.app.send_task("no.such.task", queue=here.queue)
run_attempt.apply_async((foreign.pk,), queue=here.queue)
print(foreign.pk)
"""


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """A database where one worker runs all the time."""
    return made(tmp_path_factory.mktemp("busy") / "var")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """A database where no worker runs but those of a test."""
    return made(tmp_path_factory.mktemp("worker") / "var")


def made(var: Path) -> Workplace:
    place = Workplace(var)
    place.manage("migrate", "-v", "0")
    return place


@pytest.fixture(scope="module")
def shared(busy: Workplace) -> Iterator[Worker]:
    """The worker that runs all the time."""
    with busy.worker() as worker:
        yield worker


def marked(owner: str) -> list[int]:
    """Processes that carry an attempt's mark."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("BENCHHUB_ATTEMPT") == owner:
                found.append(process.pid)
        except psutil.Error:
            continue
    return [pid for pid in found if not gone([pid])]


def test_it_runs_a_job_and_says_nothing(busy: Workplace, shared: Worker) -> None:
    job = busy.order(ms=100)
    assert busy.wait_until_it_is_over(job) == "finished"
    assert busy.attempts(job) == [("finished", "")]
    assert len(busy.rows("SELECT run_id FROM runners_job_runs WHERE job_id = ?", job)) == 1
    assert busy.log == ""


def test_its_host_is_seen_to_live(busy: Workplace, shared: Worker) -> None:
    query = "SELECT seen_at FROM runners_host WHERE slug != 'other' AND seen_at IS NOT NULL"
    [seen] = busy.rows(query)
    wait_for(lambda: busy.rows(query) != [seen])


def test_the_kernels_are_compiled(busy: Workplace, shared: Worker) -> None:
    names = [path.name.partition("-")[0] for path in (busy.var / "kernels").iterdir()]
    assert sorted(names) == ["bandwidth", "latency"]


def test_odd_messages_are_ignored(busy: Workplace, shared: Worker) -> None:
    before = [shared.celery.pid, shared.pool_child.pid]
    foreign = busy.do(ODD_MESSAGES)
    job = busy.order(ms=10)
    assert busy.wait_until_it_is_over(job) == "finished"
    wait_for(lambda: f"attempt {foreign} is for another host" in busy.log)
    assert busy.rows("SELECT state FROM runners_attempt WHERE id = ?", foreign) == [("queued",)]
    assert [shared.celery.pid, shared.pool_child.pid] == before
    assert "a message that names no attempt was ignored: 'x'" in busy.log


def test_a_killed_pool_child_loses_its_attempt_and_the_next_finishes(
    busy: Workplace, shared: Worker
) -> None:
    job = busy.order(ms=1000)
    owner = busy.wait_until_it_measures(job)
    celery = shared.celery.pid
    shared.pool_child.kill()
    assert busy.wait_until_it_is_over(job) == "finished"
    assert busy.attempts(job) == [("lost", "its worker died"), ("finished", "")]
    assert shared.celery.pid == celery
    assert marked(owner) == []


def test_a_killed_consumer_is_brought_back(busy: Workplace, shared: Worker) -> None:
    job = busy.order(ms=1000)
    owner = busy.wait_until_it_measures(job)
    shared.celery.kill()
    assert busy.wait_until_it_is_over(job) == "finished"
    assert busy.attempts(job) == [("lost", "its worker died"), ("finished", "")]
    assert "the consumer of jobs ended (signal 9); starting it again in 1 s." in busy.log
    assert marked(owner) == []


def test_a_wiped_queue_is_rung_for_again(busy: Workplace, shared: Worker) -> None:
    long, short = busy.orders([{"ms": 2000}, {"ms": 10}])
    busy.wait_until_it_measures(long)
    for path in (busy.var / "queue").rglob("*.msg"):
        path.unlink(missing_ok=True)
    assert [busy.wait_until_it_is_over(job) for job in (long, short)] == ["finished"] * 2


def test_two_workers_on_one_host_measure_one_at_a_time(busy: Workplace, shared: Worker) -> None:
    jobs = [busy.order(ms=3000)]
    with busy.worker():
        jobs += busy.orders([{"ms": 300, "serial": number} for number in range(5)])
        assert [busy.wait_until_it_is_over(job) for job in jobs] == ["finished"] * 6
    times = busy.rows(
        "SELECT started_at, finished_at FROM runners_attempt WHERE job_id >= ? ORDER BY 1", jobs[0]
    )
    assert len(times) == 6
    assert [pair for pair in itertools.pairwise(times) if pair[0][1] > pair[1][0]] == []


def test_a_worker_that_is_asked_to_end_lets_go_of_its_job(place: Workplace) -> None:
    with place.worker() as worker:
        job = place.order(ms=LONG_MS)
        owner = place.wait_until_it_measures(job)
        everything = worker.tree
        worker.process.send_signal(signal.SIGTERM)
        assert worker.process.wait(timeout=DEADLINE_S) == 0
        assert gone(everything)
        assert marked(owner) == []
        assert place.attempts(job) == [("lost", "its worker was stopped"), ("queued", "")]
    _shorten(place, job)
    with place.worker():
        assert place.wait_until_it_is_over(job) == "finished"


def _shorten(place: Workplace, job: int) -> None:
    """Let what is left of a long job be short."""
    code = "from runners.models import Job; job = Job.objects.get(pk={job}); "
    code += "job.parameters['ms'] = 10; job.save(); print('done')"
    place.do(code.format(job=job))


def test_of_a_killed_keeper_nothing_stays_and_the_next_goes_on(place: Workplace) -> None:
    with place.worker() as worker:
        job = place.order(ms=LONG_MS)
        owner = place.wait_until_it_measures(job)
        everything = [worker.process.pid, worker.celery.pid, worker.pool_child.pid]
        worker.process.kill()
        wait_for(lambda: gone(everything))
    _shorten(place, job)
    with place.worker():
        assert place.wait_until_it_is_over(job) == "finished"
        assert marked(owner) == []
    assert place.attempts(job) == [("lost", "its worker died"), ("finished", "")]


def test_an_idle_worker_ends_and_leaves_nothing(place: Workplace) -> None:
    with place.worker() as worker:
        everything = worker.tree
        worker.process.send_signal(signal.SIGINT)
        assert worker.process.wait(timeout=DEADLINE_S) == 0
        assert gone(everything)
    assert processes_of(place.var) == []


def test_it_waits_for_a_database_that_is_not_there_yet(tmp_path: Path) -> None:
    place = Workplace(tmp_path / "var")
    place.var.mkdir()
    with (place.var / "worker.log").open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "worker"],
            cwd=ROOT,
            env=place.environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_for(lambda: "no such table" in place.log)
        place.manage("migrate", "-v", "0")
        wait_for(lambda: has_pool(Worker(process)))
        assert "BenchHub: the worker goes on." in place.log
    finally:
        process.terminate()
        process.wait(timeout=DEADLINE_S)
