"""The interchange document: what uploads, runners and the reference data all become."""

from __future__ import annotations

from results.bundle.csvfile import Table, read_csv, write_csv
from results.bundle.decode import decode
from results.bundle.dialect import looks_like_csv
from results.bundle.document import Defaults, Document
from results.bundle.jsonfile import read_json
from results.bundle.model import Bundle
from results.bundle.problems import BundleError, Finding, Problem

__all__ = [
    "Bundle",
    "BundleError",
    "Defaults",
    "Document",
    "Finding",
    "Problem",
    "Table",
    "looks_like_csv",
    "read_bundle",
    "write_csv",
]


def read_bundle(data: bytes, *, name: str = "", defaults: Defaults | None = None) -> Document:
    """Read a bundle from a file's bytes, JSON or CSV; no database is asked.

    Runs that do not fit are told in the document's `findings`. Raises BundleError, with
    every problem, where the file as a whole cannot be read.
    """
    text = decode(data, name)
    if text.lstrip()[:1] in {"{", "["}:
        return read_json(text, name=name, defaults=defaults)
    if not looks_like_csv(text):
        raise _unknown_kind(name)
    return read_csv(text, name=name, defaults=defaults)


def _unknown_kind(name: str) -> BundleError:
    found, expected = "neither JSON nor a table", "a bundle in JSON, or CSV with a head"
    message = f"found {found}, expected {expected}: system, benchmark, scope, metric, value, unit"
    return BundleError([Problem(message, name, 1, "", found, expected)])
