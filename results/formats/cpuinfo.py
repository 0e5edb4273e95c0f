"""/proc/cpuinfo of Linux: a block for each logical CPU."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from results.formats.base import Draft, File, refuse
from results.formats.machine import Gathering, vendor

NAME = "/proc/cpuinfo"
ORDER = 70
BEGIN = re.compile(r"processor\s{1,4}: [0-9]{1,6}$")
# Arm's numbers of those who make cores. Source: arch/arm64/include/asm/cputype.h of Linux.
IMPLEMENTERS = {
    "0x41": "Arm",
    "0x46": "Fujitsu",
    "0x48": "HiSilicon",
    "0x4e": "NVIDIA",
    "0x51": "Qualcomm",
    "0x61": "Apple",
    "0xc0": "Ampere",
}


@dataclass
class _Block:
    """What stands of one logical CPU: values and their lines by key."""

    line: int
    values: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)


def detect(file: File) -> bool:
    """A first line 'processor : 0' with more behind it."""
    first = file.top[:1]
    return bool(first) and BEGIN.match(first[0]) is not None and len(file.top) > 1


def parse(file: File) -> Draft:
    """What the blocks say. Raises FormatError where CPUs are missing."""
    blocks = _blocks(file)
    if not blocks:
        refuse(file, 1, "no line 'processor : 0'", "a block for each CPU")
    last = blocks[-1]
    missing = [key for key in blocks[0].values if key not in last.values]
    if missing:
        found = f"a last block without '{missing[0][:40]}'"
        refuse(file, last.line, found, "the same lines in all blocks: the output is cut")
    gathering = Gathering(file)
    gathering.say("threads", len(blocks), last.line)
    _say_processor(gathering, blocks)
    _say_topology(gathering, blocks)
    return gathering.draft()


def _blocks(file: File) -> list[_Block]:
    """One for each line 'processor'; what stands behind the last empty line belongs to none."""
    blocks: list[_Block] = []
    inside = False
    for number, line in enumerate(file.log.lines, 1):
        key, colon, value = line.partition(":")
        key = key.strip()
        if key == "processor" and colon:
            blocks.append(_Block(number))
            inside = True
        elif not line.strip():
            inside = False
        if colon and inside:
            blocks[-1].values.setdefault(key, value.strip())
            blocks[-1].lines.setdefault(key, number)
    return blocks


def _say_processor(gathering: Gathering, blocks: list[_Block]) -> None:
    """Model, maker, instruction set; no model where the blocks name several."""
    first = blocks[0]
    models = {block.values.get("model name", "") for block in blocks}
    if len(models) == 1:
        line = first.lines.get("model name", first.line)
        gathering.say("processor", gathering.words(models.pop(), line), line)
    else:
        gathering.remark("CPUs of several models: no processor is named", first.line)
    maker = vendor(first.values.get("vendor_id", ""))
    gathering.say("vendor", maker, first.lines.get("vendor_id"))
    implementer = IMPLEMENTERS.get(first.values.get("CPU implementer", ""))
    gathering.say("vendor", implementer, first.lines.get("CPU implementer"))
    flags = first.values.get("flags", "").split()
    if "lm" in flags:
        gathering.say("isa", "x86-64", first.lines["flags"])
    if "hypervisor" in flags:
        text = "a virtual machine, as the flag 'hypervisor' says; `lscpu` names the hypervisor"
        gathering.remark(text, first.lines["flags"])
    if first.values.get("CPU architecture") == "8":
        gathering.say("isa", "arm64", first.lines["CPU architecture"])
    if first.values.get("isa", "").startswith("rv64"):
        gathering.say("isa", "riscv64", first.lines["isa"])


def _say_topology(gathering: Gathering, blocks: list[_Block]) -> None:
    """Sockets, cores and threads, of x86 alone. Raises FormatError where they do not add up."""
    first = blocks[0]
    if not all({"physical id", "siblings", "cpu cores"} <= block.values.keys() for block in blocks):
        return
    sockets = len({block.values["physical id"] for block in blocks})
    siblings = gathering.count(first.values["siblings"], first.lines["siblings"])
    cores = gathering.count(first.values["cpu cores"], first.lines["cpu cores"])
    if not siblings or not cores:
        return
    if sockets * siblings != len(blocks):
        found = f"{len(blocks)} CPUs"
        expected = (
            f"{sockets} sockets × {siblings}: the output is cut, or shows a part of the machine"
        )
        refuse(gathering.file, blocks[-1].line, found, expected)
    gathering.say("sockets", sockets, first.lines["physical id"])
    gathering.say("cores_per_socket", cores, first.lines["cpu cores"])
    if siblings % cores == 0:
        gathering.say("threads_per_core", siblings // cores, first.lines["siblings"])
