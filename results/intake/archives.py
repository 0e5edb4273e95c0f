"""Archives among uploaded files, replaced by the files in them. Nothing is written to disk.

What is an archive is told by its bytes. Members come out one by one, counted as they are
unpacked, under flat names; what is unclear or too large is refused with the member's name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from results.formats.base import File, Remark
from results.intake import streams, zips
from results.intake.members import KINDS, Budget, Limits, Member, Unpacking, kind_of

LONGEST_FILE_NAME = 200
PACKED = ("zip", "gzip", "xz", "tar")
SUFFIXES = (".tar.gz", ".tar.xz", ".tgz", ".txz", ".zip", ".tar", ".gz", ".xz")


@dataclass(frozen=True)
class Expanded:
    """The files of an upload without archives, and what a reader should know of those."""

    files: Sequence[File]
    remarks: Sequence[Remark] = ()


def expand(files: Sequence[File], *, limits: Limits | None = None) -> Expanded:
    """Replace each archive (zip, tar, gzip, xz) by its files, in the archive's order.

    A file is called by its own name where no other has it, else by its path with '_' for
    '/'. Raises FormatError, naming the archive and the member, for what is refused.
    """
    budget = Budget(limits or Limits())
    opened = [_open(file, budget) if kind_of(file.data) else file for file in files]
    names = _names(opened)
    found: list[File] = []
    remarks: list[Remark] = []
    for one in opened:
        if isinstance(one, File):
            found.append(one)
        else:
            found += [File(names.pop(0), member.data) for member in one.members]
            remarks.append(one.remark())
    return Expanded(found, remarks)


def _open(file: File, budget: Budget) -> Unpacking:
    """Take one archive apart. Raises FormatError."""
    at, kind = Unpacking(file, budget, len(file.data)), kind_of(file.data)
    if kind == "zip":
        zips.unpack(at)
    elif kind == "tar":
        streams.untar(at, file.data)
    elif kind in PACKED:
        data = streams.inflate(at, kind)
        if kind_of(data) == "tar":
            streams.untar(at, data)
        else:
            at.take(at.enter(_stem(file.name)) or (file.name,), data)
    else:
        at.refuse(KINDS[kind], "zip, tar, gzip or xz")
    if not at.members:
        at.refuse("an archive without a file", "one with at least one file")
    return at


def _stem(name: str) -> str:
    """An archive's name without what says that it is one."""
    suffix = next((s for s in SUFFIXES if name.casefold().endswith(s)), "")
    return name[: len(name) - len(suffix)] or name


def _names(opened: Sequence[File | Unpacking]) -> list[str]:
    """A flat name for each member, in order; no two files of an upload share one.

    Case does not tell two files apart, as on many a reader's own disk.
    """
    taken = {one.name.casefold() for one in opened if isinstance(one, File)}
    forms = [_forms(at, m) for at in opened if isinstance(at, Unpacking) for m in at.members]
    names: dict[int, str] = {}
    for length in range(3):
        left = {at: form[length] for at, form in enumerate(forms) if at not in names}
        counts = Counter(name.casefold() for name in left.values())
        names |= {
            at: name
            for at, name in left.items()
            if counts[name.casefold()] == 1 and name.casefold() not in taken
        }
        taken |= {name.casefold() for name in names.values()}
    for at in range(len(forms)):
        if at not in names:
            names[at] = _numbered(forms[at][2], taken)
            taken.add(names[at].casefold())
    return [names[at] for at in range(len(forms))]


def _forms(at: Unpacking, member: Member) -> tuple[str, str, str]:
    """A member's name, with its folders, and with its archive; the ends of those too long."""
    longer = (member.parts[-1:], member.parts, (_stem(at.archive.name), *member.parts))
    first, second, third = ("_".join(parts)[-LONGEST_FILE_NAME:] for parts in longer)
    return first, second, third


def _numbered(name: str, taken: set[str]) -> str:
    """The name with the first number that makes it the only one."""
    stem, dot, end = name.rpartition(".") if "." in name[1:] else (name, "", "")
    number = 2
    while (new := f"{stem[: LONGEST_FILE_NAME - 60]}-{number}{dot}{end[-50:]}").casefold() in taken:
        number += 1
    return new
