"""What machines say of themselves, by program and file: kept ones, and ones written here."""

from __future__ import annotations

from runners.detect.words import spans
from tests.results.format_files import DATA

CPU = "/sys/devices/system/cpu"
NODE = "/sys/devices/system/node"
SERIAL, UUID, MAC = "SN-77ABC123", "4c4c4544-0043-3510-8052-b4c04f4d3132", "52:54:00:ab:cd:ef"

LSCPU = """\
Architecture:            x86_64
CPU(s):                  128
On-line CPU(s) list:     0-127
Vendor ID:               AuthenticAMD
Model name:              AMD EPYC 9354 32-Core Processor
Thread(s) per core:      2
Core(s) per socket:      32
Socket(s):               2
CPU max MHz:             3800.0000
L1d cache:               2 MiB (64 instances)
L3 cache:                512 MiB (16 instances)
NUMA node(s):            8
"""
ARM_LSCPU = """\
Architecture:            aarch64
CPU(s):                  72
On-line CPU(s) list:     0-71
Vendor ID:               ARM
Model name:              Neoverse-V2
BIOS Vendor ID:          NVIDIA
BIOS Model name:         Grace A02
Thread(s) per core:      1
Core(s) per socket:      72
Socket(s):               1
"""
DMIDECODE = f"""\
# dmidecode 3.4
Handle 0x0000, DMI type 0, 26 bytes
BIOS Information
\tVersion: 1.8.5

Handle 0x0100, DMI type 1, 27 bytes
System Information
\tManufacturer: Example Systems
\tProduct Name: Rack 2
\tSerial Number: {SERIAL}
\tUUID: {UUID}

Handle 0x1000, DMI type 16, 23 bytes
Physical Memory Array
\tUse: System Memory
\tNumber Of Devices: 2

Handle 0x1100, DMI type 17, 92 bytes
Memory Device
\tArray Handle: 0x1000
\tSize: 384 GB
\tType: DDR5
\tSerial Number: {SERIAL}
\tConfigured Memory Speed: 4800 MT/s

Handle 0x1101, DMI type 17, 92 bytes
Memory Device
\tArray Handle: 0x1000
\tSize: 384 GB
\tType: DDR5
\tSerial Number: {SERIAL}
\tConfigured Memory Speed: 4800 MT/s

Handle 0x7F00, DMI type 127, 4 bytes
End Of Table
"""


def small() -> dict[str, str]:
    """A virtual machine of two cores, its outputs as they were kept."""
    kept = {
        "lscpu -J": "lscpu.json",
        "lscpu": "lscpu.txt",
        "/proc/cpuinfo": "cpuinfo.txt",
        "/proc/meminfo": "meminfo.txt",
        "numactl -H": "numactl-H.txt",
        "uname -a": "uname.txt",
        "dmidecode": "dmidecode.txt",
    }
    found = {name: (DATA / "system" / file).read_text("utf-8") for name, file in kept.items()}
    return {
        **found,
        "lscpu -p=CPU,CORE,SOCKET,NODE": "# CPU,Core,Socket,Node\n0,0,0,0\n1,1,0,0\n",
        "uname -r": "6.18.44\n",
        "uname -m": "x86_64\n",
        "systemd-detect-virt --vm": "kvm\n",
        "systemd-detect-virt --container": "docker\n",
        "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
        "/etc/os-release": 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n',
        "cc --version": "cc (Debian 12.2.0-14+deb12u1) 12.2.0\n",
        "ldd --version": "ldd (Debian GLIBC 2.36-9+deb12u10) 2.36\n",
        **cache(0, 0, "1 Data 48K", "0"),
        **cache(1, 0, "1 Data 48K", "1"),
        **cache(0, 3, "3 Unified 32768K", "0-1"),
        **cache(1, 3, "3 Unified 32768K", "0-1"),
    }


def large() -> dict[str, str]:
    """Two sockets, 64 cores with SMT, eight nodes, root may read the firmware."""
    said = {
        "lscpu": LSCPU,
        "uname -m": "x86_64",
        "dmidecode": DMIDECODE,
        "/proc/meminfo": "MemTotal: 791000000 kB\nMemFree: 1 kB\nSwapTotal: 8388608 kB\n"
        "SwapFree: 7340032 kB\n",
        "/proc/cmdline": f"root=UUID={UUID} mitigations=off quiet",
        "/proc/cpuinfo": "".join(
            f"processor\t: {n}\nmicrocode\t: 0xa101148\n\n" for n in range(128)
        ),
        f"{CPU}/smt/active": "1",
        f"{CPU}/smt/control": "on",
        f"{CPU}/cpufreq/boost": "1",
        "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages": "512",
        "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages": "500",
        "/sys/kernel/mm/hugepages/hugepages-2048kB/resv_hugepages": "20",
        "/sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never",
        "/sys/class/dmi/id/board_vendor": "Example Systems",
        "/sys/class/dmi/id/board_name": "X1",
    }
    for cpu in range(128):
        core = cpu % 64
        siblings, ccx = f"{core},{core + 64}", core // 4 * 4
        said[f"{CPU}/cpu{cpu}/topology/thread_siblings_list"] = siblings
        said[f"{CPU}/cpu{cpu}/topology/physical_package_id"] = str(core // 32)
        said[f"{CPU}/cpu{cpu}/cpufreq/scaling_governor"] = "performance\n"
        said |= cache(cpu, 0, "1 Data 32K", siblings)
        said |= cache(cpu, 1, "1 Instruction 32K", siblings)
        said |= cache(cpu, 3, "3 Unified 32768K", f"{ccx}-{ccx + 3},{ccx + 64}-{ccx + 67}")
    for node in range(8):
        first = node * 8
        cpus = [*range(first, first + 8), *range(first + 64, first + 72)]
        said[f"{NODE}/node{node}/cpulist"] = spans(cpus)
        said[f"{NODE}/node{node}/meminfo"] = f"Node {node} MemTotal:       98566144 kB"
    return said


def arm() -> dict[str, str]:
    """One socket of 72 Arm cores, a node of memory that has no CPU, no tool but lscpu."""
    said = {
        "lscpu": ARM_LSCPU,
        "uname -m": "aarch64",
        "lscpu -p=CPU,CORE,SOCKET,NODE": "".join(f"{n},{n},0,0\n" for n in range(72)),
        f"{CPU}/smt/active": "0",
        f"{CPU}/smt/control": "notimplemented",
        f"{NODE}/node0/cpulist": "0-71",
        f"{NODE}/node0/meminfo": "Node 0 MemTotal: 501219328 kB",
        f"{NODE}/node1/meminfo": "Node 1 MemTotal: 100663296 kB",
    }
    for cpu in range(72):
        said |= cache(cpu, 0, "1 Data 64K", str(cpu))
        said |= cache(cpu, 2, "2 Unified 1024K", str(cpu))
        said |= cache(cpu, 3, "3 Unified 116736K", "0-71")
    return said


def cache(cpu: int, index: int, words: str, shared: str) -> dict[str, str]:
    """The four files of a cache, as one CPU lists it: '3 Unified 32M'."""
    level, kind, size = words.split()
    folder = f"{CPU}/cpu{cpu}/cache/index{index}"
    return {
        f"{folder}/level": f"{level}\n",
        f"{folder}/type": f"{kind}\n",
        f"{folder}/size": f"{size}\n",
        f"{folder}/shared_cpu_list": f"{shared}\n",
    }
