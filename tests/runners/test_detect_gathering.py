"""Asking the machine: real programs that hang, flood, fail or are missing, and its files."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from runners.detect import detect
from runners.detect.gathering import MOST_BYTES, Command, ask, gather
from runners.engine import processes

LIMIT_S = 0.5


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs before all others."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def tool(folder: Path, script: str) -> Command:
    """A program of that script."""
    path = folder / "probe-tool"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="ascii")
    path.chmod(0o755)
    return Command(("probe-tool",))


def ends(marker: Path) -> bool:
    """Whether the process whose id stands in the file is gone within a while."""
    number = int(marker.read_text())
    for _ in range(100):
        found = processes.look(number)
        if found is None or found.is_over:
            return True
        time.sleep(0.05)
    return False


def test_what_a_program_tells_is_taken(tools: Path) -> None:
    assert ask(tool(tools, 'echo "$LC_ALL"; echo no >&2')) == "C\n"


def test_a_program_that_is_missing_or_fails_has_said_nothing(tools: Path) -> None:
    assert ask(Command(("no-such-program-here",))) == ""
    failing = tool(tools, "echo something; exit 3")
    assert ask(failing) == ""
    assert ask(Command(failing.argv, codes=(0, 3))) == "something\n"
    (tools / "probe-tool").write_bytes(b"\x7fELF no program")
    assert ask(failing) == ""


def test_a_program_that_hangs_is_ended_with_its_children(tools: Path, tmp_path: Path) -> None:
    child = tmp_path / "child"
    hanging = tool(tools, f"echo early; sleep 60 & echo $! > {child}; wait")
    assert ask(hanging, time_limit_s=LIMIT_S) == ""
    assert ends(child)


def test_a_child_that_holds_the_output_open_does_not_hold_us(tools: Path, tmp_path: Path) -> None:
    child = tmp_path / "child"
    leaving = tool(tools, f"sleep 60 & echo $! > {child}; echo done; exit 0")
    assert ask(leaving, time_limit_s=LIMIT_S) == ""
    assert ends(child)


def test_a_program_that_closes_its_output_and_stays_is_ended(tools: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    assert ask(tool(tools, f"echo $$ > {own}; exec >&- 2>&-; sleep 60"), time_limit_s=LIMIT_S) == ""
    assert ends(own)


def test_a_program_that_floods_has_said_nothing(tools: Path) -> None:
    assert ask(tool(tools, "exec yes")) == ""
    assert len(ask(tool(tools, f"head -c {MOST_BYTES} /dev/zero | tr '\\0' x"))) == MOST_BYTES


def test_bytes_that_are_no_text_do_no_harm(tools: Path) -> None:
    assert ask(tool(tools, r"printf '\377\000A'")) == "\ufffdA"


def test_files_are_read_below_a_root(tmp_path: Path) -> None:
    files = {
        "proc/meminfo": "MemTotal: 1 kB",
        "proc/self/cgroup": "0::/a/b\n",
        "sys/fs/cgroup/memory.max": "max",
        "sys/fs/cgroup/a/b/memory.max": "1000",
        "sys/fs/cgroup/other/memory.max": "1",
        "sys/devices/system/cpu/cpu10/cache/index3/size": "32M",
        "sys/class/dmi/id/product_serial": "secret",
        "sys/class/dmi/id/product_uuid": "secret",
        "sys/class/dmi/id/product_name": "Box",
        "etc/os-release": " \n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="ascii")
    found = gather(tmp_path, ())
    assert found == {
        "/proc/meminfo": "MemTotal: 1 kB",
        "/sys/fs/cgroup/a/b/memory.max": "1000",
        "/sys/fs/cgroup/memory.max": "max",
        "/sys/devices/system/cpu/cpu10/cache/index3/size": "32M",
        "/sys/class/dmi/id/product_name": "Box",
    }


def test_groups_of_version_1_are_found_where_the_container_shows_them(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "5:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\nodd\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "2000",
        "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "5000",
        "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "10000",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="ascii")
    assert set(gather(tmp_path, ())) == {f"/{name}" for name in list(files)[1:]}


def test_this_machine_is_detected() -> None:
    facts = detect()
    assert {cpu.number for cpu in facts.cpus} == os.sched_getaffinity(0)
    assert facts.arch == os.uname().machine
    assert facts.setup["kernel"] == os.uname().release
    assert facts.memory_gib
    assert all(detail.source for detail in facts.details)
    assert os.uname().nodename not in {detail.value for detail in facts.details}
