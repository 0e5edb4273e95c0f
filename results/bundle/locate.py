"""Lines of a JSON text, found by walking it once; without recursion, so of any depth."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from results.bundle.problems import Path

DEEPEST = 32
TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
NAMED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


@dataclass(slots=True)
class _Level:
    """An object or list that is open while walking: where it stands, and what came last."""

    is_object: bool
    place: str | int = 0
    awaits_key: bool = False
    keys: set[str] = field(default_factory=set)


def _walk(text: str) -> Iterator[tuple[str, int, list[_Level]]]:
    """Each mark that is a key or begins a value: kind, position and the open levels.

    Kinds: "key", "value", "open" (the value is an object or list; it is not yet in the
    levels). The text need not be valid: what cannot be placed is passed over.
    """
    levels: list[_Level] = []
    for match in TOKEN.finditer(text):
        mark, top = match.group(), levels[-1] if levels else None
        if mark in "}]":
            if levels:
                levels.pop()
        elif mark == ",":
            if top is not None:
                _step(top)
        elif mark != ":":
            if top is not None and top.awaits_key:
                top.place, top.awaits_key = _unquote(mark), False
                yield "key", match.start(), levels
            else:
                yield ("open" if mark in "{[" else "value"), match.start(), levels
                if mark in "{[":
                    levels.append(_Level(is_object=mark == "{", awaits_key=mark == "{"))


def _step(level: _Level) -> None:
    if level.is_object:
        level.awaits_key = True
    elif isinstance(level.place, int):
        level.place += 1


def _unquote(mark: str) -> str:
    if "\\" not in mark:
        return mark.strip('"')
    return ESCAPE.sub(_unescape, mark[1:-1])


def _unescape(match: re.Match[str]) -> str:
    code = match.group(1)
    if len(code) == 5:
        return chr(int(code[1:], 16))
    return NAMED.get(code, code)


def lines_of(text: str, paths: Collection[Path]) -> dict[Path, int]:
    """Line of each path's value, from 1; of the nearest part that holds it where it is missing."""
    wanted = {path[:length] for path in paths for length in range(len(path) + 1)}
    found: dict[Path, int] = {}
    line, seen = 1, 0
    for kind, start, levels in _walk(text):
        if kind == "key":
            continue
        path = tuple(level.place for level in levels)
        if path in wanted and path not in found:
            line += text.count("\n", seen, start)
            seen = start
            found[path] = line
            if len(found) == len(wanted):
                break
    return {path: _nearest(path, found) for path in paths}


def _nearest(path: Path, found: dict[Path, int]) -> int:
    for length in range(len(path), -1, -1):
        if path[:length] in found:
            return found[path[:length]]
    return 1


def first_too_deep(text: str) -> int | None:
    """The line of the first bracket nested deeper than DEEPEST, or None."""
    for kind, start, levels in _walk(text):
        if kind == "open" and len(levels) >= DEEPEST:
            return text.count("\n", 0, start) + 1
    return None


def doubled_keys(text: str) -> Iterator[tuple[Path, int]]:
    """Path and line of each key that its object already has."""
    line, seen = 1, 0
    for kind, start, levels in _walk(text):
        if kind == "key":
            top = levels[-1]
            if top.place in top.keys:
                line += text.count("\n", seen, start)
                seen = start
                yield tuple(level.place for level in levels), line
            top.keys.add(str(top.place))
