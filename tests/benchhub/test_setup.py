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
        env={"PATH": path, "HOME": str(clone), "POSTGRESQL": str(clone / "postgresql")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def program(folder: Path, name: str, script: str) -> None:
    """A program in `folder` that does what the shell script says."""
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_missing_packages_are_named_with_the_line_to_run(clone: Path, tools: Path) -> None:
    done = run_setup(clone, str(tools))
    assert done.returncode == 1
    packages = "python3 python3-venv gcc libc6-dev libnuma-dev util-linux"
    assert f"system packages are missing: {packages}\n" in done.stdout.replace(" \n", "\n")
    assert f"apt-get install -y --no-install-recommends {packages}" in done.stdout
    assert not (clone / ".venv").exists()


def test_the_tests_ask_for_a_browser_and_servers_too(clone: Path, tools: Path) -> None:
    tests, serve = run_setup(clone, str(tools), "test").stdout, run_setup(clone, str(tools)).stdout
    for package in ("chromium", "fonts-liberation", "postgresql", "redis-server"):
        assert f" {package} " in tests
        assert package not in serve


@pytest.mark.parametrize("version", ["15", "18"])
def test_servers_that_are_there_are_not_asked_for(clone: Path, tools: Path, version: str) -> None:
    folder = clone / "postgresql" / version / "bin"
    folder.mkdir(parents=True)
    program(folder, "initdb", "exit 0")
    program(tools, "valkey-server", "exit 0")
    said = run_setup(clone, str(tools), "test").stdout
    assert "chromium" in said
    assert "postgresql" not in said
    assert "redis-server" not in said


def test_headers_that_are_there_are_not_asked_for(clone: Path, tools: Path) -> None:
    program(tools, "cc", "exit 0")
    program(tools, "lscpu", "exit 0")
    done = run_setup(clone, str(tools))
    assert "system packages are missing: python3 python3-venv \n" in done.stdout


def test_an_old_python_is_told_with_the_way_out(clone: Path, tools: Path) -> None:
    program(tools, "python3", 'case $1 in -V) echo "Python 3.9.2";; *) exit 1;; esac')
    done = run_setup(clone, str(tools))
    assert done.returncode == 1
    assert "Python 3.11 or newer is needed; python3 here is Python 3.9.2" in done.stdout
    assert "make serve PYTHON=" in done.stdout


def test_a_python_without_venv_asks_for_its_package(clone: Path, tools: Path) -> None:
    program(tools, "python3", "case $2 in *ensurepip*) exit 1;; *version_info*) exit 0;; esac")
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
