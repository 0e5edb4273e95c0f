"""Zip archives, taken apart in memory. Source: PKWARE's APPNOTE 6.3.10.

Read by our own strict reader: a library that is lenient where the format is ambiguous shows
one reader another archive than the next. Every byte must belong to one member or the
directory, both descriptions of a member must agree, and nothing is unpacked before that is so.
"""

from __future__ import annotations

import stat
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from results.bundle.problems import show
from results.intake.members import Parts, Unpacking

END = struct.Struct("<4s4H2LH")
CENTRAL = struct.Struct("<4s6H3L5H2L")
LOCAL = struct.Struct("<4s5H3L2H")
END_MARK, CENTRAL_MARK, LOCAL_MARK = b"PK\x05\x06", b"PK\x01\x02", b"PK\x03\x04"
DESCRIPTOR_MARK = b"PK\x07\x08"
LONGEST_COMMENT = 65_535
STORED, DEFLATED = 0, 8
ENCRYPTED = 0x0001 | 0x0040 | 0x2000
PATCHED, DESCRIBED_BEHIND, IN_UTF8 = 0x0020, 0x0008, 0x0800
LATER = 0xFFFFFFFF  # the size stands in an extra field or behind the member
ZIP64 = 1
METHODS = (STORED, DEFLATED)
OFFICE = "[Content_Types].xml"


@dataclass(frozen=True)
class Entry:
    """A member as the directory at the end describes it; sizes and `offset` in bytes."""

    raw_name: bytes
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    mode: int
    offset: int

    @property
    def name(self) -> str:
        """The name. Programs that do not say UTF-8 write it all the same, or code page 437."""
        try:
            return self.raw_name.decode("utf-8")
        except UnicodeDecodeError:
            return self.raw_name.decode("cp437")

    @property
    def is_folder(self) -> bool:
        return self.name.endswith(("/", "\\"))


@dataclass(frozen=True)
class Directory:
    """Where the directory begins, and how many entries it should have."""

    start: int
    end: int
    count: int


def unpack(at: Unpacking) -> None:
    """Take out each file. Raises FormatError that names the member and what is wrong."""
    directory = _directory(at)
    entries = _entries(at, directory)
    _refuse_documents(at, entries)
    wanted = [(entry, parts) for entry in entries if (parts := _enter(at, entry)) is not None]
    starts = _layout(at, entries, directory.start)
    for entry, parts in wanted:
        at.take(parts, _bytes(at, entry, starts[entry.offset]))


def _directory(at: Unpacking) -> Directory:
    data = at.archive.data
    place = data.rfind(END_MARK, max(0, len(data) - END.size - LONGEST_COMMENT))
    if place < 0 or len(data) - place < END.size:
        at.refuse("a zip archive without its end", "a whole archive")
    _, disk, first_disk, here, count, size, start, comment = END.unpack_from(data, place)
    if place + END.size + comment != len(data):
        at.refuse("data after the end of the archive", "nothing behind it")
    if disk or first_disk or here != count:
        at.refuse("a part of a split archive", "the whole in one file")
    if LATER in (size, start) or count == 0xFFFF:
        at.refuse("a zip64 archive", "one of less than 4 GB")
    if start + size != place:
        at.refuse("data that belongs to no member, or a false directory", "a plain archive")
    if count > at.budget.limits.entries:
        at.refuse(f"{count} entries", f"at most {at.budget.limits.entries}")
    return Directory(start, place, count)


def _entries(at: Unpacking, directory: Directory) -> list[Entry]:
    """The directory's entries, which must fill it."""
    data, place, entries = at.archive.data, directory.start, []
    for _ in range(directory.count):
        if place + CENTRAL.size > directory.end or data[place : place + 4] != CENTRAL_MARK:
            at.refuse("a broken directory of members", "a whole archive")
        fields = CENTRAL.unpack_from(data, place)
        flags, method, crc, packed, size = fields[3], fields[4], *fields[7:10]
        name_length, extra, comment, disk = fields[10:14]
        name = data[place + CENTRAL.size : place + CENTRAL.size + name_length]
        entry = Entry(name, flags, method, crc, packed, size, fields[15] >> 16, fields[16])
        if disk or LATER in (packed, size, entry.offset):
            at.refuse(f"member {show(entry.name)} of 4 GB or elsewhere", "one within the archive")
        entries.append(entry)
        place += CENTRAL.size + name_length + extra + comment
    if place != directory.end:
        at.refuse("a directory with more or fewer entries than it says", "a whole archive")
    return entries


def _refuse_documents(at: Unpacking, entries: Sequence[Entry]) -> None:
    """Spreadsheets are zip archives inside: say what to do with one."""
    names = {entry.name for entry in entries}
    head = at.archive.data[:150]
    if OFFICE in names or b"mimetypeapplication/vnd.oasis.opendocument" in head:
        at.refuse("a spreadsheet or other office document", "a table: save it as 'CSV UTF-8'")


def _enter(at: Unpacking, entry: Entry) -> Parts | None:
    """Check what an entry says of itself. None if it is left out."""
    what = f"member {show(entry.name)}"
    kind = stat.S_IFMT(entry.mode)
    if kind == stat.S_IFLNK:
        at.refuse(f"{what}, a symbolic link", "files only")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        at.refuse(f"{what}, a device or pipe", "files only")
    if entry.flags & ENCRYPTED:
        at.refuse(f"{what}, which is encrypted", "an archive without a password")
    if entry.method not in METHODS or entry.flags & PATCHED:
        at.refuse(f"{what}, packed by method {entry.method}", "deflate or none")
    if entry.is_folder and entry.size:
        at.refuse(f"{what}, a folder with content", "an empty one")
    parts = at.enter(entry.name, folder=entry.is_folder)
    if parts is not None:
        if entry.method == STORED and entry.size != entry.packed:
            at.refuse(f"{what}, whose two sizes contradict each other", "equal sizes")
        at.check(entry.size, entry.packed, what)
    return parts


def _layout(at: Unpacking, entries: Sequence[Entry], directory: int) -> dict[int, int]:
    """Where each member's bytes begin, by its offset.

    Raises FormatError unless members lie one behind the other, from the first byte to the
    directory: none over another, nothing between.
    """
    starts: dict[int, int] = {}
    ordered = sorted(entries, key=lambda entry: entry.offset)
    offsets = [*(entry.offset for entry in ordered), directory]
    if offsets[0] != 0:
        at.refuse("data before the first member", "an archive from its first byte on")
    for entry, end in zip(ordered, offsets[1:], strict=True):
        start = _local(at, entry)
        between = end - (start + entry.packed)
        if between < 0:
            at.refuse(f"member {show(entry.name)}, which lies over another", "each by itself")
        if not _is_descriptor(at.archive.data[end - between : end], entry):
            at.refuse(f"{between} bytes behind member {show(entry.name)}", "nothing between")
        starts[entry.offset] = start
    return starts


def _local(at: Unpacking, entry: Entry) -> int:
    """Where a member's bytes begin: behind its own header, which must agree."""
    data, place = at.archive.data, entry.offset
    if place + LOCAL.size > len(data) or data[place : place + 4] != LOCAL_MARK:
        at.refuse(f"nothing where member {show(entry.name)} should be", "a whole archive")
    fields = LOCAL.unpack_from(data, place)
    flags, method, crc, packed, size, name_length, extra = *fields[2:4], *fields[6:11]
    start = place + LOCAL.size + int(name_length)
    said = _local_sizes((crc, packed, size), data[start : start + extra])
    unsaid = (0, LATER) if entry.flags & DESCRIBED_BEHIND else ()
    sizes = zip(said, (entry.crc, entry.packed, entry.size), strict=True)
    same = all(here == there or here in unsaid for here, there in sizes)
    agree = (flags, method, data[place + LOCAL.size : start])
    if agree != (entry.flags, entry.method, entry.raw_name) or not same:
        at.refuse(f"member {show(entry.name)}, described in two ways", "one description")
    return start + int(extra)


def _local_sizes(sizes: tuple[int, int, int], extra: bytes) -> tuple[int, int, int]:
    """Checksum, packed and unpacked size, from the extra field where they stand there."""
    crc, packed, size = sizes
    place = 0
    while (packed, size) == (LATER, LATER) and place + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, place)
        if kind == ZIP64 and length >= 16 and place + 20 <= len(extra):
            size, packed = struct.unpack_from("<2Q", extra, place + 4)
        place += 4 + length
    return crc, packed, size


def _is_descriptor(between: bytes, entry: Entry) -> bool:
    """Whether the bytes behind a member are what its flags announce, and agree."""
    if not entry.flags & DESCRIBED_BEHIND:
        return not between
    plain = between.removeprefix(DESCRIPTOR_MARK) if len(between) in (16, 24) else between
    forms = ("<3L", "<L2Q")
    return plain in {struct.pack(form, entry.crc, entry.packed, entry.size) for form in forms}


def _bytes(at: Unpacking, entry: Entry, start: int) -> bytes:
    """A member's bytes; one byte more than it announces is not unpacked."""
    what = f"member {show(entry.name)}"
    found = at.archive.data[start : start + entry.packed]
    if entry.method == DEFLATED:
        inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            found = inflate.decompress(found, entry.size + 1)
        except zlib.error:
            at.refuse(f"{what}, whose packed bytes are broken", "a whole archive")
        if len(found) != entry.size or not inflate.eof or inflate.unused_data:
            at.refuse(f"{what}, which is not as large as it says", f"{entry.size} bytes")
    if zlib.crc32(found) != entry.crc:
        at.refuse(f"{what}, whose checksum is wrong", "a whole archive")
    return found
