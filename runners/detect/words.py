"""Small words of the kernel and of tools, read leniently: what is odd says nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from runners.machine import Detail

# What a program or file said, by its name.
Looked = Mapping[str, str]
LONGEST = 200
MOST_CPUS = 16_384
UNITS = {"K": 1, "M": 2**10, "G": 2**20}


@dataclass
class Sheet:
    """What is read: to be shown, and a run's setup by the Bundle's names."""

    details: list[Detail] = field(default_factory=list)
    setup: dict[str, str] = field(default_factory=dict)

    def say(self, name: str, label: str, value: object, source: str) -> None:
        """Take a value; None, the empty text and 'Not Specified' are none."""
        text = clean("" if value is None else str(value))
        if text and source:
            self.details.append(Detail(name, label, text, source))

    def set(self, name: str, value: str) -> None:
        """Take a field of a run's setup."""
        text = clean(value)
        if text:
            self.setup[name] = text


def clean(text: str) -> str:
    """On one line, without what cannot be seen; empty for what firmware prints for nothing."""
    # Pages take the words of sizes from here, and load no format for it.
    from results.formats.machine import UNKNOWN

    seen = "".join(sign for sign in " ".join(text.split()) if sign.isprintable())
    return "" if seen.lower() in UNKNOWN else seen[:LONGEST]


def whole(text: str) -> int | None:
    """A whole number, 0 or more."""
    text = text.strip()
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None


def listed(text: str) -> tuple[int, ...]:
    """The numbers of a list of CPUs or nodes: '0-3,8' are five. Empty where it is none."""
    found: set[int] = set()
    for part in text.strip().split(","):
        span = re.fullmatch(r"([0-9]{1,5})(?:-([0-9]{1,5}))?", part.strip())
        if span is None:
            return ()
        first, last = int(span[1]), int(span[2] or span[1])
        if last >= MOST_CPUS:
            return ()
        found.update(range(first, last + 1))
    return tuple(sorted(found))


def spans(numbers: Iterable[int]) -> str:
    """The other way round: '0-3,8'."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs)


def size_kib(text: str) -> int | None:
    """KiB of '32K' or '1M', as the kernel writes the size of a cache."""
    found = re.fullmatch(r"([0-9]{1,9})([KMG])", text.strip())
    return int(found[1]) * UNITS[found[2]] if found else None


def kib_words(kib: float) -> str:
    """'48 KiB', '1.5 MiB', '512 GiB'."""
    for unit, size in (("GiB", 2**20), ("MiB", 2**10)):
        if kib >= size:
            return f"{_short(kib / size)} {unit}"
    return f"{_short(kib)} KiB"


def _short(value: float) -> str:
    """At most two decimals, none that are 0."""
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def matching(looked: Looked, pattern: str) -> Iterator[tuple[re.Match[str], str]]:
    """Names that the whole of the expression fits, and what was said there."""
    compiled = re.compile(pattern)
    for name, text in looked.items():
        found = compiled.fullmatch(name)
        if found:
            yield found, text.strip()


def row(text: str, key: str) -> str:
    """The rest of the line that begins with the key and a colon; empty without one."""
    found = re.search(rf"(?m)^\s*{re.escape(key)}\s*:[ \t]*(.*)$", text)
    return found[1].strip() if found else ""
