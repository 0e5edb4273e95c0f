"""One module a tool: `detect()` and `parse()`. Pure functions from bytes to a Draft."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Protocol, cast

from results.bundle import BundleError, Problem
from results.formats.base import Draft, File, FormatError, Reading, Remark

NOT_FORMATS = frozenset({"base"})


class Format(Protocol):
    """A module of this room."""

    NAME: str

    def detect(self, file: File) -> bool: ...

    def parse(self, file: File) -> Draft: ...


@cache
def formats() -> dict[str, Format]:
    """Every format by its module's name, in the order in which they are asked."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name not in NOT_FORMATS)
    modules = {name: importlib.import_module(f"{__name__}.{name}") for name in names}
    found = {n: cast("Format", m) for n, m in modules.items() if hasattr(m, "detect")}
    return dict(sorted(found.items(), key=lambda item: (getattr(item[1], "ORDER", 50), item[0])))


def detect(file: File) -> str | None:
    """The name of the format that knows the file; None where none does."""
    return next((name for name, known in formats().items() if known.detect(file)), None)


def name_of(file: File) -> str:
    """The tool whose format the file has, in words; empty where none knows it."""
    name = detect(file)
    return formats()[name].NAME if name else ""


def parse(file: File) -> Draft:
    """What a file says. Raises BundleError where it is not known, or is refused."""
    name = detect(file)
    if name is None:
        raise BundleError([_unknown(file)])
    return formats()[name].parse(file).of(file)


def _unknown(file: File) -> Problem:
    file.text  # noqa: B018  what is no text at all is said first
    known = ", ".join(sorted(known.NAME for known in formats().values()))
    found, expected = "a file of no kind that is known here", f"one of: {known}"
    return Problem(f"found {found}, expected {expected}", file.name, 1, "", found, expected)


__all__ = [
    "Draft",
    "File",
    "Format",
    "FormatError",
    "Reading",
    "Remark",
    "detect",
    "formats",
    "name_of",
    "parse",
]
