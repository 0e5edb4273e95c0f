"""The formats tried on outputs as others published them, where those are at hand."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from results.bundle import BundleError
from results.formats import formats, parse
from tests.results.format_files import OUTPUTS, SAMPLES, file, values

# What a right importer says of each; files that are not at hand are left out.
SYSTEMS: dict[str, dict[str, object]] = {
    "dmidecode/1_dell_r7625_epyc.txt": {
        "processor": "AMD EPYC 9534 64-Core Processor",
        "sockets": 2,
        "cores_per_socket": 64,
        "threads": 256,
        "memory_gb": 512,
        "memory_modules": 8,
        "memory_mts": 4800,
        "product": "PowerEdge R7625",
    },
    "dmidecode/2_hp_dl385p_opteron.txt": {
        "sockets": 1,
        "cores_per_socket": 8,
        "memory_gb": 32,
        "memory_modules": 2,
        "product": "ProLiant DL385p Gen8",
    },
    "dmidecode/4_memory_vm_only.txt": {"memory_gb": 8, "memory_modules": 2},
    "dmidecode/5_memory_physical.txt": {"memory_gb": 8, "memory_modules": 1},
    "lscpu/1_hybrid_arm_four_models.txt": {"threads": 8, "processor": None, "cores_per_socket": 8},
    "lscpu/2_epyc7451_two_sockets.txt": {
        "threads": 96,
        "sockets": 2,
        "cores_per_socket": 24,
        "threads_per_core": 2,
        "l1d_kb": 32,
        "l2_kb": 512,
        "l3_mb": 64,
        "numa_nodes": 8,
        "processor": "AMD EPYC 7451 24-Core Processor",
    },
    "lscpu/4_rv64_sg2042_numa.txt": {"threads": 64, "numa_nodes": 4, "processor": None},
    "lscpu/5_power7_one_core_16_sockets.txt": {
        "threads": 64,
        "sockets": 16,
        "cores_per_socket": 1,
        "threads_per_core": 4,
        "processor": "POWER7 (architected), altivec supported",
    },
    "lscpu/7_xeon_max_mhz_380.txt": {
        "threads": 28,
        "sockets": 2,
        "cores_per_socket": 7,
        "threads_per_core": 2,
        "max_ghz": None,
    },
    "lscpu/8_arm_without_model.txt": {"threads": 2, "processor": None, "isa": "arm64"},
}
RATES = {
    "stream/1_linux_4t.txt": (4, 268_435_456, 18514.5, 18333.8, 23043.7, 23314.0),
    "stream/2_windows_markdown_table.txt": (8, 320_000_000, 42890.7, 42678.9, 44234.6, 44512.3),
}
REFUSED = {
    "stream/4_msft_arm_variant.txt": "unknown STREAM variant",
    "stream/5_invalid_text.txt": "no kind that is known",
    "stream/7_knl_summary_only.dat": "no kind that is known",
}
# Folders of files that a format of this list may take; all others it must leave alone.
OWN = {
    "stream": {"stream"},
    "lscpu": {"lscpu", "system"},
    "lscpu_json": {"system"},
    "dmidecode": {"dmidecode", "system"},
    "cpuinfo": {"system"},
    "meminfo": {"system"},
    "numactl": {"system"},
    "uname": {"system"},
}


def at_hand(names: Iterable[str]) -> list[str]:
    return [name for name in names if (SAMPLES / name).exists()]


EVERY = sorted([*SAMPLES.glob("*/*"), *OUTPUTS.glob("*/*")])

# An empty list of parameters would be a skipped test; without samples there is none at all.
if at_hand(SYSTEMS):

    @pytest.mark.parametrize("name", at_hand(SYSTEMS))
    def test_a_published_description_is_read_right(name: str) -> None:
        found = values(file(SAMPLES / name))
        assert {key: found.get(key) for key in SYSTEMS[name]} == SYSTEMS[name]

    @pytest.mark.parametrize("name", at_hand(RATES))
    def test_a_published_stream_output_is_read_right(name: str) -> None:
        (run,) = parse(file(SAMPLES / name)).runs
        threads, elements, *rates = RATES[name]
        assert (run.parameters["threads"], run.parameters["array_elements"]) == (threads, elements)
        assert [reading.value for reading in run.readings] == rates

    @pytest.mark.parametrize("name", at_hand(REFUSED))
    def test_what_is_not_streams_output_is_refused(name: str) -> None:
        with pytest.raises(BundleError, match=REFUSED[name]):
            parse(file(SAMPLES / name))

    def test_an_implausible_clock_is_told() -> None:
        remarks = parse(file(SAMPLES / "lscpu/7_xeon_max_mhz_380.txt")).remarks
        assert any("380.0000" in remark.text and remark.line == 15 for remark in remarks)


if EVERY:

    @pytest.mark.parametrize("path", EVERY, ids=lambda path: f"{path.parent.name}/{path.name}")
    def test_no_format_takes_the_output_of_another_tool(path: Path) -> None:
        taken = [name for name in OWN if formats()[name].detect(file(path))]
        assert all(path.parent.name in OWN[name] for name in taken)
        assert len(taken) <= 1
