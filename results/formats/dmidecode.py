"""`dmidecode`: what the firmware says of processors, memory modules, the machine and itself.

Only the keys below are read: serial numbers, UUIDs and asset tags are not.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field

from results.bundle.problems import show
from results.formats.base import Draft, Fact, File, Log
from results.formats.machine import UNKNOWN, Gathering, vendor

NAME = "dmidecode"
ORDER = 60
BIOS, SYSTEM, PROCESSOR, ARRAY, MEMORY, END = "0", "1", "4", "16", "17", "127"
KEYS = {
    BIOS: ("Version",),
    SYSTEM: ("Manufacturer", "Product Name"),
    PROCESSOR: (
        *("Type", "Status", "Manufacturer", "Version"),
        *("Core Count", "Core Enabled", "Thread Count"),
    ),
    ARRAY: ("Use", "Number Of Devices"),
    MEMORY: (
        *("Array Handle", "Size", "Type", "Memory Technology"),
        *("Configured Memory Speed", "Configured Clock Speed"),
    ),
}
HANDLE = r"^\s*Handle (0x[0-9A-Fa-f]{1,8}), DMI type ([0-9]{1,3}), [0-9]{1,5} bytes"
SIZE = re.compile(r"([0-9]{1,12}) ([kMGT]B)")
IN_GB = {"kB": 2.0**-20, "MB": 2.0**-10, "GB": 1.0, "TB": 1024.0}
# Beginnings of a machine's maker and product that no real one has.
HYPERVISORS = (
    ("qemu", "", "QEMU"),
    ("vmware", "", "VMware"),
    ("microsoft corporation", "virtual machine", "Microsoft"),
    ("xen", "", "Xen"),
    ("innotek", "", "VirtualBox"),
    ("", "kvm", "KVM"),
)


@dataclass
class _Block:
    """A structure: its handle, its type, and the keys that are read of it with their lines."""

    handle: str
    kind: str
    line: int
    values: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def get(self, key: str) -> str:
        """The value, '' where it is missing or says nothing."""
        value = self.values.get(key, "")
        return "" if value.lower() in UNKNOWN else value


def detect(file: File) -> bool:
    """Its name in the first lines, or a first structure."""
    top = file.top[:6]
    return any(re.match(r"# dmidecode [0-9]", line) or re.match(HANDLE, line) for line in top)


def parse(file: File) -> Draft:
    """What the structures say. Raises FormatError where there are none, or some are cut off."""
    log = file.log
    blocks = _blocks(log)
    if not blocks:
        why = log.find(r"(?i)^.{0,200}(?:no such file|permission denied|no SMBIOS).{0,80}")
        found = show(why[0].strip()) if why else "no structure"
        expected = "structures of the firmware; dmidecode must run as root on a real machine"
        log.refuse(why.line if why else log.last, found, expected)
    _check_whole(log, blocks)
    gathering = Gathering(file)
    _say_machine(gathering, blocks)
    _say_processors(gathering, [b for b in blocks if b.kind == PROCESSOR])
    _say_memory(gathering, blocks)
    return gathering.draft()


def _blocks(log: Log) -> list[_Block]:
    """All structures, each once: some files hold the same output in several cuts."""
    blocks: dict[tuple[str, str], _Block] = {}
    block = None
    for number, line in enumerate(log.lines, 1):
        begin = re.match(HANDLE, line)
        if begin:
            key = (begin[1].lower(), begin[2])
            block = None if key in blocks else blocks.setdefault(key, _Block(*key, number))
            continue
        if block is None:
            continue
        name, _, value = line.partition(":")
        name = name.strip()
        if name in KEYS.get(block.kind, ()) and name not in block.values:
            block.values[name] = " ".join(value.split())
            block.lines[name] = number
    return list(blocks.values())


def _check_whole(log: Log, blocks: list[_Block]) -> None:
    """Refuse where memory devices are missing that the file itself announces."""
    if any(block.kind == END for block in blocks):
        return
    last = blocks[-1]
    needed = {PROCESSOR: "Status", MEMORY: "Type"}.get(last.kind)
    if needed and needed not in last.values:
        log.refuse(log.last, "the end of the output", f"a line '{needed}': it is cut")
    devices = Counter(b.get("Array Handle").lower() for b in blocks if b.kind == MEMORY)
    for array in (block for block in blocks if block.kind == ARRAY):
        announced, there = array.get("Number Of Devices"), devices[array.handle]
        if announced.isdecimal() and there < int(announced[:6]):
            found = f"{there} memory devices before the end of the output"
            log.refuse(log.last, found, f"{announced[:6]}, as line {array.line} announces")


def _say_machine(gathering: Gathering, blocks: list[_Block]) -> None:
    """Maker, product and firmware; and a hypervisor where the names are one's."""
    for block in blocks:
        if block.kind == BIOS and block.get("Version"):
            line = block.lines["Version"]
            version = gathering.words(block.values["Version"], line)
            gathering.say("bios", version, line)
            gathering.setup.setdefault("bios.version", Fact(version, line))
        if block.kind == SYSTEM:
            for key, name in (("Manufacturer", "maker"), ("Product Name", "product")):
                if block.get(key):
                    line = block.lines[key]
                    gathering.say(name, gathering.words(block.values[key], line), line)
            _say_hypervisor(gathering, block)


def _say_hypervisor(gathering: Gathering, system: _Block) -> None:
    maker, product = system.get("Manufacturer").lower(), system.get("Product Name").lower()
    for start, begin, name in HYPERVISORS:
        if maker.startswith(start) and product.startswith(begin):
            gathering.say("virtual", name, system.line)


def _say_processors(gathering: Gathering, blocks: list[_Block]) -> None:
    """The populated sockets and what is in them; what differs between them is left out."""
    there = [
        block
        for block in blocks
        if block.get("Status").startswith("Populated")
        and block.get("Type") in {"", "Central Processor"}
    ]
    if not there:
        return
    first = there[0]
    gathering.say("sockets", len(there), first.lines["Status"])
    for key, name in (("Version", "processor"), ("Manufacturer", "vendor")):
        values = {block.get(key) for block in there}
        line = first.lines.get(key, first.line)
        if len(values) > 1:
            gathering.remark(f"sockets with different '{key}': the {name} is left out", line)
            continue
        text = gathering.words(values.pop(), line)
        gathering.say(name, vendor(text) if name == "vendor" else text, line)
    _say_cores(gathering, there)


def _say_cores(gathering: Gathering, sockets: list[_Block]) -> None:
    """Cores of a socket that are enabled, and threads of all."""
    first = sockets[0]
    key = "Core Enabled" if first.get("Core Enabled") else "Core Count"
    cores, threads = _counts(gathering, sockets, key), _counts(gathering, sockets, "Thread Count")
    if len(set(cores)) == 1 and cores[0]:
        gathering.say("cores_per_socket", cores[0], first.lines[key])
        if cores != _counts(gathering, sockets, "Core Count") and first.get("Core Count"):
            text = f"{cores[0]} of {first.values['Core Count']} cores of a socket are enabled"
            gathering.remark(text, first.lines[key])
    if None in threads:
        return
    gathering.say("threads", sum(n or 0 for n in threads), first.lines["Thread Count"])
    each = {divmod(n or 0, c or 1) for n, c in zip(threads, cores, strict=True)}
    if len(each) == 1 and None not in cores and (only := each.pop())[1] == 0:
        gathering.say("threads_per_core", only[0] or None, first.lines["Thread Count"])


def _counts(gathering: Gathering, blocks: list[_Block], key: str) -> list[int | None]:
    return [gathering.count(b.get(key), b.lines.get(key, b.line)) for b in blocks]


def _say_memory(gathering: Gathering, blocks: list[_Block]) -> None:
    """Populated modules of the main memory: number, sum, type and speed."""
    others = {
        b.handle for b in blocks if b.kind == ARRAY and b.get("Use") not in {"", "System Memory"}
    }
    there = []
    for block in blocks:
        size = _size_gb(block) if block.kind == MEMORY else None
        if not size or block.get("Array Handle").lower() in others or block.get("Type") == "Flash":
            continue
        if re.search(
            r"(?i)non-volatile|NVDIMM|Optane",
            f"{block.get('Type')} {block.get('Memory Technology')}",
        ):
            gathering.remark("a module of persistent memory is not counted", block.line)
            continue
        there.append((block, size))
    if not there:
        return
    line = there[0][0].lines["Size"]
    total = math.fsum(size for _, size in there)
    gathering.say("memory_gb", int(total) if total.is_integer() else round(total, 3), line)
    gathering.say("memory_modules", len(there), line)
    _say_kind(gathering, [block for block, _ in there])


def _size_gb(block: _Block) -> float | None:
    """GB of a module, None for an empty place."""
    found = SIZE.fullmatch(block.get("Size"))
    return int(found[1]) * IN_GB[found[2]] if found else None


def _say_kind(gathering: Gathering, modules: list[_Block]) -> None:
    """Type and configured speed, each where all modules have the same."""
    kinds = {block.get("Type") for block in modules}
    if len(kinds) == 1:
        line = modules[0].lines.get("Type", modules[0].line)
        gathering.say("memory_type", gathering.words(kinds.pop(), line), line)
    # Before version 3.2 the key has 'Clock', and the unit, though it counts transfers, MHz.
    keys = ("Configured Memory Speed", "Configured Clock Speed")
    key = next((key for key in keys if modules[0].get(key)), keys[0])
    speeds = {block.get(key) for block in modules}
    line = modules[0].lines.get(key, modules[0].line)
    if len(speeds) > 1:
        gathering.remark("modules of different speed: none is named", line)
        return
    found = re.fullmatch(r"([0-9]{1,6}) (?:MT/s|MHz)", speeds.pop())
    if found:
        gathering.say("memory_mts", int(found[1]) or None, line)
