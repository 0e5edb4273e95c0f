"""What lscpu, dmidecode, numactl, uname and /proc say of a machine, read by eye."""

from __future__ import annotations

import json

import pytest

from results.formats import detect, parse
from tests.results.format_files import DATA, ROOT, facts, file, made, refusal, remarks, values

LSCPU = (DATA / "system" / "lscpu.txt").read_text()
CPUINFO = (DATA / "system" / "cpuinfo.txt").read_text()
NUMACTL = (DATA / "system" / "numactl-H.txt").read_text()
OLD_LSCPU = """\
Architecture:          x86_64
CPU(s):                32
On-line CPU(s) list:   0-31
Thread(s) per core:    2
Core(s) per socket:    8
Socket(s):             2
NUMA node(s):          2
Vendor ID:             GenuineIntel
Model name:            Intel(R) Xeon(R) CPU E5-2640 v3 @ 2.60GHz
CPU max MHz:           3400,0000
L1d cache:             32K
L1i cache:             32K
L2 cache:              256K
L3 cache:              20480K
NUMA node0 CPU(s):     0-7,16-23
NUMA node1 CPU(s):     8-15,24-31
"""
NEW_LSCPU = """\
Architecture:            x86_64
CPU(s):                  224
  On-line CPU(s) list:   0-111
  Off-line CPU(s) list:  112-223
Vendor ID:               GenuineIntel
  Model name:            INTEL(R) XEON(R) PLATINUM 8570
    Thread(s) per core:  1
    Core(s) per socket:  56
    Socket(s):           2
    CPU max MHz:         4000.0000
Caches (sum of all):
  L1d:                   5.3 MiB (112 instances)
  L1i:                   3.5 MiB (112 instances)
  L2:                    224 MiB (112 instances)
  L3:                    600 MiB (2 instances)
NUMA:
  NUMA node(s):          1
  NUMA node0 CPU(s):     0-111
"""
GERMAN_LSCPU = """\
Architektur:                     x86_64
CPU Operationsmodus:             32-bit, 64-bit
CPU(s):                          8
Liste der Online-CPU(s):         0-7
Thread(s) pro Kern:              2
Kern(e) pro Socket:              4
Sockel:                          1
NUMA-Knoten:                     1
Modellname:                      Intel(R) Core(TM) i7
BogoMIPS:                        3999.93
L1d Cache:                       128 KiB
"""
ARM_LSCPU = """\
Architecture:            aarch64
CPU(s):                  72
  On-line CPU(s) list:   0-71
Vendor ID:               ARM
  BIOS Vendor ID:        NVIDIA
  Model name:            Neoverse-V2
    BIOS Model name:     Grace A02 CPU @ 3.4GHz
    Thread(s) per core:  1
    Core(s) per socket:  72
    Socket(s):           1
"""
DMIDECODE = """\
# dmidecode 3.5
Getting SMBIOS data from sysfs.

Handle 0x0000, DMI type 0, 26 bytes
BIOS Information
\tVendor: Example
\tVersion: 2.4.1

Handle 0x0001, DMI type 1, 27 bytes
System Information
\tManufacturer: Example Inc.
\tProduct Name: Rack 2
\tSerial Number: SECRET1
\tUUID: 00000000-0000-0000-0000-00000SECRET2

Handle 0x0004, DMI type 4, 48 bytes
Processor Information
\tType: Central Processor
\tManufacturer: Advanced Micro Devices, Inc.
\tVersion: AMD EPYC 9755 128-Core Processor
\tStatus: Populated, Enabled
\tSerial Number: SECRET3
\tCore Count: 128
\tCore Enabled: 64
\tThread Count: 128

Handle 0x0010, DMI type 16, 23 bytes
Physical Memory Array
\tUse: System Memory
\tNumber Of Devices: 2

Handle 0x0011, DMI type 17, 92 bytes
Memory Device
\tArray Handle: 0x0010
\tSize: 96 GB
\tType: DDR5
\tSerial Number: SECRET4
\tConfigured Memory Speed: 6400 MT/s
\tVolatile Size: 96 GB

Handle 0x0012, DMI type 17, 92 bytes
Memory Device
\tArray Handle: 0x0010
\tSize: No Module Installed
\tType: Unknown
"""


def test_lscpu_is_read_with_its_lines() -> None:
    assert facts(file("system/lscpu.txt")) == {
        "isa": ("x86-64", 1),
        "threads": (2, 5),
        "vendor": ("AMD", 7),
        "processor": ("AMD EPYC", 8),
        "threads_per_core": (1, 11),
        "cores_per_socket": (2, 12),
        "sockets": (1, 13),
        "virtual": ("KVM", 17),
        "l1d_kb": (32, 19),
        "l1i_kb": (32, 20),
        "l2_kb": (512, 21),
        "l3_mb": (32, 22),
        "numa_nodes": (1, 23),
    }


def test_lscpu_in_json_is_read_with_its_lines() -> None:
    assert facts(file("system/lscpu.json")) == {
        "isa": ("x86-64", 5),
        "threads": (2, 17),
        "vendor": ("AMD", 23),
        "processor": ("AMD EPYC", 26),
        "threads_per_core": (1, 35),
        "cores_per_socket": (2, 38),
        "sockets": (1, 41),
        "virtual": ("KVM", 53),
        "l1d_kb": (48, 59),
        "l1i_kb": (32, 62),
        "l2_kb": (1024, 65),
        "l3_mb": (32, 68),
        "numa_nodes": (1, 71),
    }


def test_old_sizes_of_caches_are_of_one_and_a_decimal_comma_is_read() -> None:
    draft = parse(made(OLD_LSCPU))
    found = values(made(OLD_LSCPU))
    assert (found["l1d_kb"], found["l2_kb"], found["l3_mb"]) == (32, 256, 20)
    assert (found["base_ghz"], found["max_ghz"]) == (2.6, 3.4)
    assert found["processor"] == "Intel(R) Xeon(R) CPU E5-2640 v3 @ 2.60GHz"
    assert not draft.remarks


def test_an_old_size_of_one_l3_says_nothing_of_a_socket_with_several() -> None:
    draft = parse(made(OLD_LSCPU.replace("GenuineIntel", "AuthenticAMD")))
    assert "l3_mb" not in draft.facts
    assert remarks(draft)[0][1] == 14


def test_new_sizes_of_caches_are_shared_out_and_their_rounding_undone() -> None:
    found = values(made(NEW_LSCPU))
    assert (found["l1d_kb"], found["l1i_kb"], found["l2_kb"], found["l3_mb"]) == (48, 32, 2048, 300)


def test_sums_without_their_number_are_shared_out_too() -> None:
    text = NEW_LSCPU.replace(" (112 instances)", "").replace(" (2 instances)", "")
    found = values(made(text))
    assert (found["l1d_kb"], found["l2_kb"], found["l3_mb"]) == (48, 2048, 300)


def test_caches_in_bytes_are_read() -> None:
    text = NEW_LSCPU.replace("224 MiB (112", "234881024 (112")
    assert values(made(text))["l2_kb"] == 2048


def test_off_line_cpus_do_not_count() -> None:
    draft = parse(made(NEW_LSCPU))
    assert draft.facts["threads"].value == 112
    assert remarks(draft) == [("some CPUs are off-line (112-223): 112 count", 4)]


def test_counts_that_contradict_each_other_are_told() -> None:
    draft = parse(made(OLD_LSCPU.replace("Socket(s):             2", "Socket(s):             1")))
    assert ("1 sockets × 8 cores × 2 threads are not 32 CPUs", 2) in remarks(draft)


def test_more_caches_than_cores_are_left_out() -> None:
    draft = parse(made(NEW_LSCPU.replace("224 MiB (112", "224 MiB (448")))
    assert "l2_kb" not in draft.facts
    assert ("448 L2 caches and 112 cores: their size is left out", 14) in remarks(draft)


def test_the_design_of_a_core_gives_way_to_the_firmwares_name() -> None:
    draft = parse(made(ARM_LSCPU))
    assert (draft.facts["processor"].value, draft.facts["processor"].line) == ("Grace A02", 7)
    assert not draft.remarks


def test_the_design_of_a_core_alone_is_told() -> None:
    draft = parse(made(ARM_LSCPU.replace("    BIOS Model", "    Other Model")))
    assert draft.facts["processor"].value == "Neoverse-V2"
    assert "design of a core" in draft.remarks[0].text


@pytest.mark.parametrize("name", ["-", "", "Unknown"])
def test_an_unknown_model_stays_missing(name: str) -> None:
    text = OLD_LSCPU.replace("Intel(R) Xeon(R) CPU E5-2640 v3 @ 2.60GHz", name)
    assert "processor" not in parse(made(text)).facts


def test_cores_of_several_kinds_are_summed_and_no_processor_is_named() -> None:
    kind = "Model name: {}\nThread(s) per core: 1\nCore(s) per socket: {}\nSocket(s): 1\n"
    text = "CPU(s): 12\nOn-line CPU(s) list: 0-11\n" + kind.format("Big", 4) + kind.format("Wee", 8)
    draft = parse(made(text))
    assert {name: fact.value for name, fact in draft.facts.items()} == {
        "threads": 12,
        "sockets": 1,
        "cores_per_socket": 12,
        "threads_per_core": 1,
    }
    assert "(Big, Wee)" in draft.remarks[0].text


def test_a_clock_that_no_server_has_is_left_out_and_told() -> None:
    draft = parse(made(NEW_LSCPU.replace("4000.0000", "400.0000")))
    assert "max_ghz" not in draft.facts
    assert ("'CPU max MHz' is 400.0000, which no server has: left out", 10) in remarks(draft)


def test_a_translated_lscpu_is_refused_with_advice() -> None:
    problem = refusal(made(GERMAN_LSCPU), by="lscpu")
    assert (problem.line, problem.expected) == (
        1,
        "the output of `LC_ALL=C lscpu`, which is in English",
    )


def test_a_cut_lscpu_is_refused() -> None:
    problem = refusal(made(LSCPU[: LSCPU.index("Socket(s)")]), by="lscpu")
    assert (problem.line, problem.expected) == (12, "a line 'Socket(s)': the output is cut")


def test_an_lscpu_cut_within_a_number_claims_nothing_of_it() -> None:
    cut = values(made(NEW_LSCPU[: NEW_LSCPU.index("00.0000")]))
    assert "max_ghz" not in cut
    assert "numa_nodes" not in values(made(NEW_LSCPU[: NEW_LSCPU.index("NUMA node0")]))


def test_a_count_that_is_none_is_refused_at_its_line() -> None:
    problem = refusal(
        made(OLD_LSCPU.replace("Socket(s):             2", "Socket(s): 0")), by="lscpu"
    )
    assert (problem.line, problem.found) == (6, "'0'")


def test_two_outputs_in_one_file_are_refused() -> None:
    problem = refusal(made(OLD_LSCPU + OLD_LSCPU), by="lscpu")
    assert (problem.line, problem.found) == (18, "a second line 'CPU(s)'")


def test_children_in_lscpus_json_are_read() -> None:
    children = [
        {"field": "Model name:", "data": "EPYC", "children": [{"field": "Socket(s):", "data": "2"}]}
    ]
    fields = [
        {
            "field": "CPU(s):",
            "data": "4",
            "children": [{"field": "On-line CPU(s) list:", "data": "0-3"}],
        },
        {"field": "Vendor ID:", "data": "AuthenticAMD", "children": children},
        {"field": "Vulnerabilities:", "data": None},
    ]
    found = values(made(json.dumps({"lscpu": fields}), "lscpu.json"))
    assert found == {"threads": 4, "sockets": 2, "vendor": "AMD", "processor": "EPYC"}


def test_a_cut_lscpu_in_json_is_refused_at_its_line() -> None:
    text = (DATA / "system" / "lscpu.json").read_text()
    problem = refusal(made(text[: text.index("Vendor ID")]), by="lscpu_json")
    assert (problem.line, problem.expected[:6]) == (22, "JSON (")


@pytest.mark.parametrize("name", ["lscpu-caches.json", "lscpu-e.txt"])
def test_tables_of_lscpu_are_not_taken_for_its_summary(name: str) -> None:
    assert detect(file(f"system/{name}")) is None


def test_meminfo_is_read_with_its_line() -> None:
    assert facts(file("system/meminfo.txt")) == {"memory_total_gb": (23.5, 1)}


@pytest.mark.parametrize("text", ["MemTotal:       246840", "MemTotal: 0 kB\n", "MemTotal: x kB\n"])
def test_a_cut_or_empty_meminfo_is_refused(text: str) -> None:
    assert refusal(made(text), by="meminfo").line == 1


def test_numactl_is_read_with_its_lines() -> None:
    found = facts(file("system/numactl-H.txt"))
    assert found == {"numa_nodes": (1, 1), "threads": (2, 2), "memory_total_gb": (18.1, 3)}


def test_a_cut_numactl_is_refused() -> None:
    text = NUMACTL.replace("available: 1 nodes (0)", "available: 2 nodes (0-1)")
    problem = refusal(made(text), by="numactl")
    assert (problem.line, problem.expected) == (7, "that of 2, and 'node distances:'")


def test_a_list_of_cpus_beyond_what_is_read_of_a_line_counts_nothing() -> None:
    text = NUMACTL.replace("cpus: 0 1", "cpus: " + " ".join(map(str, range(2000))))
    assert "threads" not in values(made(text))


def test_uname_is_read_without_the_hosts_name() -> None:
    draft = parse(file("system/uname.txt"))
    assert facts(file("system/uname.txt")) == {"isa": ("x86-64", 1)}
    assert [(k, f.value, f.line) for k, f in draft.setup.items()] == [("kernel", "6.18.44", 1)]


def test_the_page_on_adding_a_format_shows_this_one() -> None:
    page = (ROOT / "docs" / "adding-a-format.md").read_text(encoding="utf-8")
    assert (ROOT / "results" / "formats" / "uname.py").read_text(encoding="utf-8") in page


def test_a_distributions_kernel_is_read_whole() -> None:
    line = (
        "Linux h 6.8.0-31-generic #31-Ubuntu SMP Sat Apr 20 00:40:06 UTC 2024 aarch64 GNU/Linux\n"
    )
    assert parse(made(line)).setup["kernel"].value == "6.8.0-31-generic"
    assert values(made(line)) == {"isa": "arm64"}


def test_a_cut_uname_is_refused() -> None:
    assert refusal(made("Linux h 6.8.0-31-gene ric #31-Ubuntu SMP x86_6"), by="uname").line == 1


def test_cpuinfo_is_read_with_its_lines() -> None:
    assert facts(file("system/cpuinfo.txt")) == {
        "vendor": ("AMD", 2),
        "processor": ("AMD EPYC", 5),
        "sockets": (1, 10),
        "threads_per_core": (1, 11),
        "cores_per_socket": (2, 13),
        "isa": ("x86-64", 20),
        "threads": (2, 29),
    }
    assert remarks(parse(file("system/cpuinfo.txt")))[0][1] == 20


def test_a_cpuinfo_without_its_last_cpus_is_refused() -> None:
    first = CPUINFO[: CPUINFO.index("\n\n") + 2]
    problem = refusal(made(first), by="cpuinfo")
    assert (problem.line, problem.found, problem.expected[:14]) == (1, "1 CPUs", "1 sockets × 2:")


def test_a_cpuinfo_cut_within_its_last_cpu_is_refused() -> None:
    problem = refusal(made(CPUINFO[: CPUINFO.rindex("bugs")]), by="cpuinfo")
    assert (problem.line, problem.found) == (29, "a last block without 'bugs'")


def test_arms_cpuinfo_says_maker_and_instruction_set() -> None:
    cpu = "processor\t: {}\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x4e\nCPU architecture: 8\n\n"
    found = values(made(cpu.format(0) + cpu.format(1)))
    assert found == {"threads": 2, "vendor": "NVIDIA", "isa": "arm64"}


def test_dmidecode_is_read_with_its_lines() -> None:
    assert facts(made(DMIDECODE)) == {
        "bios": ("2.4.1", 7),
        "maker": ("Example Inc.", 11),
        "product": ("Rack 2", 12),
        "vendor": ("AMD", 19),
        "processor": ("AMD EPYC 9755 128-Core Processor", 20),
        "sockets": (1, 21),
        "cores_per_socket": (64, 24),
        "threads": (128, 25),
        "threads_per_core": (2, 25),
        "memory_gb": (96, 35),
        "memory_modules": (1, 35),
        "memory_type": ("DDR5", 36),
        "memory_mts": (6400, 38),
    }
    draft = parse(made(DMIDECODE))
    assert draft.setup["bios.version"].value == "2.4.1"
    assert remarks(draft) == [("64 of 128 cores of a socket are enabled", 24)]


def test_serial_numbers_are_not_read() -> None:
    assert "SECRET" not in repr(parse(made(DMIDECODE)))


def test_a_structure_that_stands_twice_counts_once() -> None:
    assert facts(made(DMIDECODE + "\n" + DMIDECODE)) == facts(made(DMIDECODE))


def test_a_socket_without_a_processor_does_not_count() -> None:
    empty = DMIDECODE[DMIDECODE.index("Handle 0x0004") : DMIDECODE.index("Handle 0x0010")]
    empty = empty.replace("0x0004", "0x0005").replace("Populated, Enabled", "Unpopulated")
    assert (
        values(made(DMIDECODE.replace("Handle 0x0010,", f"{empty}Handle 0x0010,")))["sockets"] == 1
    )


def test_dmidecode_that_saw_no_firmware_is_refused() -> None:
    problem = refusal(file("system/dmidecode.txt"), by="dmidecode")
    assert (problem.line, problem.found) == (3, "'/dev/mem: No such file or directory'")


def test_a_cut_dmidecode_is_refused() -> None:
    problem = refusal(made(DMIDECODE[: DMIDECODE.index("Handle 0x0012")]), by="dmidecode")
    assert problem.found == "1 memory devices before the end of the output"
    assert problem.expected == "2, as line 27 announces"


def test_a_guest_of_a_known_hypervisor_is_one() -> None:
    text = DMIDECODE.replace("Example Inc.", "QEMU")
    assert values(made(text))["virtual"] == "QEMU"
    assert "virtual" not in values(made(DMIDECODE))
