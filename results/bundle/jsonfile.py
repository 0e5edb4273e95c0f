"""A bundle in JSON. Strict where JSON's habit loses data: doubled keys, NaN, depth."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from itertools import islice
from typing import Any, NoReturn

from results.bundle import locate
from results.bundle.document import (
    MOST_PROBLEMS,
    Defaults,
    Document,
    apply_defaults,
    build,
    problems_of,
)
from results.bundle.problems import BundleError, Finding, Path, Problem, show


def read_json(text: str, *, name: str, defaults: Defaults | None = None) -> Document:
    """Read a bundle. Raises BundleError where more than single runs is wrong."""
    raw, doubled = _load(text, name)
    if not isinstance(raw, dict):
        _refuse(name, 1, f"{show(raw)} at the top", 'an object that begins with {"bundle": 1')

    def lines(paths: Collection[Path]) -> Mapping[Path, int]:
        return locate.lines_of(text, paths) if paths else {}

    if doubled:
        raise BundleError(_doubled(text, name))
    if "bundle" not in raw:
        finding = Finding((), "an object without 'bundle'", 'a bundle: {"bundle": 1, …}')
        raise BundleError(problems_of([finding], name=name, lines=lines))
    findings = apply_defaults(raw, defaults or Defaults())
    return build(raw, name=name, lines=lines, findings=findings)


def _load(text: str, name: str) -> tuple[Any, bool]:
    """The parsed text, and whether an object in it has a key twice."""
    doubled = False

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal doubled
        found = dict(items)
        doubled = doubled or len(found) != len(items)
        return found

    try:
        return json.loads(text, object_pairs_hook=pairs, parse_int=_whole), doubled
    except RecursionError:
        expected = f"at most {locate.DEEPEST} brackets within each other"
        _refuse(name, locate.first_too_deep(text), "too many open brackets", expected)
    except json.JSONDecodeError as error:
        near = text[error.pos : error.pos + 20] or "the end of the file"
        _refuse(name, error.lineno, show(near), f"JSON ({error.msg}, column {error.colno})")


def _whole(digits: str) -> int | float:
    """A whole number; beyond 18 digits as a float, infinite if it is too large for one."""
    return int(digits) if len(digits) <= 18 else float(digits)


def _doubled(text: str, name: str) -> list[Problem]:
    problems = []
    for path, line in islice(locate.doubled_keys(text), MOST_PROBLEMS):
        key = show(str(path[-1]))
        message = f"key {key} stands twice in the same object"
        problems.append(Problem(message, name, line, str(path[-1])[:80], key, "each key once"))
    return problems


def _refuse(name: str, line: int | None, found: str, expected: str) -> NoReturn:
    message = f"found {found}, expected {expected}"
    raise BundleError([Problem(message, name, line, "", found, expected)])
