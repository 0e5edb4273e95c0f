"""Words about a machine that several tools print in spellings of their own. No format."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from results.bundle.problems import show
from results.bundle.text import is_unseen
from results.formats.base import Draft, Fact, File, Remark, Scalar, refuse

LONGEST_NAME = 120
MOST = 100_000
# What firmware and tools print where they know nothing.
UNKNOWN = frozenset(
    {
        *("", "-", "--", "unknown", "not specified", "not provided", "not available", "none"),
        *("n/a", "other", "undefined", "<out of spec>", "<bad index>", "default string", "oem"),
        *("to be filled by o.e.m.", "system manufacturer", "system product name", "no dimm"),
    }
)
# By the beginning of what is printed, in small letters.
VENDORS: Mapping[str, str] = {
    "genuineintel": "Intel",
    "intel": "Intel",
    "authenticamd": "AMD",
    "advanced micro devices": "AMD",
    "amd": "AMD",
    "hygon": "Hygon",
    "arm": "Arm",
    "nvidia": "NVIDIA",
    "ampere": "Ampere",
    "hisilicon": "HiSilicon",
    "ibm": "IBM",
    "fujitsu": "Fujitsu",
    "cavium": "Cavium",
    "apple": "Apple",
    "qualcomm": "Qualcomm",
    "aws": "AWS",
    "annapurna": "AWS",
    "zhaoxin": "Zhaoxin",
    "loongson": "Loongson",
}
ISAS: Mapping[str, str] = {
    "x86_64": "x86-64",
    "amd64": "x86-64",
    "i386": "x86",
    "i686": "x86",
    "aarch64": "arm64",
    "arm64": "arm64",
    "riscv64": "riscv64",
    "ppc64le": "ppc64le",
    "ppc64": "ppc64",
    "s390x": "s390x",
    "loongarch64": "loongarch64",
}


@dataclass
class Gathering:
    """Facts of one file while it is read. The first that says something stays."""

    file: File
    facts: dict[str, Fact] = field(default_factory=dict)
    setup: dict[str, Fact] = field(default_factory=dict)
    remarks: list[Remark] = field(default_factory=list)

    def say(self, name: str, value: Scalar | None, line: int | None) -> None:
        """Take a fact; None and the empty text are none."""
        if value is not None and value != "":
            self.facts.setdefault(name, Fact(value, line))

    def remark(self, text: str, line: int | None = None) -> None:
        self.remarks.append(Remark(text, line))

    def words(self, text: str, line: int) -> str:
        """`text` on one line, '' where it says nothing. Raises FormatError for what no name is."""
        return words(self.file, text, line)

    def count(self, text: str, line: int) -> int | None:
        """`text` as a count, None where it says nothing. Raises FormatError."""
        if text.strip().lower() in UNKNOWN:
            return None
        if not re.fullmatch(r"[0-9]{1,6}", text) or not 1 <= int(text) <= MOST:
            refuse(self.file, line, show(text), f"a whole number from 1 to {MOST:,}")
        return int(text)

    def draft(self) -> Draft:
        """All of it."""
        return Draft(facts=self.facts, setup=self.setup, remarks=tuple(self.remarks))


def words(file: File, text: str, line: int) -> str:
    """`text` with single blanks; '' for 'Not Specified' and the like.

    Raises FormatError where it is too long or has characters that cannot be seen.
    """
    text = " ".join(text.split())
    if text.lower() in UNKNOWN:
        return ""
    if len(text) > LONGEST_NAME or any(map(is_unseen, text)):
        refuse(file, line, show(text), f"a readable name of at most {LONGEST_NAME} characters")
    return text


def vendor(text: str) -> str:
    """The maker's usual name, '' where it is not one of the known."""
    small = text.strip().lower()
    return next((name for start, name in VENDORS.items() if small.startswith(start)), "")


def isa(text: str) -> str:
    """The instruction set by the kernel's name for it, '' where it is not known."""
    return ISAS.get(text.strip().lower(), "")
