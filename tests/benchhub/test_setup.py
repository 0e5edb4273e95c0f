"""setup.sh where it may not install: it says what is missing and which line to run."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.benchhub.processes import ROOT

TOOLS = ("sh", "dirname", "id", "tr", "cat", "cksum", "df", "awk", "env", "grep", "printf", "tail")


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A PATH with the plainest tools: no compiler, no apt-get, no sudo, no npm."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in TOOLS:
        (folder / name).symlink_to(str(shutil.which(name)))
    return folder


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The project's setup files in a folder of their own, where nothing is installed."""
    folder = tmp_path / "clone"
    (folder / "benchhub").mkdir(parents=True)
    shutil.copy(ROOT / "benchhub" / "setup.sh", folder / "benchhub")
    for name in ("requirements.txt", "requirements-test.txt", "package-lock.json"):
        shutil.copy(ROOT / name, folder)
    return folder


def run_setup(clone: Path, path: str, *goal: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "benchhub/setup.sh", *goal],
        cwd=clone,
        env={"PATH": path, "HOME": str(clone)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def python(folder: Path, script: str) -> None:
    """A `python3` in `folder` that does what the shell script says."""
    (folder / "python3").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "python3").chmod(0o755)


def test_missing_packages_are_named_with_the_line_to_run(clone: Path, tools: Path) -> None:
    done = run_setup(clone, str(tools))
    assert done.returncode == 1
    assert "system packages are missing: python3 python3-venv gcc libc6-dev" in done.stdout
    assert "apt-get install -y --no-install-recommends python3 python3-venv gcc" in done.stdout
    assert not (clone / ".venv").exists()


def test_the_tests_ask_for_chromium_too(clone: Path, tools: Path) -> None:
    assert "chromium" in run_setup(clone, str(tools), "test").stdout
    assert "chromium" not in run_setup(clone, str(tools)).stdout


def test_an_old_python_is_told_with_the_way_out(clone: Path, tools: Path) -> None:
    python(tools, 'case $1 in -V) echo "Python 3.9.2";; *) exit 1;; esac')
    done = run_setup(clone, str(tools))
    assert done.returncode == 1
    assert "Python 3.11 or newer is needed; python3 here is Python 3.9.2" in done.stdout
    assert "make serve PYTHON=" in done.stdout


def test_a_python_without_venv_asks_for_its_package(clone: Path, tools: Path) -> None:
    python(tools, "case $2 in *ensurepip*) exit 1;; *version_info*) exit 0;; esac")
    done = run_setup(clone, str(tools))
    assert "system packages are missing: python3-venv gcc" in done.stdout


def test_no_network_is_told_in_words(clone: Path, tmp_path: Path) -> None:
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_CONFIG_FILE": os.devnull}
    done = subprocess.run(
        ["sh", "benchhub/setup.sh"],
        cwd=clone,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), **nowhere},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "the Python packages could not be installed (no network?)" in done.stdout
    assert "Traceback" not in done.stdout


def test_where_all_is_there_setup_says_and_does_nothing() -> None:
    before = {path: path.stat().st_mtime_ns for path in (ROOT / ".venv").iterdir()}
    done = run_setup(ROOT, os.environ["PATH"])
    assert (done.returncode, done.stdout) == (0, "")
    assert {path: path.stat().st_mtime_ns for path in (ROOT / ".venv").iterdir()} == before
