"""`lscpu -J`: the same as lscpu's text, flat or (from util-linux 2.38 on) with children."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from results.bundle.locate import lines_of
from results.bundle.problems import Path, show
from results.formats.base import Draft, File, refuse
from results.formats.lscpu import ALIASES, MOST_ENTRIES, Entry, draft_of

NAME = "lscpu -J"
ORDER = 60
BEGIN = re.compile(r'\s{0,1000}\{\s{0,1000}"lscpu"\s{0,1000}:')
DEEPEST = 8


def detect(file: File) -> bool:
    """An object whose first key is 'lscpu': tables of CPUs and caches have another."""
    return BEGIN.match(file.head) is not None


def parse(file: File) -> Draft:
    """What the entries say. Raises FormatError where it is no JSON, cut or translated."""
    raw = _load(file)
    if not isinstance(raw, dict) or not isinstance(raw.get("lscpu"), list):
        refuse(file, 1, show(raw), 'an object {"lscpu": [ … ]}')
    found = list(_walk(file, raw["lscpu"], ("lscpu",)))
    lines = lines_of(file.text, {path for path, _, _ in found})
    entries = [Entry(ALIASES.get(key, key), value, lines[path]) for path, key, value in found]
    return draft_of(file, entries, file.text.count("\n") + 1)


def _load(file: File) -> Any:
    try:
        return json.loads(file.text, parse_int=str, parse_float=str, parse_constant=str)
    except RecursionError:
        refuse(file, None, "too many open brackets", f"at most {DEEPEST} within each other")
    except json.JSONDecodeError as error:
        near = show(file.text[error.pos : error.pos + 20] or "the end of the file")
        refuse(file, error.lineno, near, f"JSON ({error.msg}, column {error.colno})")


def _walk(file: File, items: list[Any], path: Path) -> Iterator[tuple[Path, str, str]]:
    """Path, key and value of each entry, those below one directly behind it."""
    if len(path) > DEEPEST or len(items) > MOST_ENTRIES:
        refuse(file, None, "too many entries within each other", "the output of `lscpu -J`")
    for index, item in enumerate(items):
        if not isinstance(item, dict) or not isinstance(item.get("field"), str):
            refuse(file, None, show(item), 'entries {"field": …, "data": …}')
        key, data = item["field"].strip().removesuffix(":"), item.get("data")
        if data is not None and not isinstance(data, str):
            refuse(file, None, show(data), f"a text as the data of {show(key)}")
        if data is not None:
            yield (*path, index, "data"), key, data.strip()
        children = item.get("children", [])
        if isinstance(children, list):
            yield from _walk(file, children, (*path, index, "children"))
