"""`lscpu`: processor, topology and caches of a machine, as text.

Sizes of caches: util-linux before 2.34 prints that of one ('32K'), later ones the sum of
all ('1.5 MiB'), from 2.37 on with their number ('1.5 MiB (48 instances)').
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from results.formats.base import Draft, File, refuse
from results.formats.machine import ISAS, Gathering, isa, vendor

NAME = "lscpu"
ORDER = 60
ADVICE = "the output of `LC_ALL=C lscpu`, which is in English"
CPUS = re.compile(r"CPU\(s\):\s")
ENGLISH = re.compile(r"On-line CPU\(s\) list:|Thread\(s\) per core:")
# In every language these stand as they are.
FOREIGN = re.compile(r"(?m)^[ \t]*BogoMIPS[ \t\u00a0]{0,4}[:\uff1a]")
FOREIGN_TOO = re.compile(r"\bL1[di]\b|\bL1[di][ \t]|NUMA")
MOST_ENTRIES = 5_000
# Other names of the same thing: those of old versions, and of the sections of new ones.
ALIASES = {
    "CPU socket(s)": "Socket(s)",
    "L1d cache": "L1d",
    "L1i cache": "L1i",
    "L2 cache": "L2",
    "L3 cache": "L3",
}
SIZE = re.compile(
    r"([0-9]{1,9})(\.[0-9]{1,3})?( ?)([KMG]i?B|[KMGB])?(?: \(([0-9]{1,6}) instances?\))?"
)
KIB = {"": 1 / 1024, "B": 1 / 1024, "K": 1, "M": 1024, "G": 1024**2}
# A core's name, not a processor's: many makers build with it.
DESIGNS = re.compile(r"(?:Neoverse|Cortex)-")


@dataclass(frozen=True)
class Entry:
    """A line: what it is about, what it says, where it stands."""

    key: str
    value: str
    line: int


def detect(file: File) -> bool:
    """Its line 'CPU(s):' near the top and one on sockets or caches; or a translated output."""
    if any(CPUS.match(line) for line in file.top[:8]) and ENGLISH.search(file.head):
        return True
    return _is_foreign(file)


def _is_foreign(file: File) -> bool:
    """Whether it is lscpu's in another language than English."""
    known = any(name in line for line in file.top for name in ISAS)
    found = FOREIGN.search(file.head) and FOREIGN_TOO.search(file.head)
    return known and bool(found) and file.head.lstrip()[:1] not in {"<", "{"}


def parse(file: File) -> Draft:
    """What the text says. Raises FormatError where it is cut, translated or contradictory."""
    return draft_of(file, list(_entries(file)), file.log.last)


def _entries(file: File) -> Iterator[Entry]:
    """Lines 'key: value' up to the table that some print behind."""
    for number, line in enumerate(file.log.lines, 1):
        if line.startswith("#"):
            return
        key, colon, value = line.partition(":")
        if colon:
            key = key.strip()
            yield Entry(ALIASES.get(key, key), value.strip(), number)


def draft_of(file: File, entries: list[Entry], last: int) -> Draft:
    """The facts that lscpu's entries give, in the order printed; `last` is the last line."""
    known = [e for e in entries if not e.key.startswith("Vulnerability")][:MOST_ENTRIES]
    reader = _Reader(file, known)
    reader.check(last)
    reader.read_machine()
    reader.read_topology()
    reader.read_processor()
    if not reader.is_hybrid:
        reader.read_caches()
    return reader.gathering.draft()


class _Reader:
    """Reads entries into facts. Keys that stand once for a kind of core begin with its name."""

    def __init__(self, file: File, entries: list[Entry]) -> None:
        self.file = file
        self.entries = entries
        self.gathering = Gathering(file)
        self.models = [e for e in entries if e.key == "Model name"]
        self.is_hybrid = len({e.value for e in self.models}) > 1
        self._first: dict[str, Entry] = {}
        for entry in entries:
            self._first.setdefault(entry.key, entry)

    def check(self, last: int) -> None:
        """Refuse a translation, two outputs in one file, and one that ends too early."""
        totals = [entry for entry in self.entries if entry.key == "CPU(s)"]
        english = {"On-line CPU(s) list", "Thread(s) per core"} & self._first.keys()
        if not totals or not english:
            refuse(self.file, 1, "lscpu's output in another language", ADVICE)
        if len(totals) > 1:
            refuse(
                self.file, totals[1].line, "a second line 'CPU(s)'", "one output of lscpu a file"
            )
        wanted = ("Socket(s)", "Cluster(s)", "Socket(s) per book")
        if not any(key in self._first for key in wanted):
            expected = "a line 'Socket(s)': the output is cut"
            refuse(self.file, last, "the end of the output", expected)

    def read_machine(self) -> None:
        """Instruction set, hypervisor, NUMA nodes."""
        architecture, riscv = self._first.get("Architecture"), self._first.get("ISA")
        if architecture:
            self.gathering.say("isa", isa(architecture.value), architecture.line)
        elif riscv and riscv.value.startswith("rv64"):
            self.gathering.say("isa", "riscv64", riscv.line)
        for key in ("Hypervisor vendor", "Hypervisor"):
            entry = self._first.get(key)
            if entry:
                name = self.gathering.words(entry.value, entry.line)
                self.gathering.say("virtual", name, entry.line)
        nodes = self._first.get("NUMA node(s)")
        listed = {e.key for e in self.entries if re.match(r"NUMA node[0-9]+ CPU\(s\)", e.key)}
        if nodes and self._count(nodes) == len(listed):
            self.gathering.say("numa_nodes", len(listed), nodes.line)

    def read_topology(self) -> None:
        """Sockets, cores, threads; of several kinds of cores the sum."""
        total = self._first["CPU(s)"]
        cpus = self._count(total)
        off = self._first.get("Off-line CPU(s) list")
        if off and cpus and off.value not in {"", "-"}:
            cpus -= _listed(off.value)
            text = f"some CPUs are off-line ({off.value[:80]}): {max(cpus, 0)} count"
            self.gathering.remark(text, off.line)
        self.gathering.say("threads", cpus if cpus and cpus > 0 else None, total.line)
        kinds = [self._counts(block) for block in self._blocks()]
        sockets, threads = {k[0] for k in kinds}, {k[2] for k in kinds}
        cores = [k[1] for k in kinds]
        if len(sockets) == 1:
            self._say_count("Socket(s)", *sockets)
            if None not in cores:
                self._say_count("Core(s) per socket", sum(c or 0 for c in cores))
        if len(threads) == 1:
            self._say_count("Thread(s) per core", *threads)
        self._check_sum(total)

    def _say_count(self, key: str, value: int | None) -> None:
        names = {
            "Socket(s)": "sockets",
            "Core(s) per socket": "cores_per_socket",
            "Thread(s) per core": "threads_per_core",
        }
        if key in self._first:
            self.gathering.say(names[key], value, self._first[key].line)

    def _blocks(self) -> list[list[Entry]]:
        """The entries of each kind of core; all of them where there is one kind."""
        if not self.is_hybrid:
            return [self.entries]
        begins = [i for i, entry in enumerate(self.entries) if entry.key == "Model name"]
        return [self.entries[a:b] for a, b in zip(begins, [*begins[1:], None], strict=True)]

    def _counts(self, block: list[Entry]) -> tuple[int | None, int | None, int | None]:
        """Sockets, cores a socket and threads a core of one kind of core."""
        found = {entry.key: entry for entry in reversed(block)}
        keys = ("Socket(s)", "Core(s) per socket", "Thread(s) per core")
        counts = [self._count(found[key]) if key in found else None for key in keys]
        return counts[0], counts[1], counts[2]

    def _check_sum(self, total: Entry) -> None:
        """Remark where sockets × cores × threads are not the CPUs that are there."""
        facts = self.gathering.facts
        names = ("sockets", "cores_per_socket", "threads_per_core", "threads")
        if all(name in facts for name in names):
            sockets, cores, each, threads = (int(facts[name].value) for name in names)
            if sockets * cores * each != threads:
                text = f"{sockets} sockets × {cores} cores × {each} threads are not {threads} CPUs"
                self.gathering.remark(text, total.line)

    def read_processor(self) -> None:
        """Model, maker and clock; of a hybrid none, and a remark that says so."""
        maker = self._first.get("Vendor ID")
        if maker:
            self.gathering.say("vendor", vendor(maker.value), maker.line)
        if self.is_hybrid:
            names = ", ".join(dict.fromkeys(entry.value[:40] for entry in self.models[:8]))
            text = f"cores of several kinds ({names}): no processor is named, cores are summed"
            self.gathering.remark(text, self.models[0].line)
            return
        self._read_model(maker)
        self._read_clock()

    def _read_model(self, maker: Entry | None) -> None:
        model = self._first.get("Model name")
        firmware = self._first.get("BIOS Model name")
        if model is None:
            return
        name = self.gathering.words(model.value, model.line)
        if DESIGNS.match(name) and firmware:
            better = re.sub(r"(?: Unknown)? CPU @ .{1,20}$", "", firmware.value)
            better = self.gathering.words(better, firmware.line)
            if better:
                model, name = firmware, better
        if DESIGNS.match(name):
            text = f"{name} is the design of a core; several makers' processors have it"
            self.gathering.remark(text, model.line)
        self.gathering.say("processor", name, model.line)
        base = re.search(r" @ ([0-9]\.[0-9]{1,3}) ?GHz$", name)
        if base and maker and vendor(maker.value) == "Intel":
            self.gathering.say("base_ghz", float(base[1]), model.line)

    def _read_clock(self) -> None:
        """The highest clock; some guests print one that no server has."""
        entry = self._first.get("CPU max MHz")
        found = entry and re.fullmatch(r"([0-9]{1,6})[.,]([0-9]{1,6})", entry.value)
        if not entry or not found:
            return
        ghz = round(float(f"{found[1]}.{found[2]}") / 1000, 4)
        if 0.5 <= ghz <= 10:
            self.gathering.say("max_ghz", ghz, entry.line)
        else:
            text = f"'CPU max MHz' is {entry.value}, which no server has: left out"
            self.gathering.remark(text, entry.line)

    def read_caches(self) -> None:
        """Level 1 and 2 of one core, level 3 of one socket, where they can be told."""
        facts = self.gathering.facts
        if "sockets" not in facts or "cores_per_socket" not in facts:
            return
        sockets = int(facts["sockets"].value)
        cores = sockets * int(facts["cores_per_socket"].value)
        for key, name in (("L1d", "l1d_kb"), ("L1i", "l1i_kb"), ("L2", "l2_kb")):
            self._say_cache(key, name, cores)
        self._say_cache("L3", "l3_mb", sockets)

    def _say_cache(self, key: str, name: str, owners: int) -> None:
        entry = self._first.get(key)
        cache = _cache(entry.value) if entry else None
        if entry is None or cache is None:
            return
        if cache.of_one and key == "L3" and not self._has_one_l3_a_socket():
            text = "L3 is printed of one cache; how many a socket has is not said: left out"
            self.gathering.remark(text, entry.line)
            return
        number = cache.instances
        if number and (number > owners if key != "L3" else number < owners):
            noun = "sockets" if key == "L3" else "cores"
            text = f"{number} {key} caches and {owners} {noun}: their size is left out"
            self.gathering.remark(text, entry.line)
            return
        kib = cache.share(owners)
        if kib and key == "L3":
            kib = kib / 1024
        self.gathering.say(name, _plain(kib), entry.line)

    def _has_one_l3_a_socket(self) -> bool:
        facts = self.gathering.facts
        one = "numa_nodes" in facts and facts["numa_nodes"].value == facts["sockets"].value
        return one and "vendor" in facts and facts["vendor"].value == "Intel"

    def _count(self, entry: Entry) -> int | None:
        return self.gathering.count(entry.value, entry.line)


@dataclass(frozen=True)
class _Cache:
    """A printed size: KiB from `low` to `high`, as it was rounded. `instances` 0: not said."""

    low: float
    high: float
    instances: int
    of_one: bool

    def share(self, owners: int) -> float | None:
        """KiB of one owner; None where no usual size fits."""
        if self.of_one:
            return _usual(self.low, self.high)
        if not self.instances or self.instances % owners:
            return _usual(self.low / owners, self.high / owners)
        one = _usual(self.low / self.instances, self.high / self.instances)
        return one and one * (self.instances // owners)


def _cache(text: str) -> _Cache | None:
    found = SIZE.fullmatch(text)
    if not found:
        return None
    digits, decimals, blank, unit, number = (part or "" for part in found.groups())
    kib = KIB[unit[:1]]
    value = float(digits + decimals) * kib
    # The tool rounds to one decimal; whole KiB and bytes are exact.
    half = 0.5 * kib / 10 ** max(1, len(decimals) - 1) if kib > 1 else 0.0
    of_one = len(unit) == 1 and unit != "B" and not blank
    half = 0.0 if of_one else half
    return _Cache(value - half, value + half, int(number or 0), of_one)


def _usual(low: float, high: float) -> float | None:
    """The roundest number of KiB from `low` to `high`: of 48.0 to 48.9, 48."""
    for exponent in range(20, -1, -1):
        step = 2**exponent
        candidate = math.ceil(low / step - 1e-9) * step
        if 0 < candidate <= high + 1e-9:
            return float(candidate)
    return None


def _plain(value: float | None) -> float | None:
    return int(value) if value is not None and value.is_integer() else value


def _listed(text: str) -> int:
    """How many CPUs a list names: 64-127,200 are 65."""
    total = 0
    for part in re.findall(r"([0-9]{1,6})(?:-([0-9]{1,6}))?", text):
        first, last = int(part[0]), int(part[1] or part[0])
        total += max(0, last - first + 1)
    return total
