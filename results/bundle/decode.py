"""From bytes to text: UTF-8, or UTF-16 and UTF-32 that say so by their byte order mark."""

from __future__ import annotations

import codecs

from results.bundle.problems import BundleError, Problem

BIGGEST_FILE = 64_000_000
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
ENCODINGS = "UTF-8, or UTF-16 with a byte order mark"
# What no text in Windows-1252 has: control characters, and the codes it leaves empty.
NOT_WESTERN = bytes(set(range(32)) - set(b"\t\n\r")) + b"\x7f\x81\x8d\x8f\x90\x9d"


def decode(data: bytes, name: str) -> str:
    """The text of a file, without its mark. Raises BundleError, naming the line."""
    if len(data) > BIGGEST_FILE:
        _refuse(name, None, f"{len(data):,} bytes", f"at most {BIGGEST_FILE:,} bytes (64 MB)")
    encoding = next((enc for mark, enc in MARKS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = "a byte that is no text" if encoding == "utf-8" else f"broken {encoding.upper()}"
        _refuse(name, line, f"{found} ({data[error.start : error.start + 1].hex()})", _advice(data))
    if not text.strip():
        _refuse(name, None, "an empty file", "a bundle in JSON or CSV")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        _refuse(name, line, "the character NUL", f"text in {ENCODINGS}")
    return text


def _advice(data: bytes) -> str:
    """The encodings that are read; and how to get one, where a spreadsheet may have written it."""
    head = data.lstrip()[:5_000].partition(b"\n")[0]
    parted = max(head.count(delimiter) for delimiter in (b",", b";", b"\t")) > 1
    if parted and head[:1] not in b"{[<" and len(data.translate(None, NOT_WESTERN)) == len(data):
        return f"{ENCODINGS}: a spreadsheet writes it where it saves as 'CSV UTF-8'"
    return ENCODINGS


def _refuse(name: str, line: int | None, found: str, expected: str) -> None:
    message = f"found {found}, expected {expected}"
    raise BundleError(
        [Problem(message=message, file=name, line=line, found=found, expected=expected)]
    )
