"""Scratch folders: private, and removed whole without touching anything else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from runners.engine import scratch
from tests.benchhub.processes import ROOT

NOBODY = 65534


def test_a_folder_is_private_and_new(tmp_path: Path) -> None:
    folder = scratch.make(tmp_path / "root", "a1")
    assert folder == tmp_path / "root" / "benchhub-a1"
    assert folder.stat().st_mode & 0o777 == 0o700
    with pytest.raises(FileExistsError):
        scratch.make(tmp_path / "root", "a1")


@pytest.mark.parametrize("marker", ["", "..", ".", "a/b", "../x", "a\n", "a b", "x" * 101])
def test_a_marker_is_no_path(tmp_path: Path, marker: str) -> None:
    with pytest.raises(ValueError, match="marker"):
        scratch.make(tmp_path, marker)
    assert list(tmp_path.iterdir()) == []


def test_links_are_removed_and_not_followed(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    (kept / "deep").mkdir(parents=True)
    (kept / "deep" / "file").write_text("kept")
    folder = scratch.make(tmp_path, "a1")
    (folder / "inside").mkdir()
    (folder / "to-folder").symlink_to(kept)
    (folder / "inside" / "to-folder").symlink_to(kept / "deep")
    (folder / "to-file").symlink_to(kept / "deep" / "file")
    (folder / "to-nothing").symlink_to("nowhere")
    os.mkfifo(folder / "inside" / "pipe")
    scratch.remove(folder)
    assert not folder.exists()
    assert (kept / "deep" / "file").read_text() == "kept"


def test_a_folder_that_is_a_link_is_unlinked(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (tmp_path / "benchhub-a1").symlink_to(kept)
    scratch.remove(tmp_path / "benchhub-a1")
    assert list(tmp_path.iterdir()) == [kept]
    scratch.remove(tmp_path / "benchhub-a1")


def test_a_tree_deeper_than_any_path_is_removed(tmp_path: Path) -> None:
    folder = scratch.make(tmp_path, "a1")
    before = Path.cwd()
    os.chdir(folder)
    try:
        for _ in range(1200):
            Path("deep").mkdir()
            os.chdir("deep")
        Path("file").write_text("bottom")
    finally:
        os.chdir(before)
    scratch.remove(folder)
    assert not folder.exists()


def test_what_may_not_be_written_to_is_removed_by_any_user(tmp_path: Path) -> None:
    code = """
import os, sys
from pathlib import Path
from runners.engine import scratch
if os.getuid() == 0:
    os.setgid(int(sys.argv[2]))
    os.setuid(int(sys.argv[2]))
folder = scratch.make(Path(sys.argv[1]), "a1")
for name in ("one", "two"):
    (folder / name / "three").mkdir(parents=True)
    (folder / name / "three" / "file").write_text("x")
    (folder / name / "three" / "file").chmod(0o400)
    (folder / name / "three").chmod(0o500 if name == "one" else 0o000)
    (folder / name).chmod(0o500)
folder.chmod(0o500)
scratch.remove(folder)
print(folder.exists())
"""
    place = Path("/tmp") / f"benchhub-test-{os.getpid()}"  # noqa: S108 (another user must get in)
    place.mkdir()
    place.chmod(0o777)
    try:
        argv = [sys.executable, "-c", code, str(place), str(NOBODY)]
        done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
        assert (done.stdout, done.stderr) == ("False\n", "")
    finally:
        scratch.remove(place)


def test_folders_of_dead_attempts_are_removed_and_no_others(tmp_path: Path) -> None:
    for marker in ("dead", "alive", "dead-too"):
        (scratch.make(tmp_path, marker) / "file").write_text("x")
    (tmp_path / "else").mkdir()
    (tmp_path / "benchhub-file").write_text("no folder")
    assert scratch.remove_others(tmp_path, lambda: {"alive"}) == 2
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["benchhub-alive", "benchhub-file", "else"]
    assert scratch.remove_others(tmp_path / "nowhere", set) == 0
