"""The limits of a reading: what ends a child is said in words, and ends nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import os, signal, sys
import django
django.setup()
from results.intake import service
service.CPU_S, service.MEMORY_BYTES = 1, 200_000_000

def burn():
    while True:
        pass

def hoard():
    kept = []
    while True:
        kept.append(bytearray(10_000_000))

def crash():
    raise RuntimeError("a parser's mistake")

def fall():
    os.kill(os.getpid(), signal.SIGSEGV)

def killed():
    os.kill(os.getpid(), signal.SIGKILL)

def nothing():
    pass

for name in sys.argv[1:]:
    print(name, service.limited(globals()[name]), sep=": ")
print("still here")
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What `limited` said of each job, by its name."""
    environment = {
        **os.environ,
        "VAR": str(tmp_path_factory.mktemp("var")),
        "DJANGO_SETTINGS_MODULE": "benchhub.settings",
    }
    jobs = ["nothing", "burn", "hoard", "crash", "fall", "killed", "nothing"]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *jobs],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
    )
    assert done.stdout.endswith("still here\n")
    assert "a parser's mistake" in done.stderr, "the failure is logged"
    return dict(line.split(": ", 1) for line in done.stdout.splitlines()[:-1])


@pytest.mark.parametrize(
    ("job", "words"),
    [
        ("nothing", ""),
        ("burn", "Reading these files took longer than 1 s."),
        ("hoard", "Reading these files took more than 200 MB of memory."),
        ("crash", "Reading these files failed; the failure is logged."),
        ("fall", "Reading these files ended with signal 11."),
        # Ended from outside: no fault of the files, so they are read again.
        ("killed", ""),
    ],
)
def test_how_a_reading_ended_is_said(said: dict[str, str], job: str, words: str) -> None:
    assert said[job] == words
