"""How the processor is driven: clocks, microcode, mitigations; and the hypervisor below it."""

from __future__ import annotations

import re

from runners.detect.words import Looked, Sheet, clean, matching, row

CPUS = "/sys/devices/system/cpu"
CPUINFO, CMDLINE, LSCPU = "/proc/cpuinfo", "/proc/cmdline", "lscpu -J"
CLOCK = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
VIRT, CONTAINER = "systemd-detect-virt --vm", "systemd-detect-virt --container"
# As systemd names them.
HYPERVISORS = {
    "kvm": "KVM",
    "qemu": "QEMU",
    "vmware": "VMware",
    "microsoft": "Microsoft",
    "oracle": "VirtualBox",
    "xen": "Xen",
    "amazon": "Amazon",
    "google": "Google",
    "bhyve": "bhyve",
    "parallels": "Parallels",
}


def governor_of(looked: Looked) -> str:
    """The frequency governor; several where CPUs have different ones."""
    found = matching(looked, rf"{CPUS}/cpu\d+/cpufreq/scaling_governor")
    return ", ".join(sorted({clean(text) for _, text in found} - {""}))


def boost_of(looked: Looked) -> tuple[str, str]:
    """Whether clocks may rise above the base clock, and who says so."""
    source = f"{CPUS}/intel_pstate/no_turbo"
    word = {"0": "on", "1": "off"}.get(looked.get(source, "").strip(), "")
    if word:
        return word, source
    source = f"{CPUS}/cpufreq/boost"
    return {"1": "on", "0": "off"}.get(looked.get(source, "").strip(), ""), source


def microcode_of(looked: Looked) -> str:
    """The microcode's revision, where all CPUs have the same."""
    found = set(re.findall(r"(?m)^microcode\s*: (0x[0-9a-f]{1,16})\s*$", looked.get(CPUINFO, "")))
    return found.pop() if len(found) == 1 else ""


def mitigations_of(looked: Looked) -> tuple[str, str]:
    """ "on", "off", or what the kernel was told of them, and who says so.

    Of the kernel's command line only this word is read.
    """
    told = re.search(r"(?:^|\s)mitigations=([\w,]{1,60})(?:\s|$)", looked.get(CMDLINE, ""))
    if told and told[1] != "auto":
        return told[1], CMDLINE
    source = f"{CPUS}/vulnerabilities"
    is_told = any(name.startswith(f"{source}/") for name in looked)
    return ("on", source) if is_told else ("on" if told else "", CMDLINE)


def vulnerable_to(looked: Looked) -> list[str]:
    """What the kernel says this machine stands open to."""
    found = matching(looked, rf"{CPUS}/vulnerabilities/(\w+)")
    return sorted(match[1] for match, text in found if text.startswith("Vulnerable"))


def virtual_of(looked: Looked, told: str) -> str:
    """The hypervisor: `told` by lscpu or the firmware, else by systemd, else by the CPU's flags.

    They may disagree; each is shown with its source.
    """
    if told:
        return told
    word = looked.get(VIRT, "").strip()
    if word and word != "none":
        return HYPERVISORS.get(word, clean(word))
    flags = re.search(r"(?m)^flags\s*:.*\bhypervisor\b", looked.get(CPUINFO, ""))
    return "unknown hypervisor" if flags else ""


def say_state(sheet: Sheet, looked: Looked) -> None:
    """Clocks, microcode and mitigations, also as fields of a run's setup."""
    governor = governor_of(looked)
    sheet.say("cpu.governor", "Governor", governor, f"{CPUS}/cpu*/cpufreq")
    driver = f"{CPUS}/cpu0/cpufreq/scaling_driver"
    sheet.say("cpu.driver", "Frequency driver", looked.get(driver, ""), driver)
    sheet.say("cpu.boost", "Boost", *boost_of(looked))
    sheet.say("cpu.clock", "Clock source", looked.get(CLOCK, ""), CLOCK)
    sheet.say("cpu.microcode", "Microcode", microcode_of(looked), CPUINFO)
    sheet.say("cpu.mitigations", "Mitigations", *mitigations_of(looked))
    source = f"{CPUS}/vulnerabilities"
    sheet.say("cpu.vulnerable", "Vulnerable to", ", ".join(vulnerable_to(looked)), source)
    sheet.set("governor", governor)
    sheet.set("microcode", microcode_of(looked))
    sheet.set("mitigations", mitigations_of(looked)[0])


def say_virtual(sheet: Sheet, looked: Looked, virtual: str) -> None:
    """What each tool says of it, whether they agree or not."""
    text = looked.get("lscpu", "")
    vendor = row(text, "Hypervisor vendor") or row(text, "Hypervisor")
    kind = row(text, "Virtualization type")
    words = f"{vendor}, {kind}" if vendor and kind else vendor
    sheet.say("machine.hypervisor", "Hypervisor", words, "lscpu")
    for source, name, label in (
        (VIRT, "machine.virtual", "Virtual machine"),
        (CONTAINER, "machine.container", "Container"),
    ):
        word = looked.get(source, "").strip()
        # Of all that say nothing, here 'none' says something.
        sheet.say(name, label, "no" if word == "none" else HYPERVISORS.get(word, word), source)
    sheet.set("virtual", virtual)
