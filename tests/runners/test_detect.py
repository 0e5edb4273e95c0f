"""What is read of what machines said: kept outputs, and machines written by hand."""

from __future__ import annotations

import json

import pytest

from results.intake.machine import merge
from runners.detect import drafts_of, facts_of
from runners.detect.memory import cpu_quota, memory_gib
from runners.detect.software import (
    compiler_words,
    glibc_version,
    java_words,
    mpi_words,
    pretty_name,
    python_version,
)
from runners.detect.words import clean, listed, spans
from runners.machine import Cpu, Facts, Node
from tests.runners import machines

GROUPS = "/sys/fs/cgroup"


def told(facts: Facts) -> dict[str, tuple[str, str]]:
    """Values and sources by name."""
    return {detail.name: (detail.value, detail.source) for detail in facts.details}


# Machines


def test_a_small_virtual_machine_is_read() -> None:
    facts = facts_of(machines.small())
    assert facts.cpus == (Cpu(0, 0), Cpu(1, 1))
    assert facts.nodes == (Node(0, 18.09, (0, 1)),)
    assert (facts.processor, facts.arch) == ("AMD EPYC", "x86_64")
    assert (facts.llc_mib, facts.l1d_kib, facts.memory_gib) == (32.0, 48.0, 23.54)
    assert (facts.smt, facts.thp, facts.governor) == ("off", "madvise", "")
    assert facts.huge_pages_2m is None
    assert facts.setup == {
        "os": "Debian GNU/Linux 12 (bookworm)",
        "kernel": "6.18.44",
        "compiler": "GCC 12.2.0",
        "glibc": "2.36",
        "huge_pages": "THP madvise",
        "microcode": "0x1000065",
        "numa_nodes": "1",
        "virtual": "KVM",
    }


def test_tools_that_disagree_on_virtualisation_are_both_shown() -> None:
    facts = facts_of(machines.small())
    assert facts.virtual == "KVM"
    assert told(facts)["machine.hypervisor"] == ("KVM, full", "lscpu")
    assert told(facts)["machine.virtual"] == ("KVM", "systemd-detect-virt --vm")
    assert told(facts)["machine.container"] == ("docker", "systemd-detect-virt --container")
    only = facts_of({"systemd-detect-virt --vm": "vmware"})
    assert only.virtual == "VMware"
    none = facts_of({**machines.large(), "systemd-detect-virt --vm": "none\n"})
    assert none.virtual == ""
    assert told(none)["machine.virtual"][0] == "no"
    assert "virtual" not in none.setup


def test_a_machine_with_two_sockets_is_read() -> None:
    facts = facts_of(machines.large())
    assert (facts.threads, facts.cores, facts.sockets) == (128, 64, 2)
    assert facts.cpus[96] == Cpu(96, 32, 1, 4)
    assert len(facts.nodes) == 8
    assert facts.nodes[4] == Node(4, 94.0, (*range(32, 40), *range(96, 104)))
    assert facts.processor == "AMD EPYC 9354 32-Core Processor"
    assert (facts.llc_mib, facts.l1d_kib) == (512.0, 32.0)
    assert (facts.smt, facts.governor, facts.thp) == ("on", "performance", "always")
    assert facts.huge_pages_2m == 480
    assert facts.virtual == ""
    assert facts.setup == {
        "bios.version": "1.8.5",
        "governor": "performance",
        "huge_pages": "THP always, 512 × 2 MiB reserved",
        "microcode": "0xa101148",
        "mitigations": "off",
        "numa_nodes": "8",
    }
    shown = told(facts)
    assert shown["memory.installed"] == ("768 GiB", "dmidecode")
    assert shown["memory.type"] == ("DDR5", "dmidecode")
    assert shown["memory.speed"] == ("4800 MT/s", "dmidecode")
    assert shown["memory.swap"] == ("8 GiB, 1 GiB used", "/proc/meminfo")
    assert shown["machine.board"][0] == "Example Systems X1"
    assert shown["cpu.boost"][0] == "on"
    assert shown["cpu.l3"][0] == "16 × 32 MiB"
    assert shown["cpu.l1i"][0] == "64 × 32 KiB"
    assert shown["numa.node4"][0] == "CPUs 32-39,96-103, 94 GiB"


def test_an_arm_machine_is_read_and_named_by_its_processor() -> None:
    facts = facts_of(machines.arm())
    assert (facts.threads, facts.cores, facts.sockets) == (72, 72, 1)
    assert (facts.processor, facts.arch, facts.smt) == ("Grace A02", "aarch64", "off")
    assert (facts.llc_mib, facts.l1d_kib) == (114.0, 64.0)
    assert facts.nodes == (Node(0, 478.0, tuple(range(72))), Node(1, 96.0))
    assert facts.memory_gib is None


def test_a_machine_that_says_nothing_has_no_facts() -> None:
    assert facts_of({}) == Facts()
    assert drafts_of({}) == []


def test_facts_can_be_kept_and_read_again() -> None:
    facts = facts_of(machines.large())
    assert Facts.of(json.loads(json.dumps(facts.as_json()))) == facts


def test_what_is_kept_is_read_of_each_tool_once() -> None:
    machine = merge(drafts_of(machines.small()))
    assert machine.contradictions == []
    assert machine.get("virtual") == "KVM"
    # What the kernel counts now and what numactl counted are no two machines.
    assert machine.get("memory_total_gb") == 23.5


def test_nothing_that_identifies_is_kept() -> None:
    looked = machines.large()
    looked["uname -a"] = "Linux secret-name 6.8.0-138 #1 SMP x86_64 GNU/Linux"
    looked["mpirun --version"] = f"mpirun (Open MPI) 4.1.6\n{machines.MAC}"
    text = json.dumps(facts_of(looked).as_json())
    for secret in (machines.SERIAL, machines.UUID, machines.MAC, "secret-name", "root="):
        assert secret not in text
    assert "Open MPI 4.1.6" in text


# Parts of a machine


def test_only_what_this_process_may_use_counts() -> None:
    looked = machines.large()
    looked["/proc/self/status"] = "Name:\tx\nCpus_allowed_list:\t0-1,64\nMems_allowed_list:\t0-1\n"
    facts = facts_of(looked)
    assert [cpu.number for cpu in facts.cpus] == [0, 1, 64]
    assert (facts.threads, facts.cores, facts.sockets) == (3, 2, 1)
    assert [node.number for node in facts.nodes] == [0, 1]
    assert facts.nodes[0].cpus == (0, 1, 64)
    assert facts.nodes[1].cpus == ()
    assert told(facts)["cpu.usable"][0] == "3 of 128 (0-1,64)"
    assert facts.smt == "on"
    assert facts.llc_mib == 512.0


@pytest.mark.parametrize(
    ("files", "gib", "cpus"),
    [
        ({}, 23.54, None),
        ({"memory.max": "max\n", "cpu.max": "max 100000\n"}, 23.54, None),
        ({"memory.max": str(2 * 2**30), "cpu.max": "150000 100000"}, 2.0, 1.5),
        ({"a/b/memory.max": str(4 * 2**30), "a/memory.max": str(3 * 2**30)}, 3.0, None),
        ({"memory/memory.limit_in_bytes": "9223372036854771712"}, 23.54, None),
        ({"memory/x/memory.limit_in_bytes": str(2**30)}, 1.0, None),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 23.54, None),
        ({"cpu/cpu.cfs_quota_us": "50000", "cpu/cpu.cfs_period_us": "100000"}, 23.54, 0.5),
    ],
)
def test_limits_of_control_groups_count(
    files: dict[str, str], gib: float, cpus: float | None
) -> None:
    looked = {**machines.small(), **{f"{GROUPS}/{name}": text for name, text in files.items()}}
    assert memory_gib(looked) == gib
    assert cpu_quota(looked) == cpus
    shown = told(facts_of(looked))
    assert ("memory.limit" in shown) == (gib != 23.54)
    assert ("cpu.quota" in shown) == (cpus is not None)


def test_last_level_caches_of_several_kinds_are_all_counted() -> None:
    looked = {
        **machines.cache(0, 2, "2 Unified 2M", "0-1"),
        **machines.cache(1, 2, "2 Unified 2M", "0-1"),
        **machines.cache(2, 2, "2 Unified 1M", "2"),
        **machines.cache(2, 3, "3 Unified 8M", "2"),
        **machines.cache(3, 0, "1 Instruction 64K", "3"),
    }
    assert facts_of(looked).llc_mib == 10.0


def test_without_the_kernels_files_lscpu_tells_of_caches() -> None:
    facts = facts_of({"lscpu": machines.LSCPU})
    assert (facts.llc_mib, facts.l1d_kib) == (512.0, 32.0)
    assert told(facts)["cpu.llc"] == ("512 MiB", "lscpu")


def test_nodes_come_of_numactl_where_the_kernel_shows_none() -> None:
    text = "available: 2 nodes (0-1)\nnode 0 cpus: 0 1\nnode 0 size: 2048 MB\nnode 1 cpus:\n"
    facts = facts_of({"numactl -H": text + "node 1 size: 1024 MB\n"})
    assert facts.nodes == (Node(0, 2.0, ()), Node(1, 1.0, ()))
    assert told(facts)["numa.nodes"] == ("2", "numactl -H")


@pytest.mark.parametrize(
    ("files", "word"),
    [
        ({"/proc/cmdline": "quiet mitigations=auto,nosmt\n"}, "auto,nosmt"),
        ({"/proc/cmdline": "quiet mitigations=auto"}, "on"),
        ({"/proc/cmdline": "x_mitigations=off"}, ""),
        ({f"{machines.CPU}/vulnerabilities/retbleed": "Mitigation: untrained"}, "on"),
        ({}, ""),
    ],
)
def test_mitigations_are_as_the_kernel_was_told(files: dict[str, str], word: str) -> None:
    assert facts_of(files).setup.get("mitigations", "") == word


def test_cpus_of_different_governors_are_said_to_be_so() -> None:
    looked = machines.large()
    looked[f"{machines.CPU}/cpu7/cpufreq/scaling_governor"] = "powersave"
    assert facts_of(looked).governor == "performance, powersave"


@pytest.mark.parametrize("text", ["\x00\xff", "{", "9" * 400, "-", "[" * 5_000, "Socket(s): x\n"])
def test_a_broken_source_takes_nothing_else_with_it(text: str) -> None:
    some = {name: said for name, said in machines.large().items() if "/cpu/cpu" not in name}
    whole = {**some, **machines.small()}
    for name in whole:
        facts = facts_of({**whole, name: text})
        json.dumps(facts.as_json(), allow_nan=False)
        assert facts.setup.get("kernel", "") == (clean(text) if name == "uname -r" else "6.18.44")
        assert all(len(detail.value) <= 200 for detail in facts.details)


# Words


def test_compilers_are_named_with_their_version() -> None:
    gcc = "gcc (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0\nCopyright (C) Free Software Foundation"
    assert compiler_words(gcc) == "GCC 13.3.0"
    assert compiler_words("gcc (GCC) 11.4.1 20231218 (Red Hat 11.4.1-3)") == "GCC 11.4.1"
    assert compiler_words("Debian clang version 14.0.6\nTarget: x86_64") == "Clang 14.0.6"
    assert compiler_words("tcc version 0.9.27") == ""
    assert compiler_words("cc: command failed") == ""


def test_software_is_named_as_published_setups_name_it() -> None:
    assert glibc_version("ldd (Ubuntu GLIBC 2.39-0ubuntu8.4) 2.39\nCopyright") == "2.39"
    assert glibc_version("musl libc (x86_64)") == ""
    assert mpi_words("mpirun (Open MPI) 4.1.4\n\nReport bugs") == "Open MPI 4.1.4"
    assert mpi_words("HYDRA build details:\n    Version:    4.0.2\n") == "MPICH 4.0.2"
    intel = "Intel(R) MPI Library for Linux* OS, Version 2021.11 Build 20231005"
    assert mpi_words(intel) == "Intel MPI 2021.11"
    assert java_words('openjdk version "17.0.15" 2025-04-15\n') == "OpenJDK 17.0.15"
    assert java_words('Picked up X\njava version "1.8.0_412"\n') == "Java 1.8.0_412"
    assert python_version("Python 3.11.7\n") == "3.11.7"
    assert pretty_name("NAME=Void\n") == "Void"


def test_lists_of_cpus_are_read_both_ways() -> None:
    assert listed("0-3,8\n") == (0, 1, 2, 3, 8)
    assert spans((8, 0, 1, 2, 3)) == "0-3,8"
    for odd in ("", "a", "0-", "0-99999", "1,,2", "-1"):
        assert listed(odd) == ()


def test_a_value_is_one_readable_line() -> None:
    assert clean(" a\n b\x1b[31m\u202e ") == "a b[31m"
    assert clean("To be filled by O.E.M.") == ""
