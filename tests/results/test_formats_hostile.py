"""Every format on damaged files: a refusal in words, or a draft of finite numbers."""

from __future__ import annotations

import ast
import importlib
import math
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from results.bundle import BundleError, Defaults
from results.formats import Draft, formats, parse
from results.formats.base import File
from tests.results.format_files import ROOT, kept

MUTATIONS = 40
NUMBERS = (b"NaN", b"1e999", b"-1", b"0", b"1" * 400, b"1e-300", b"\xd9\xa3", b"1_000", b"")
PIECES = (b"\0", b"\xed\xa0\x80", b"\\ud800", b"\xff", b"\xef\xbb\xbf", b"x" * 10**6, b"[" * 10**5)
# Small files of the formats that have no tool to print them.
WRITTEN = {
    "bundle.json": b'{"bundle": 1, "lab": "x", "runs": [{"system": "s", "benchmark": "stream",'
    b'"scope": "system", "measurements": [{"metric": "triad.bandwidth", "value": 1.5,'
    b'"unit": "GB/s"}]}]}',
    "table.csv": b"system,benchmark,scope,metric,value,unit\n"
    b"s,stream,system,triad.bandwidth,1.5,GB/s\n"
    b"s,stream,thread,triad.bandwidth,1.5,GB/s\n",
    "children.json": b'{"lscpu": [{"field": "CPU(s):", "data": "4", "children": [{"field":'
    b'"On-line CPU(s) list:", "data": "0-3"}, {"field": "Socket(s):", "data": "2"},'
    b'{"field": "Model name:", "data": "EPYC"}]}]}',
}


def corpus() -> dict[str, bytes]:
    """A file of every format."""
    return {path.name: path.read_bytes() for path in kept()} | WRITTEN


def cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def flip(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 8))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def change_number(rng: random.Random, data: bytes) -> bytes:
    places = list(re.finditer(rb"[0-9.]+", data))
    if not places:
        return data
    place = rng.choice(places)
    return data[: place.start()] + rng.choice(NUMBERS) + data[place.end() :]


def insert(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(PIECES) + data[at:]


def shuffle(rng: random.Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    for _ in range(3):
        lines.insert(rng.randrange(len(lines)), lines.pop(rng.randrange(len(lines))))
    return b"\n".join(lines * rng.choice((1, 1, 2)))


def recode(rng: random.Random, data: bytes) -> bytes:
    encoding = rng.choice(("utf-16", "utf-16-le", "utf-8-sig", "utf-32"))
    return data.decode("utf-8").encode(encoding)[: rng.choice((None, -1))]


WAYS: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    *(cut, flip, flip, change_number, change_number, insert, shuffle, recode),
)


def outcome(name: str, data: bytes) -> Draft | str:
    """What comes of a file: a draft that was read to its end, or the reasons against it."""
    given = File(name, data)
    try:
        draft = parse(given)
        if draft.reads:
            draft.reads(Defaults(lab="x", system="s", leave_open=True))
    except BundleError as error:
        return "\n".join(problem.message for problem in error.problems)
    return draft


def numbers(draft: Draft) -> Iterator[Any]:
    """Every number of a draft."""
    for run in draft.runs:
        yield from run.parameters.values()
        for reading in run.readings:
            yield from (reading.value, reading.low, reading.high, *reading.samples)
    yield from (fact.value for fact in (*draft.facts.values(), *draft.setup.values()))


@pytest.mark.parametrize("name", sorted(corpus()))
def test_a_damaged_file_is_refused_in_words_or_read_in_finite_numbers(name: str) -> None:
    data, rng = corpus()[name], random.Random(name)
    for number in range(MUTATIONS):
        way = WAYS[number % len(WAYS)]
        found = outcome(name, way(rng, data))
        if isinstance(found, Draft):
            assert all(math.isfinite(n) for n in numbers(found) if isinstance(n, (int, float)))
            words = [n for n in numbers(found) if isinstance(n, str)]
            assert all(word.isprintable() and len(word) <= 300 for word in words)
        else:
            assert found
            assert all(message.isprintable() for message in found.split("\n"))


def test_every_format_has_a_file_that_is_tried() -> None:
    found = {
        name
        for name, known in formats().items()
        for n, d in corpus().items()
        if known.detect(File(n, d))
    }
    assert found == set(formats())


@pytest.mark.parametrize(
    "data", [b"", b"\n", b" " * 10**6, b"\n" * 10**6, b"|" * 10**6, b"{" * 10**5]
)
def test_files_of_nothing_are_refused(data: bytes) -> None:
    assert isinstance(outcome("empty.txt", data), str)


def sources() -> list[Path]:
    return sorted((ROOT / "results" / "formats").glob("*.py"))


def texts(path: Path) -> Iterator[str]:
    """Every text of a module but its docstrings; an x stands for what an f-string fills in."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    filled = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    inner = {id(part) for node in filled for part in node.values}
    for node in filled:
        yield "".join(str(p.value) if isinstance(p, ast.Constant) else "x" for p in node.values)
    docs = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    for constant in ast.walk(tree):
        if isinstance(constant, ast.Constant) and not {id(constant)} & (inner | docs):
            yield str(constant.value)


def expressions(path: Path) -> Iterator[tuple[str, Any]]:
    """Texts of a module that may be regular expressions, and their parsed form."""
    parser = importlib.import_module("re._parser")
    for text in texts(path):
        try:
            yield text, parser.parse(text)
        except re.error:
            continue


def open_repeats(items: Any, *, within: bool = False) -> Iterator[bool]:
    """For each repeat without a usual bound, whether it lies within another."""
    for code, argument in items:
        name, parts = str(code), [argument]
        if name in {"MAX_REPEAT", "MIN_REPEAT"}:
            _, most, inner = argument
            is_open = most > 1000
            if is_open:
                yield within
            yield from open_repeats(inner, within=within or is_open)
        elif name == "SUBPATTERN":
            yield from open_repeats(argument[-1], within=within)
        elif name == "BRANCH":
            for parts in argument[1]:
                yield from open_repeats(parts, within=within)


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.stem)
def test_no_expression_of_a_format_repeats_a_repeat(path: Path) -> None:
    for text, parsed in expressions(path):
        assert not any(open_repeats(parsed)), f"{path.name}: {text}"


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.stem)
def test_an_expression_that_begins_with_a_repeat_is_anchored(path: Path) -> None:
    for text, parsed in expressions(path):
        if "\\" in text and parsed and str(parsed[0][0]) in {"MAX_REPEAT", "MIN_REPEAT"}:
            assert parsed[0][1][1] <= 1000, (
                f"{path.name}: {text} is tried from every place of a line"
            )
