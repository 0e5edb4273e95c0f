"""Scratch folders: private, one for each attempt, and gone without a trace.

folder = make(root, marker)
…
remove(folder)
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = "benchhub-"
_MARKER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def folder_name(marker: str) -> str:
    """The name of an attempt's folder. ValueError for a marker that can be none."""
    if not _MARKER.fullmatch(marker):
        raise ValueError(f"marker {marker!r}: expected letters, digits, '.', '_' and '-'")
    return f"{_PREFIX}{marker}"


def make(root: Path, marker: str) -> Path:
    """A new empty folder for that attempt, readable by nobody else. FileExistsError where it
    has one already."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = root.resolve() / folder_name(marker)
    folder.mkdir(mode=0o700)
    folder.chmod(0o700)  # whatever the umask
    return folder


def remove_others(root: Path, alive: Callable[[], Container[str]]) -> int:
    """Remove the folders of all attempts whose markers are not among `alive`: how many.

    Who is alive is asked after looking: a folder that is made meanwhile is not among those
    that were seen. Two may do this at once.
    """
    if not root.is_dir():
        return 0
    there = [folder for folder in root.glob(f"{_PREFIX}*") if folder.is_dir()]
    living = alive() if there else ()
    old = [folder for folder in there if folder.name.removeprefix(_PREFIX) not in living]
    for folder in old:
        with suppress(FileNotFoundError):
            remove(folder)
    return len(old)


def remove(folder: Path) -> None:
    """Remove a folder and all in it; nothing where there is none.

    Symbolic links are removed, never followed. Folders inside are moved up before they are
    emptied, so that no depth is too great for a path, the stack or the open files. OSError where
    something cannot be removed.
    """
    if folder.is_symlink():
        folder.unlink()
        return
    if not folder.exists():
        return
    folder.chmod(0o700)
    with _opened(str(folder)) as top:
        _empty(top)
    folder.rmdir()


@contextmanager
def _opened(name: str, *, within: int | None = None) -> Iterator[int]:
    descriptor = os.open(name, _FOLDER, dir_fd=within)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _empty(top: int) -> None:
    """Remove all in the folder `top`, however deep."""
    token, moved = secrets.token_hex(8), 0
    while folders := _unlink_files(top):
        for name in folders:
            with _opened(name, within=top) as inner:
                for deeper in _unlink_files(inner):
                    os.rename(deeper, f"{token}-{moved}", src_dir_fd=inner, dst_dir_fd=top)
                    moved += 1
            os.rmdir(name, dir_fd=top)


def _unlink_files(descriptor: int) -> list[str]:
    """Remove all but the folders, which are returned and made writable: only so can they be
    moved and emptied."""
    folders = []
    for name in os.listdir(descriptor):
        mode = os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode
        if not stat.S_ISDIR(mode):
            os.unlink(name, dir_fd=descriptor)
            continue
        if mode & 0o700 != 0o700:
            os.chmod(name, 0o700, dir_fd=descriptor)
        folders.append(name)
    return folders
