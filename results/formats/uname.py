"""`uname -a` of Linux: its kernel. The host's name in it is not read."""

from __future__ import annotations

import re

from results.formats.base import Draft, Fact, File
from results.formats.machine import ISAS, isa

NAME = "uname -a"
ORDER = 70
LINE = re.compile(r"^Linux \S{1,255} (\d{1,4}\.\d[\w.+~-]{0,80})\s")


def detect(file: File) -> bool:
    """One line that begins as a Linux kernel presents itself."""
    return len(file.top) == 1 and LINE.match(file.top[0]) is not None


def parse(file: File) -> Draft:
    """The kernel's version and the instruction set. Raises FormatError for a cut line."""
    line = file.log.require(r"^\s*Linux ", "a line that begins with 'Linux'")
    text = file.log.lines[line.line - 1].strip()
    found = LINE.match(text)
    end = re.search(r"\b(\S{1,20}) (?:GNU/)?Linux$", text)
    if not found or not end or end[1] not in ISAS:
        expected = "the instruction set and 'GNU/Linux' at its end, as `uname -a` prints them"
        file.log.refuse(line.line, "a line that is cut, or of another kind", expected)
    facts = {"isa": Fact(isa(end[1]), line.line)}
    return Draft(facts=facts, setup={"kernel": Fact(found[1], line.line)})
