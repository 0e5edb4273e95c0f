"""Archives of an upload: what is taken out, under which names, and what is refused."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import stat
import struct
import tarfile
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from results import formats
from results.bundle import BundleError
from results.formats.base import File, FormatError
from results.intake import streams
from results.intake.archives import expand
from results.intake.members import Limits

LOG = b"Triad: 100\n"
SMALL = Limits(members=3, entries=6, size=100_000, ratio=100, ratio_from=1_000)


@pytest.fixture(autouse=True)
def nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No file appears beside, above or below where an archive is read."""
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    yield
    assert [path for path in tmp_path.rglob("*") if path.is_file() or path.is_symlink()] == []


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


# What is taken out


def test_files_that_are_no_archives_stay_as_they_are() -> None:
    files = [File("a.log", LOG), File("empty", b""), File("PK.csv", b"PK;value\n")]
    assert list(expand(files).files) == files


@pytest.mark.parametrize(
    "pack",
    [
        zipped,
        tarred,
        lambda *m: gzip.compress(tarred(*m)),
        lambda *m: lzma.compress(tarred(*m)),
        lambda *m: tarred(*m, format=tarfile.USTAR_FORMAT),
        lambda *m: tarred(*m, format=tarfile.GNU_FORMAT),
    ],
    ids=["zip", "tar", "tar.gz", "tar.xz", "ustar", "gnu"],
)
def test_members_become_files(pack: Callable[..., bytes]) -> None:
    deep = "/".join(["folder"] * 20) + "/ログ.txt"
    found = expand([File("whatever", pack(("./x/a.log", LOG), (deep, b"two"), ("e", b"")))]).files
    assert [(file.name, file.data) for file in found] == [
        ("a.log", LOG),
        ("ログ.txt", b"two"),
        ("e", b""),
    ]


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_a_packed_file_loses_its_suffix(pack: Callable[[bytes], bytes]) -> None:
    data = os.urandom(300_000) + bytes(100_000)
    for name in ("stream.log.gz", "stream.log.xz"):
        (file,) = expand([File(name, pack(data))]).files
        assert (file.name, file.data) == ("stream.log", data)


def test_the_kind_is_told_by_the_bytes_and_not_by_the_name() -> None:
    assert names(("results.csv", zipped(("a.log", LOG))), ("b.zip", LOG)) == ["a.log", "b.zip"]


def test_names_are_flat_and_each_file_has_its_own() -> None:
    one = zipped(("n1/stream.log", b"1"), ("n2/stream.log", b"2"), ("lscpu.json", b"3"))
    two = zipped(("n1/stream.log", b"4"), ("LSCPU.json", b"5"))
    assert names(("one.zip", one)) == ["n1_stream.log", "n2_stream.log", "lscpu.json"]
    assert names(("one.zip", one), ("lscpu.json", b"6"), ("two.zip", two)) == [
        "one_n1_stream.log",
        "n2_stream.log",
        "one_lscpu.json",
        "lscpu.json",
        "two_n1_stream.log",
        "two_LSCPU.json",
    ]


def test_files_that_no_path_tells_apart_are_numbered() -> None:
    same = zipped(("x.log", LOG))
    assert names(("a.zip", same), ("a.tar", tarred(("x.log", LOG))), ("x.log", LOG)) == [
        "a_x-2.log",
        "a_x-3.log",
        "x.log",
    ]


def test_a_long_name_keeps_its_end() -> None:
    (name,) = names(("a.zip", zipped(("d/" + "x" * 250 + ".log", LOG))))
    assert len(name) == 200
    assert name.endswith("x.log")


def test_folders_and_litter_are_left_out_and_told() -> None:
    data = zipped(
        ("d/", b""), ("d/a.log", LOG), ("__MACOSX/d/._a.log", b"x"), ("d/.DS_Store", b"x")
    )
    found = expand([File("a.zip", data)])
    assert [file.name for file in found.files] == ["a.log"]
    (remark,) = found.remarks
    assert remark.file == "a.zip"
    assert remark.text == (
        "1 file was taken out of the archive. Left out: 1 folder and what an operating "
        "system adds (__MACOSX/d/._a.log, d/.DS_Store)."
    )


class Unseekable(io.RawIOBase):
    """A pipe, into which sizes can only be written behind a member."""

    def __init__(self) -> None:
        self.data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.data += data
        return len(data)


def test_a_zip_written_into_a_pipe_or_prepared_for_large_files_is_read() -> None:
    for seekable in (True, False):
        for large in (True, False):
            raw: Any = io.BytesIO() if seekable else Unseekable()
            with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.comment = b"made by hand"
                with archive.open("a.log", "w", force_zip64=large) as member:
                    member.write(LOG * 100)
                archive.writestr("b.log", LOG)
            data = raw.getvalue() if seekable else bytes(raw.data)
            assert [f.data for f in expand([File("a.zip", data)]).files] == [LOG * 100, LOG]


def test_a_zip_that_says_the_size_before_and_the_rest_behind_a_member_is_read() -> None:
    raw = Unseekable()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.log", LOG)
    data = patched(bytes(raw.data), (22, "L", len(LOG)))
    assert [f.data for f in expand([File("a.zip", data)]).files] == [LOG]
    assert "described in two ways" in reason(patched(data, (22, "L", len(LOG) + 1)))
    behind = data.index(b"PK\x07\x08")
    assert "bytes behind member" in reason(patched(data, (behind + 4, "L", 7)))


def test_a_small_file_may_be_packed_to_any_ratio() -> None:
    (file,) = expand([File("a.zip", zipped(("a.log", b" " * 1_000_000)))]).files
    assert len(file.data) == 1_000_000


# Names and kinds of members


@pytest.mark.parametrize("pack", [zipped, tarred], ids=["zip", "tar"])
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../evil.log", "leads out"),
        ("a/../../evil.log", "leads out"),
        ("..\\evil.log", "leads out"),
        ("/etc/evil.log", "absolute"),
        ("\\\\host\\share\\evil.log", "absolute"),
        ("C:\\evil.log", "absolute"),
        ("c:evil.log", "absolute"),
        ("a\u202egol.log", "cannot be seen"),
        ("a\nb.log", "cannot be seen"),
        ("./.", "has no name"),
        ("x" * 1_001, "1001 characters"),
        ("/".join("x" * 40), "40 folders"),
    ],
)
def test_names_that_lead_elsewhere_are_refused(
    pack: Callable[..., bytes], name: str, why: str
) -> None:
    assert why in reason(pack(("good.log", LOG), (name, LOG)))


def test_a_nul_in_a_name_is_refused() -> None:
    assert "cannot be seen" in reason(zipped(("aXb.log", LOG)).replace(b"aXb", b"a\0b"))


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("pack", [zipped, tarred], ids=["zip", "tar"])
@pytest.mark.parametrize("again", ["d/a.log", "d\\a.log", "./d//a.log"])
def test_a_name_that_is_there_twice_is_refused(pack: Callable[..., bytes], again: str) -> None:
    assert "twice" in reason(pack(("d/a.log", LOG), (again, b"other")))


@pytest.mark.parametrize(
    ("mode", "why"),
    [(stat.S_IFLNK, "symbolic link"), (stat.S_IFIFO, "pipe"), (stat.S_IFCHR, "device")],
)
def test_what_is_no_file_in_a_zip_is_refused(mode: int, why: str) -> None:
    assert why in reason(zipped((with_mode("link", mode | 0o777), b"/etc/passwd")))
    assert names(("a.zip", zipped((with_mode("a", stat.S_IFREG | 0o644), LOG)))) == ["a"]


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (tarfile.SYMTYPE, "symbolic link"),
        (tarfile.LNKTYPE, "hard link"),
        (tarfile.CHRTYPE, "device"),
        (tarfile.BLKTYPE, "device"),
        (tarfile.FIFOTYPE, "pipe"),
        (tarfile.GNUTYPE_SPARSE, "sparse"),
        (b"Z", "not read"),
    ],
)
def test_what_is_no_file_in_a_tar_is_refused(kind: bytes, why: str) -> None:
    data = tarred(("link", b""), type=kind, linkname="/etc/passwd")
    assert why in reason(data)
    assert why in reason(gzip.compress(data))


@pytest.mark.parametrize(
    "inner",
    [
        zipped(("x", LOG)),
        gzip.compress(LOG),
        lzma.compress(LOG),
        tarred(("x", LOG)),
        b"7z\xbc\xaf\x27\x1c" + bytes(30),
        b"MZ self-extracting" + zipped(("x", LOG)),
    ],
    ids=("zip", "gzip", "xz", "tar", "7z", "self-extracting"),
)
def test_an_archive_in_an_archive_is_refused(inner: bytes) -> None:
    assert "in an archive" in reason(zipped(("inner.log", inner)))
    assert "in an archive" in reason(tarred(("inner.log", inner)))
    if inner[257:262] != b"ustar":
        assert "in an archive" in reason(gzip.compress(inner))


@pytest.mark.parametrize(
    ("magic", "kind"),
    [(b"7z\xbc\xaf\x27\x1c", "7-Zip"), (b"Rar!\x1a\x07", "RAR"), (b"BZh91AY&SY", "bzip2")],
)
def test_other_archives_are_refused_by_their_name(magic: bytes, kind: str) -> None:
    assert kind in reason(magic + bytes(50))


def test_a_spreadsheet_is_told_from_an_archive() -> None:
    excel = zipped(("[Content_Types].xml", b"<x/>"), ("xl/workbook.xml", b"<x/>"))
    libre = zipped_by(
        zipfile.ZIP_STORED, "mimetype", b"application/vnd.oasis.opendocument.spreadsheet"
    )
    assert "spreadsheet" in reason(excel)
    with pytest.raises(FormatError, match="save it as 'CSV UTF-8'"):
        expand([File("a.ods", libre)])


def test_an_archive_without_a_file_is_refused() -> None:
    litter = (("d/", b""), (".DS_Store", b"x"))
    for data in (zipped(), zipped(*litter), tarred((".DS_Store", b"x"))):
        assert reason(data) == "an archive without a file"


# Bombs


def entry(data: bytes, member: int = 0) -> int:
    """Where the directory describes a member."""
    place = data.rindex(b"PK\x05\x06")
    place = struct.unpack_from("<L", data, place + 16)[0]
    for _ in range(member):
        place += 46 + sum(struct.unpack_from("<3H", data, place + 28))
    return int(place)


def patched(data: bytes, *changes: tuple[int, str, int]) -> bytes:
    """The data with numbers written over: place, struct's letter, number."""
    out = bytearray(data)
    for place, form, number in changes:
        struct.pack_into(f"<{form}", out, place, number)
    return bytes(out)


def peak(work: Callable[[], object]) -> int:
    """The most bytes that Python held at once beyond what it held before."""
    tracemalloc.start()
    work()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def test_a_bomb_of_nested_zips_stops_at_the_first() -> None:
    data = zipped(("0.dll", bytes(4_000_000)))
    for _ in range(5):
        data = zipped(*((f"lib{n}.zip", data) for n in range(16)))
    assert peak(lambda: reason(data)) < 3_000_000
    assert "a zip archive in an archive" in reason(data)


def test_a_member_that_announces_too_much_is_not_unpacked() -> None:
    data = zipped(("bomb", bytes(50_000_000)))
    assert peak(lambda: reason(data)) < 500_000
    assert "100 times larger" in reason(data)


def test_a_member_larger_than_it_announces_is_unpacked_one_byte_beyond() -> None:
    data = zipped(("bomb", bytes(50_000_000)))
    there = entry(data)
    data = patched(data, (22, "L", 1_000), (there + 24, "L", 1_000))
    assert peak(lambda: reason(data)) < 500_000
    assert "not as large as it says" in reason(data)


def test_a_member_smaller_than_it_announces_is_refused() -> None:
    data = zipped(("a", LOG))
    data = patched(data, (22, "L", 99), (entry(data) + 24, "L", 99))
    assert "not as large as it says" in reason(data)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress], ids=["gzip", "xz"])
def test_a_packed_bomb_is_counted_and_not_kept(
    pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = 0
    whole = streams._pieces

    def counting(*given: Any) -> Iterator[bytes]:
        nonlocal counted
        for piece in whole(*given):
            counted += len(piece)
            yield piece

    data = pack(bytes(60_000_000))
    monkeypatch.setattr(streams, "_pieces", counting)
    assert peak(lambda: reason(data)) < 12_000_000  # of which 8 MB are xz's dictionary
    assert counted <= max(1_000_000, 100 * len(data)) + streams.STEP
    assert "100 times larger" in reason(data)


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


def test_members_that_lie_over_each_other_are_refused() -> None:
    assert names(("a.zip", overlapping(1))) == ["b000"]
    assert "member 'b001', which lies over another" in reason(overlapping(2))
    assert "lies over another" in reason(overlapping(150))


def test_a_member_that_reaches_into_the_next_is_refused() -> None:
    data = zipped(("a", os.urandom(50)), ("b", os.urandom(50)))
    longer = data[18:22]
    (size,) = struct.unpack("<L", longer)
    data = patched(data, (18, "L", size + 20), (entry(data) + 20, "L", size + 20))
    assert "lies over another" in reason(data)


def test_more_members_than_allowed_are_refused() -> None:
    many = [(f"{n}.log", b"") for n in range(201)]
    for data in (zipped(*many), tarred(*many)):
        assert "more than 200 files" in reason(data)
    assert len(names(("a.zip", zipped(*many[:200])))) == 200
    assert "1001 entries" in reason(zipped(*((f"{n}/", b"") for n in range(1_001))))
    assert "more than 1000 entries" in reason(
        tarred(*((f"{n}/", b"") for n in range(1_001)), type=b"5")
    )


def test_the_limits_count_over_all_archives_of_an_upload() -> None:
    files = [File(f"{n}.zip", zipped((f"{n}.log", os.urandom(40_000)))) for n in range(4)]
    with pytest.raises(FormatError, match=r"2\.zip: found .*too much is unpacked"):
        expand(files, limits=SMALL)
    files = [File(f"{n}.zip", zipped((f"{n}.log", LOG))) for n in range(4)]
    with pytest.raises(FormatError, match=r"3\.zip: found more than 3 files"):
        expand(files, limits=SMALL)


def test_the_ratio_counts_for_all_members_together() -> None:
    data = zipped(*((f"{n}.log", bytes(990)) for n in range(3)))
    generous = Limits(ratio=2, ratio_from=1_000)
    assert "with those before it" in reason(data, limits=generous)


# Descriptions that contradict each other


def test_data_before_between_and_behind_members_is_refused() -> None:
    data = zipped(("a", LOG), ("b", LOG))
    assert "after the end" in reason(data + b"more")
    assert "false directory" in reason(b"MZ program" + data)
    directory = entry(data)
    between = patched(data[:directory] + b"gap!" + data[directory:])
    place = between.rindex(b"PK\x05\x06")
    assert "4 bytes behind member 'b'" in reason(patched(between, (place + 16, "L", directory + 4)))
    assert "after the end" in reason(tarred(("a", LOG)) + b"more")
    assert "after the end" in reason(gzip.compress(LOG) + b"more")
    assert "after the end" in reason(gzip.compress(LOG) + gzip.compress(LOG))
    assert "after the end" in reason(lzma.compress(LOG) + b"more")


def test_a_moved_archive_with_right_offsets_is_refused_for_what_is_before_it() -> None:
    data = zipped(("a", LOG))
    place = data.rindex(b"PK\x05\x06")
    directory = entry(data)
    moved = patched(data, (place + 16, "L", directory + 2), (directory + 42, "L", 2))
    assert "before the first member" in reason(b"MZ" + moved)


@pytest.mark.parametrize(
    ("place", "form", "number"),
    [(6, "H", 0x0800), (8, "H", 0), (14, "L", 7), (18, "L", 5), (22, "L", 5), (30, "B", 0x62)],
    ids=["flags", "method", "checksum", "packed", "size", "name"],
)
def test_a_header_that_differs_from_the_directory_is_refused(
    place: int, form: str, number: int
) -> None:
    data = patched(zipped(("a", LOG)), (place, form, number))
    assert "described in two ways" in reason(data)


def test_encrypted_members_are_refused() -> None:
    for flag in (0x1, 0x40, 0x2000):
        data = zipped(("a", LOG))
        data = patched(data, (6, "H", flag), (entry(data) + 8, "H", flag))
        assert "encrypted" in reason(data)


def test_split_large_and_strange_archives_are_refused() -> None:
    data = zipped(("a", LOG))
    end, there = data.rindex(b"PK\x05\x06"), entry(data)
    assert "split" in reason(patched(data, (end + 4, "H", 1)))
    assert "zip64" in reason(patched(data, (end + 16, "L", 0xFFFFFFFF)))
    assert "4 GB" in reason(patched(data, (there + 20, "L", 0xFFFFFFFF)))
    assert "method 12" in reason(zipped_by(zipfile.ZIP_BZIP2))
    assert "checksum" in reason(patched(data, (14, "L", 7), (there + 16, "L", 7)))
    assert "two sizes" in reason(patched(data, (8, "H", 0), (there + 10, "H", 0)))
    assert "more or fewer" in reason(patched(data, (end + 8, "H", 0), (end + 10, "H", 0)))
    assert "broken directory" in reason(patched(data, (end + 8, "H", 2), (end + 10, "H", 2)))


@pytest.mark.parametrize(
    "whole",
    [
        zipped(("a", LOG * 10), ("b", LOG)),
        tarred(("a", LOG * 10), ("b", LOG)),
        tarred(("x" * 200, LOG), format=tarfile.PAX_FORMAT),
        tarred(("x" * 200, LOG), format=tarfile.GNU_FORMAT),
        gzip.compress(LOG * 10, mtime=0),
        lzma.compress(LOG * 10),
    ],
    ids=["zip", "tar", "pax", "gnu", "gzip", "xz"],
)
@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_damaged_archives_are_read_or_refused_in_words(whole: bytes, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(whole)))
    place = data.draw(st.integers(0, len(whole) - 1))
    flipped = bytearray(whole)
    flipped[place] ^= data.draw(st.integers(1, 255))
    for damaged in (whole[:cut], bytes(flipped), whole[:place] + whole[cut:]):
        try:
            read = expand([File("a", damaged)], limits=Limits(size=1_000_000))
        except FormatError as error:
            said = error.problems
        else:
            assert sum(len(file.data) for file in read.files) <= 1_000_000
            continue
        assert [bool(problem.found and problem.expected) for problem in said] == [True]


def test_a_cut_archive_says_so() -> None:
    assert "without its end" in reason(zipped(("a", LOG))[:-30])
    assert "not in the file" in reason(tarred(("a", LOG))[:520])
    assert "cut off" in reason(gzip.compress(os.urandom(1000))[:-9])
    assert "cut off" in reason(lzma.compress(os.urandom(1000))[:-9])


# What is no archive


@pytest.mark.parametrize("begin", ["<?xml version='1.0'?>\n", ""])
def test_an_xml_bomb_is_a_file_of_no_known_kind(begin: str) -> None:
    entities = "".join(f'<!ENTITY lol{n + 1} "{f"&lol{n};" * 10}">\n' for n in range(9))
    text = f'{begin}<!DOCTYPE lolz [\n<!ENTITY lol0 "lol">\n{entities}]>\n<lolz>&lol9;</lolz>\n'
    file = File("bomb.xml", text.encode())
    assert list(expand([file]).files) == [file]

    def parse() -> None:
        with pytest.raises(BundleError, match="no kind that is known here"):
            formats.parse(file)

    assert peak(parse) < 2_000_000
