"""Archives of an upload: what is taken out, and under which names."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from results.formats.base import File, FormatError
from results.intake.archives import expand
from tests.results.packed import LOG, names, patched, reason, tarred, with_mode, zipped, zipped_by

pytestmark = pytest.mark.usefixtures("nothing_is_written")


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
