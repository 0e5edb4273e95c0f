"""Output without end: bounded on the disk and in memory, and never taken for a result."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from runners.engine.base import Limits
from tests.benchhub.processes import ROOT
from tests.runners.engine.helpers import TELL, Notes, execute, once_there, python, shell

MESSAGE = "work: the output passed 10 MB and was cut"
LIMIT = Limits().output_bytes
FLOODS = {
    "yes": "yes",
    "1 GB without a newline": "head -c 1000000000 /dev/zero | tr '\\0' x; echo done",
    "binary": "head -c 1000000000 /dev/urandom; echo done",
    "errors": "yes >&2",
    "deaf": "trap '' TERM; while :; do head -c 100000000 /dev/zero; done",
    "gone": "setsid yes & sleep 1000",
}


@pytest.mark.parametrize("code", FLOODS.values(), ids=FLOODS)
def test_a_flood_is_ended_and_cut(tmp_path: Path, code: str) -> None:
    limits = Limits(grace_s=1)
    outcome = execute(tmp_path, shell(code, finished="."), limits=limits)
    assert (outcome.end, outcome.message, outcome.outputs) == ("failed", MESSAGE, {})
    (step,) = outcome.record["steps"]
    assert sorted((step["stdout"]["cut"], step["stderr"]["cut"])) == [False, True]
    sizes = [path.stat().st_size for path in (tmp_path / "output").iterdir()]
    # The shell may have a word to say about its child's end.
    assert max(sizes) == LIMIT
    assert min(sizes) < 100


def test_a_flood_that_ends_before_anyone_looks_is_no_result(tmp_path: Path) -> None:
    outcome = execute(tmp_path, shell(f"head -c {LIMIT} /dev/zero; echo done", finished="done"))
    assert (outcome.end, outcome.message) == ("failed", MESSAGE)


def test_output_up_to_the_limit_is_taken_whole(tmp_path: Path) -> None:
    code = f"head -c {LIMIT - 6} /dev/zero; echo; echo done"
    outcome = execute(tmp_path, shell(code, finished="^done$"))
    assert outcome.end == "finished"
    data = outcome.outputs["work"].read_bytes()
    assert len(data) == LIMIT
    digest = outcome.record["steps"][0]["stdout"]["sha256"]
    assert digest == hashlib.sha256(data).hexdigest()


def test_a_flood_that_begins_when_the_program_is_told_to_end_is_cut(tmp_path: Path) -> None:
    code = (
        TELL
        + """
def flood(*_):
    while True:
        os.write(1, b"x" * 1000000)
signal.signal(signal.SIGTERM, flood)
tell("there")
time.sleep(1000)
"""
    )
    watch = Notes(once_there(tmp_path / "there", "cancel"))
    outcome = execute(tmp_path, python(code), watch=watch, limits=Limits(grace_s=60, tick_s=0.05))
    assert outcome.end == "cancelled"
    assert (tmp_path / "output" / "1-work.out").stat().st_size == LIMIT


GROWTH = """
import resource, sys
from pathlib import Path
from tests.runners.engine.helpers import execute, shell

def peak_kib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

root = Path(sys.argv[1])
for name in ("quiet", "flood", "long"):
    (root / name).mkdir()
execute(root / "quiet", shell("echo done", finished="done"))
before = peak_kib()
execute(root / "flood", shell("head -c 1000000000 /dev/zero"))
execute(root / "long", shell("head -c 9999990 /dev/zero; echo; echo done", finished="^done"))
print(peak_kib() - before)
"""


def test_the_engine_does_not_grow_with_a_flood(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", GROWTH, str(tmp_path)]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 4000
