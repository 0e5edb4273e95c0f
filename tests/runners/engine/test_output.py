"""Output files: pieces of them, and whether a line matches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runners.engine import words
from runners.engine.output import LINE, Capped, Outputs

Making = Callable[[bytes], Capped]


@pytest.fixture
def holding(tmp_path: Path) -> Iterator[Making]:
    made: list[Capped] = []

    def hold(data: bytes) -> Capped:
        made.append(Capped(tmp_path / str(len(made)), 1000))
        made[-1].path.write_bytes(data)
        return made[-1]

    yield hold
    for one in made:
        one.close()


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n", [b""]),
        (b"a\nb", [b"a", b"b"]),
        (b"a\n\nb\n", [b"a", b"", b"b"]),
        (b"x" * 200_000 + b"\nend", [b"x" * LINE, b"end"]),
        (b"y" * 65_535 + b"\n" + b"z" * 65_536 + b"\n", [b"y" * LINE, b"z" * LINE]),
    ],
)
def test_lines_are_whole_or_cut(holding: Making, data: bytes, lines: list[bytes]) -> None:
    assert list(holding(data).lines()) == lines


def test_a_line_across_two_pieces_is_one(holding: Making) -> None:
    file = holding(b"-" * 65_000 + b"\n" + b"." * 530 + b" done: 1\n")
    assert file.has(r"done: 1$")
    assert not file.has(r"^ done")


def test_a_sign_matches_one_line_and_not_several(holding: Making) -> None:
    file = holding(b"not\nfinished\r\n\xff\xfe\n")
    assert file.has("^finished$")
    assert not file.has("not.finished")
    assert not file.has(r"not\sfinished")


def test_the_tail_is_the_end(holding: Making) -> None:
    file = holding(b"0123456789")
    assert (file.tail(4), file.tail(100)) == (b"6789", b"0123456789")


def test_a_cut_file_goes_on_at_the_cut(holding: Making) -> None:
    file = holding(b"x" * 1001)
    file.cut()
    assert (file.size(), file.was_cut) == (1000, True)
    record = file.record()
    assert (record["bytes"], record["cut"]) == (1000, True)


def test_a_file_that_is_there_already_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "1-work.out").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileExistsError):
        Outputs.make(tmp_path, "1-work", 10)
    assert not (tmp_path / "elsewhere").exists()


def test_names_of_files_are_plain(tmp_path: Path) -> None:
    with Outputs.make(tmp_path, "1-a/../b c\n" + "x" * 300, 10) as outputs:
        assert outputs.out.path.parent == tmp_path
        assert outputs.out.path.name == "1-a-..-b-c-" + "x" * 69 + ".out"
        assert outputs.err.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"10 %\r20 %\r\nnext\ttab", "10 %\n20 %\nnext\ttab"),
        (b"\x00\x1b[0m\x7f\xc2\x85", "\ufffd\ufffd[0m\ufffd\ufffd"),
        ("a\u202eb\u2066c\u200bd".encode(), "a\ufffdb\ufffdc\ufffdd"),
        ("µs é 漢 ×".encode(), "µs é 漢 ×"),
        (b"\xff\xe6\xbc", "\ufffd\ufffd"),
    ],
)
def test_what_is_shown_can_be_shown(data: bytes, text: str) -> None:
    assert words.printable(data) == text


def test_what_is_stored_can_be_stored() -> None:
    assert words.storable("a\0b\ud800c\n") == "a\ufffdb?c\n"


def test_errors_are_quoted_before_output() -> None:
    assert words.last_lines(b"", b"") == ""
    assert words.last_lines(b" \n", b"1\n2\n\n3\n4\n") == "2 / 3 / 4"
    assert words.last_lines(b"bad\n", b"good\n") == "bad"


def test_exit_codes_in_words() -> None:
    assert words.exit_words(3) == "ended with exit code 3"
    assert words.exit_words(-15) == "was ended by signal 15 (SIGTERM)"
    assert words.exit_words(-63) == "was ended by signal 63"
