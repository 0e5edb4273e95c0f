"""From what a machine said to its facts. Pure: the same words give the same facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from results.bundle import BundleError
from results.formats import cpuinfo, dmidecode, lscpu, lscpu_json, meminfo, numactl, uname
from results.formats.base import Draft, Fact, File
from results.formats.lscpu import DESIGNS
from runners.detect import memory, software, state, topology
from runners.detect.words import Looked, Sheet, clean, kib_words
from runners.machine import Facts, gib_words

Parse = Callable[[File], Draft]
# The formats of uploads; the first of several that say the same tool's words.
FORMATS: Sequence[tuple[tuple[str, Parse], ...]] = (
    (("lscpu -J", lscpu_json.parse), ("lscpu", lscpu.parse)),
    (("/proc/cpuinfo", cpuinfo.parse),),
    # Asked a moment later, a machine whose memory grows would contradict itself.
    (("/proc/meminfo", meminfo.parse), ("numactl -H", numactl.parse)),
    (("dmidecode", dmidecode.parse),),
    (("uname -a", uname.parse),),
)
DMI = "/sys/class/dmi/id"
Named = tuple[str, Draft]
TOLD = (
    ("processor", "cpu.processor", "Processor", "{}"),
    ("vendor", "cpu.vendor", "Maker", "{}"),
    ("isa", "cpu.isa", "Instruction set", "{}"),
    ("sockets", "cpu.sockets", "Sockets", "{}"),
    ("cores_per_socket", "cpu.cores", "Cores of a socket", "{}"),
    ("threads", "cpu.threads", "Logical CPUs", "{}"),
    ("max_ghz", "cpu.ghz", "Highest clock", "{} GHz"),
    ("memory_modules", "memory.modules", "Modules", "{}"),
    ("memory_type", "memory.type", "Type", "{}"),
    ("memory_mts", "memory.speed", "Speed", "{} MT/s"),
    ("maker", "machine.maker", "Maker", "{}"),
    ("product", "machine.product", "Product", "{}"),
    ("bios", "machine.bios", "Firmware", "{}"),
)


def drafts_of(looked: Looked) -> list[Named]:
    """What each source says of the machine, in the words of uploads, by the source's name."""
    found: list[Named] = []
    for same in FORMATS:
        for source, parse in same:
            draft = _parse(source, parse, looked)
            if draft is not None:
                found.append((source, draft))
                break
    return _one_hypervisor([*found, *_from_kernel(looked)], looked)


def _parse(source: str, parse: Parse, looked: Looked) -> Draft | None:
    """A draft, None where the source said nothing or what is no output of the tool."""
    if source not in looked:
        return None
    try:
        return parse(File(source, looked[source].encode()))
    except BundleError:
        return None


def _from_kernel(looked: Looked) -> list[Named]:
    """What the kernel knows of the firmware, for everybody to read."""
    names = {"maker": "sys_vendor", "product": "product_name", "bios": "bios_version"}
    told = {name: clean(looked.get(f"{DMI}/{file}", "")) for name, file in names.items()}
    facts = {name: Fact(text) for name, text in told.items() if text}
    setup = {"bios.version": facts["bios"]} if "bios" in facts else {}
    return [(DMI, Draft(facts=facts, setup=setup))] if facts else []


def _one_hypervisor(drafts: list[Named], looked: Looked) -> list[Named]:
    """Tools call one hypervisor by several names: the first counts."""
    told = next((str(d.facts["virtual"].value) for _, d in drafts if "virtual" in d.facts), "")
    name = state.virtual_of(looked, told)
    plain = [
        (source, replace(draft, facts={k: v for k, v in draft.facts.items() if k != "virtual"}))
        for source, draft in drafts
    ]
    return [*plain, (state.VIRT, Draft(facts={"virtual": Fact(name)}))] if name else plain


def facts_of(looked: Looked) -> Facts:
    """The machine's facts, every one of which may be missing."""
    drafts = drafts_of(looked)
    sheet = Sheet()
    every = topology.cpus_of(looked)
    cpus = topology.usable(looked, every)
    caches = topology.caches_of(looked)
    virtual = _text(drafts, "virtual")
    _say_machine(sheet, drafts)
    _say_board(sheet, looked)
    state.say_virtual(sheet, looked, virtual)
    topology.say_smt(sheet, looked, every)
    topology.say_topology(sheet, looked, every)
    topology.say_caches(sheet, caches)
    if not caches:
        _say_llc(sheet, drafts)
    _say_quota(sheet, looked)
    state.say_state(sheet, looked)
    memory.say_memory(sheet, looked)
    software.say_software(sheet, looked)
    return Facts(
        cpus=cpus,
        nodes=topology.usable_nodes(looked, topology.nodes_of(looked), cpus),
        processor=_processor(drafts)[0],
        arch=clean(looked.get("uname -m", "")),
        llc_mib=topology.llc_mib(caches) or _llc_told(drafts),
        l1d_kib=topology.l1d_kib(caches) or _number(drafts, "l1d_kb"),
        memory_gib=memory.memory_gib(looked),
        smt=topology.smt_of(looked, every),
        governor=state.governor_of(looked),
        thp=memory.thp_of(looked),
        huge_pages_2m=memory.free_pages_2m(looked),
        virtual=virtual,
        setup=sheet.setup,
        details=tuple(sheet.details),
    )


def _say_machine(sheet: Sheet, drafts: Sequence[Named]) -> None:
    """What the formats say, each with the tool that said it first."""
    for fact, name, label, form in TOLD:
        value, source = _processor(drafts) if fact == "processor" else _told(drafts, fact)
        sheet.say(name, label, form.format(value) if value else "", source)
    size, source = _told(drafts, "memory_gb")
    if size:
        sheet.say("memory.installed", "Installed", gib_words(float(size)), source)
    for _source, draft in drafts:
        if "bios.version" in draft.setup:
            sheet.setup.setdefault("bios.version", clean(str(draft.setup["bios.version"].value)))


def _say_board(sheet: Sheet, looked: Looked) -> None:
    names = (clean(looked.get(f"{DMI}/{name}", "")) for name in ("board_vendor", "board_name"))
    sheet.say("machine.board", "Board", " ".join(name for name in names if name), DMI)


def _say_quota(sheet: Sheet, looked: Looked) -> None:
    quota = memory.cpu_quota(looked)
    if quota is not None:
        source = "CPU quota of the control group"
        sheet.say("cpu.quota", "CPU time", f"that of {quota:.4g} CPUs", source)


def _told(drafts: Sequence[Named], fact: str) -> tuple[str, str]:
    """The first that is said of a fact, and who says it; two empty texts where none does."""
    for source, draft in drafts:
        if fact in draft.facts:
            return str(draft.facts[fact].value), source
    return "", ""


def _text(drafts: Sequence[Named], fact: str) -> str:
    return _told(drafts, fact)[0]


def _number(drafts: Sequence[Named], fact: str) -> float | None:
    text = _text(drafts, fact)
    return float(text) if text else None


def _processor(drafts: Sequence[Named]) -> tuple[str, str]:
    """The processor's name; that of its cores' design only where nothing else is said."""
    named = [(d.facts["processor"].value, s) for s, d in drafts if "processor" in d.facts]
    told = [(str(value), source) for value, source in named]
    better = [pair for pair in told if not DESIGNS.match(pair[0])]
    return next(iter(better or told), ("", ""))


def _say_llc(sheet: Sheet, drafts: Sequence[Named]) -> None:
    told = _llc_told(drafts)
    words = kib_words(told * 1024) if told else ""
    sheet.say("cpu.llc", "Last-level caches in all", words, _told(drafts, "l3_mb")[1])


def _llc_told(drafts: Sequence[Named]) -> float | None:
    """All level 3 caches by what lscpu says of a socket's."""
    each, sockets = _number(drafts, "l3_mb"), _number(drafts, "sockets")
    return each * sockets if each and sockets else None
