"""Archives that tests pack, and why they are refused."""

from __future__ import annotations

import io
import os
import struct
import tarfile
import zipfile
import zlib
from typing import Any

import pytest

from results.formats.base import File, FormatError
from results.intake.archives import expand
from results.intake.members import Limits

LOG = b"Triad: 100\n"
SMALL = Limits(members=3, entries=6, size=100_000, ratio=100, ratio_from=1_000)


def zipped(*members: tuple[str | zipfile.ZipInfo, bytes], **options: Any) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


def zipped_by(method: int, name: str = "a", data: bytes = LOG) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.writestr(name, data)
    return out.getvalue()


def tarred(*members: tuple[str, bytes], **fields: Any) -> bytes:
    """A tar; `fields` are set on each header."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=fields.pop("format", None)) as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            for field, value in fields.items():
                setattr(info, field, value)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def with_mode(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = mode << 16
    return info


def names(*files: tuple[str, bytes]) -> list[str]:
    return [file.name for file in expand([File(*file) for file in files]).files]


def reason(data: bytes, name: str = "a.zip", limits: Limits | None = None) -> str:
    """Why an archive is refused; it says which one."""
    with pytest.raises(FormatError) as caught:
        expand([File(name, data)], limits=limits)
    (problem,) = caught.value.problems
    assert problem.file == name
    assert problem.expected
    assert str(problem).isprintable()
    return problem.found


def patched(data: bytes, *changes: tuple[int, str, int]) -> bytes:
    """The data with numbers written over: place, struct's letter, number."""
    out = bytearray(data)
    for place, form, number in changes:
        struct.pack_into(f"<{form}", out, place, number)
    return bytes(out)


def overlapping(members: int) -> bytes:
    """A zip in which each member's packed bytes hold the next one's header and bytes.

    The header stands in a stored block, so all members unpack and all descriptions agree:
    few bytes become many without any ratio being high.
    """
    deflate = zlib.compressobj(9, wbits=-15)
    text = os.urandom(1_000)
    packed = deflate.compress(text) + deflate.flush()
    directory, header, body = b"", b"", b""
    for number in range(members):
        if header:
            size = len(header)
            packed = b"\0" + struct.pack("<2H", size, size ^ 0xFFFF) + header + packed
            text = header + text
        name = f"b{number:03}".encode()
        fields = (20, 0, 8, 0, 0, zlib.crc32(text), len(packed), len(text), len(name), 0)
        header = struct.pack("<4s5H3L2H", b"PK\x03\x04", *fields) + name
        body = header + packed
        described = (b"PK\x01\x02", 20, *fields, 0, 0, 0, 0)
        directory += struct.pack("<4s6H3L5HL", *described) + struct.pack("<L", len(body)) + name
    for number in range(members):
        place = number * 50 + 42
        (length,) = struct.unpack_from("<L", directory, place)
        directory = patched(directory, (place, "L", len(body) - length))
    end = (b"PK\x05\x06", 0, 0, members, members, len(directory), len(body), 0)
    return body + directory + struct.pack("<4s4H2LH", *end)
