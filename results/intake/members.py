"""What comes out of an archive, counted against limits before and while it comes out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from results.bundle.problems import printable, show
from results.bundle.text import is_unseen
from results.formats.base import File, Remark, refuse

Parts = tuple[str, ...]

LONGEST_NAME = 1_000
DEEPEST = 32
LITTER = frozenset({".ds_store", "thumbs.db", "desktop.ini"})


@dataclass(frozen=True)
class Limits:
    """Of all archives of one upload together; the ratio also of each member.

    `entries` counts everything that one archive lists, `members` the files taken out. `size`
    and `ratio_from` are bytes: what unpacks to less than the latter may have any ratio.
    """

    members: int = 200
    entries: int = 1_000
    size: int = 200_000_000
    ratio: int = 100
    ratio_from: int = 1_000_000


@dataclass(frozen=True)
class Member:
    """A file out of an archive: its path as parts, without '.', and its bytes."""

    parts: Parts
    data: bytes = field(repr=False)


@dataclass
class Budget:
    """What all archives of an upload may still give."""

    limits: Limits
    members: int = 0
    size: int = 0


@dataclass
class Unpacking:
    """One archive while it is taken apart.

    `packed` is the size of the archive as it came, in bytes.
    """

    archive: File
    budget: Budget
    packed: int
    members: list[Member] = field(default_factory=list)
    folders: int = 0
    litter: list[str] = field(default_factory=list)
    entries: int = 0
    size: int = 0
    _seen: set[Parts] = field(default_factory=set)

    def refuse(self, found: str, expected: str) -> NoReturn:
        """Refuse the archive. Raises FormatError."""
        refuse(self.archive, None, found, expected)

    def enter(self, name: str, *, folder: bool = False) -> Parts | None:
        """Take note of an entry: the parts of its name, None if it is to be left out.

        Raises FormatError for a name that leads elsewhere, or that was there before.
        """
        self.count_entry()
        parts = self._parts(name)
        if folder:
            self.folders += 1
            return None
        if not parts:
            self.refuse(f"member {show(name)}, which has no name", "a name for each file")
        if parts in self._seen:
            self.refuse(f"member {show(name)} twice", "each name once")
        self._seen.add(parts)
        if _is_litter(parts):
            self.litter.append("/".join(parts))
            return None
        self.budget.members += 1
        most = self.budget.limits.members
        if self.budget.members > most:
            self.refuse(f"more than {most} files in archives", f"at most {most}")
        return parts

    def count_entry(self) -> None:
        """Count something that the archive lists. Raises FormatError where it is too much."""
        self.entries += 1
        most = self.budget.limits.entries
        if self.entries > most:
            self.refuse(f"more than {most} entries", f"at most {most}")

    def _parts(self, name: str) -> Parts:
        """The name's parts. A backslash parts too, as Windows programs write it."""
        expected = "names of files below the archive's top"
        if len(name) > LONGEST_NAME:
            self.refuse(f"a name of {len(name)} characters", f"at most {LONGEST_NAME}")
        if any(is_unseen(character) for character in name):
            self.refuse(f"member {show(name)}, a name that cannot be seen", "names in plain text")
        if re.match(r"[/\\]|[A-Za-z]:", name):
            self.refuse(f"member {show(name)}, whose path is absolute", expected)
        parts = tuple(p for p in re.split(r"[/\\]", unicodedata.normalize("NFC", name)) if p)
        if ".." in parts:
            self.refuse(f"member {show(name)}, which leads out of the archive", expected)
        if len(parts) > DEEPEST:
            self.refuse(f"member {show(name)} in {len(parts)} folders", f"at most {DEEPEST}")
        return tuple(part for part in parts if part != ".")

    def most(self, packed: int) -> int:
        """How many bytes may come of `packed` ones; for more, `check` has the reason."""
        limits = self.budget.limits
        return min(limits.size - self.budget.size, max(limits.ratio_from, limits.ratio * packed))

    def check(self, size: int, packed: int, what: str) -> None:
        """Raise FormatError if `what`, `size` bytes of `packed` ones, is too large."""
        limits = self.budget.limits
        self._check_ratio(size, packed, what)
        if size > limits.size - self.budget.size:
            expected = f"at most {limits.size:,} bytes in all archives together"
            self.refuse(f"{what}, with which too much is unpacked", expected)

    def _check_ratio(self, size: int, packed: int, what: str) -> None:
        limits = self.budget.limits
        if size > max(limits.ratio_from, limits.ratio * packed):
            found = f"{what}, more than {limits.ratio} times larger unpacked than packed"
            self.refuse(found, f"at most {limits.ratio} times")

    def take(self, parts: Parts, data: bytes) -> None:
        """Keep a member's bytes. Raises FormatError where all are too many, or one nests."""
        what = f"member {show('/'.join(parts))}"
        self.check(len(data), self.packed, what)
        self._check_ratio(self.size + len(data), self.packed, f"{what} with those before it")
        kind = kind_of(data)
        if kind:
            self.refuse(f"{what}, {KINDS[kind]} in an archive", "an archive of plain files")
        self.budget.size += len(data)
        self.size += len(data)
        self.members.append(Member(parts, data))

    def remark(self) -> Remark:
        """How many files came out, and what was left out."""
        count = len(self.members)
        text = f"{count} {'file was' if count == 1 else 'files were'} taken out of the archive."
        left = []
        if self.folders:
            left.append(f"{self.folders} {'folder' if self.folders == 1 else 'folders'}")
        if self.litter:
            names = ", ".join(printable(name[-60:]) for name in self.litter[:3])
            more = ", …" if len(self.litter) > 3 else ""
            left.append(f"what an operating system adds ({names}{more})")
        if left:
            text += f" Left out: {' and '.join(left)}."
        return Remark(text, None, self.archive.name)


def _is_litter(parts: Parts) -> bool:
    """Whether an operating system put the file there for itself."""
    name = parts[-1].casefold()
    return "__MACOSX" in parts or name in LITTER or name.startswith("._")


KINDS = {
    "zip": "a zip archive",
    "gzip": "a gzip file",
    "xz": "an xz file",
    "tar": "a tar archive",
    "bzip2": "a bzip2 file",
    "7z": "a 7-Zip archive",
    "rar": "a RAR archive",
    "zstd": "a Zstandard file",
}
MAGIC: Sequence[tuple[bytes, str]] = (
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"PK\x07\x08", "zip"),
    (b"\x1f\x8b", "gzip"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"BZh", "bzip2"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"Rar!\x1a\x07", "rar"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
)


def kind_of(data: bytes) -> str:
    """The kind of archive or packed file that bytes are, a key of KINDS; empty for others.

    Told by content: names are not believed. A zip with something before it is one too.
    """
    for magic, kind in MAGIC:
        if data.startswith(magic) and (kind != "bzip2" or data[4:7] == b"1AY"):
            return kind
    if data[257:262] == b"ustar":
        return "tar"
    return "zip" if data[-22:-18] == b"PK\x05\x06" else ""
