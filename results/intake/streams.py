"""Tar archives, and files packed by gzip or xz; in memory.

Sources: RFC 1952, the xz file format 1.2, POSIX.1-2017 (ustar and pax), GNU tar's manual.
"""

from __future__ import annotations

import io
import lzma
import zlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass

from results.bundle.problems import show
from results.intake.members import Unpacking

STEP = 65_536
XZ_MEMORY = 100_000_000
BLOCK = 512
# Long names and pax headers: longer ones hold no name that would be taken.
LONGEST_HEADER = 65_536
FILES = (b"0", b"\0", b"7")
FOLDER, LONG_NAME, LONG_LINK, PAX, PAX_FOR_ALL = b"5", b"L", b"K", b"x", b"g"
EXTRA = (LONG_NAME, LONG_LINK, PAX, PAX_FOR_ALL)
REFUSED = {b"1": "a hard link", b"2": "a symbolic link", b"S": "a sparse file"}
REFUSED |= {b"3": "a device", b"4": "a device", b"6": "a pipe"}

# Pieces of what was packed, then how many bytes lie behind its end, None if it has no end.
Unpacked = Generator[bytes, None, int | None]


def inflate(at: Unpacking, kind: str) -> bytes:
    """What gzip or xz packed. Counted in a first pass that keeps nothing, then kept."""
    unpacked, packed = 0, len(at.archive.data)
    for piece in _pieces(at, kind):
        unpacked += len(piece)
        if unpacked > at.most(packed):
            at.check(unpacked, packed, f"{unpacked:,} bytes and more of {packed:,}")
    whole = io.BytesIO()  # holds the bytes once, where a join would hold them twice
    whole.writelines(_pieces(at, kind))
    return whole.getvalue()


def _pieces(at: Unpacking, kind: str) -> Iterator[bytes]:
    """The unpacked bytes, at most STEP at a time."""
    try:
        left = yield from (_gzip(at.archive.data) if kind == "gzip" else _xz(at.archive.data))
    except (zlib.error, lzma.LZMAError):
        at.refuse("a packed file that is broken, or needs too much memory", "a whole file")
    if left is None:
        at.refuse("a packed file that is cut off", "a whole file")
    if left:
        at.refuse(f"{left:,} bytes after the end of the packed file", "nothing behind it")


def _gzip(data: bytes) -> Unpacked:
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 16)
    for start in range(0, len(data), STEP):
        piece = data[start : start + STEP]
        while piece and not unpack.eof:
            yield unpack.decompress(piece, STEP)
            piece = unpack.unconsumed_tail
        if unpack.eof:
            return len(unpack.unused_data) + max(0, len(data) - start - STEP)
    while not unpack.eof and (piece := unpack.decompress(b"", STEP)):
        yield piece
    return 0 if unpack.eof else None


def _xz(data: bytes) -> Unpacked:
    unpack = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)
    for start in range(0, len(data), STEP):
        yield unpack.decompress(data[start : start + STEP], STEP)
        while not unpack.eof and not unpack.needs_input:
            yield unpack.decompress(b"", STEP)
        if unpack.eof:
            return len(unpack.unused_data) + max(0, len(data) - start - STEP)
    return None


@dataclass(frozen=True)
class Header:
    """A tar header: where its content lies, in bytes from the start."""

    name: str
    kind: bytes
    start: int
    size: int

    @property
    def end(self) -> int:
        """Where the next header is: content is filled up to whole blocks."""
        return self.start + -(-self.size // BLOCK) * BLOCK


def untar(at: Unpacking, data: bytes) -> None:
    """Take out each file of a tar. Raises FormatError that names the member."""
    place, long_name = 0, ""
    while header := _header(at, data, place):
        place = header.end
        content = data[header.start : header.start + header.size]
        if header.kind in EXTRA:
            at.count_entry()
            long_name = _long_name(at, header.kind, content) or long_name
        else:
            _member(at, long_name or header.name, header.kind, content)
            long_name = ""
    if data[place:].strip(b"\0"):
        at.refuse("data after the end of the archive", "nothing behind it")


def _member(at: Unpacking, name: str, kind: bytes, content: bytes) -> None:
    if kind != FOLDER and kind not in FILES:
        other = REFUSED.get(kind, "of a kind that is not read")
        at.refuse(f"member {show(name)}, {other}", "files only")
    parts = at.enter(name, folder=kind == FOLDER)
    if parts is not None:
        at.take(parts, content)


def _header(at: Unpacking, data: bytes, place: int) -> Header | None:
    """The header at `place`; None at the block of zeros that ends the archive."""
    block = data[place : place + BLOCK]
    if len(block) == BLOCK and not block.strip(b"\0"):
        return None
    if len(block) < BLOCK:
        at.refuse("a tar archive without its end", "a whole archive")
    checksum = sum(block[:148]) + 8 * 32 + sum(block[156:])
    if _octal(block[148:156]) != checksum:
        at.refuse("a broken header of a member", "a whole archive")
    name = _text(block[:100])
    prefix = _text(block[345:500]) if block[257:263] == b"ustar\0" else ""
    size, start = _octal(block[124:136]), place + BLOCK
    header = Header(f"{prefix}/{name}" if prefix else name, block[156:157], start, size or 0)
    if size is None or header.end > len(data):
        at.refuse(f"member {show(header.name)}, whose end is not in the file", "a whole archive")
    return header


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", "replace")


def _octal(field: bytes) -> int | None:
    """A number in a header; None for what is none, or over 8 GB (written otherwise)."""
    text = field.strip(b"\0 ")
    if not text:
        return 0
    return int(text, 8) if all(digit in b"01234567" for digit in text) else None


def _long_name(at: Unpacking, kind: bytes, content: bytes) -> str:
    """The name that an extra header gives to the next member, empty if it gives none."""
    if len(content) > LONGEST_HEADER:
        at.refuse(f"a name of {len(content):,} bytes", f"at most {LONGEST_HEADER:,}")
    if kind == LONG_NAME:
        return _text(content)
    if kind == LONG_LINK:
        return ""
    found = _pax(at, content)
    if any(key.startswith("GNU.sparse") for key in found):
        at.refuse("a sparse file", "files only")
    if "size" in found or (kind == PAX_FOR_ALL and "path" in found):
        at.refuse("a member whose header says another size or name", "a plain archive")
    return found.get("path", "")


def _pax(at: Unpacking, content: bytes) -> dict[str, str]:
    """The records of a pax header: '27 path=folder/stream.log' and a line end each."""
    found, place = {}, 0
    while place < len(content):
        length, _, _ = content[place : place + 8].partition(b" ")
        end = place + int(length) if length.isdigit() else 0
        record = content[place + len(length) + 1 : end]
        key, equals, value = record.partition(b"=")
        if end <= place or end > len(content) or not equals or not value.endswith(b"\n"):
            at.refuse("a broken header of a member", "a whole archive")
        found[key.decode("utf-8", "replace")] = value[:-1].decode("utf-8", "replace")
        place = end
    return found
