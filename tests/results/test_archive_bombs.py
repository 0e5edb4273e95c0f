"""Archives that are bombs, or whose descriptions contradict each other: refused, unspent."""

from __future__ import annotations

import gzip
import lzma
import os
import struct
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
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
from tests.results.packed import (
    LOG,
    SMALL,
    names,
    overlapping,
    patched,
    reason,
    tarred,
    zipped,
    zipped_by,
)

pytestmark = pytest.mark.usefixtures("nothing_is_written")


# Bombs


def entry(data: bytes, member: int = 0) -> int:
    """Where the directory describes a member."""
    place = data.rindex(b"PK\x05\x06")
    place = struct.unpack_from("<L", data, place + 16)[0]
    for _ in range(member):
        place += 46 + sum(struct.unpack_from("<3H", data, place + 28))
    return int(place)


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
