"""Asks the machine: small programs with a time limit, files of the kernel. Nothing is read here.

What a program or file said is kept by its name, which is the source of what is read of it:
"lscpu -J", "/proc/meminfo". What is missing, fails, hangs or floods has said nothing.
"""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

ROOT = Path("/")
TIME_LIMIT_S = 3.0
MOST_BYTES = 4 * 2**20
AT_ONCE = 4
# Programs of the administrator are not on everybody's path.
SYSTEM_PATH = "/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin"


@dataclass(frozen=True)
class Command:
    """A program that only tells. `codes`: exit codes with which what it told counts;
    `errors`: it tells on its standard error."""

    argv: tuple[str, ...]
    codes: tuple[int, ...] = (0,)
    errors: bool = False

    @property
    def name(self) -> str:
        return " ".join(self.argv)


COMMANDS = (
    Command(("lscpu", "-J")),
    Command(("lscpu",)),
    Command(("lscpu", "-p=CPU,CORE,SOCKET,NODE")),
    Command(("numactl", "-H")),
    Command(("uname", "-a")),
    Command(("uname", "-r")),
    Command(("uname", "-m")),
    Command(("dmidecode",)),
    # 1 where there is none, which it says too.
    Command(("systemd-detect-virt", "--vm"), codes=(0, 1)),
    Command(("systemd-detect-virt", "--container"), codes=(0, 1)),
    Command(("cc", "--version")),
    Command(("gcc", "--version")),
    Command(("clang", "--version")),
    Command(("ldd", "--version")),
    Command(("mpirun", "--version")),
    Command(("java", "-version"), errors=True),
    Command(("python3", "--version")),
)
CPU = "sys/devices/system/cpu"
FILES = (
    "etc/os-release",
    "usr/lib/os-release",
    "proc/cmdline",
    "proc/cpuinfo",
    "proc/meminfo",
    "proc/self/status",
    f"{CPU}/cpu[0-9]*/topology/physical_package_id",
    f"{CPU}/cpu[0-9]*/topology/thread_siblings_list",
    *(
        f"{CPU}/cpu[0-9]*/cache/index[0-9]*/{name}"
        for name in ("level", "type", "size", "shared_cpu_list")
    ),
    f"{CPU}/cpu[0-9]*/cpufreq/scaling_governor",
    f"{CPU}/cpu0/cpufreq/scaling_driver",
    f"{CPU}/cpufreq/boost",
    f"{CPU}/intel_pstate/no_turbo",
    f"{CPU}/smt/active",
    f"{CPU}/smt/control",
    f"{CPU}/vulnerabilities/*",
    "sys/devices/system/node/node[0-9]*/cpulist",
    "sys/devices/system/node/node[0-9]*/meminfo",
    "sys/devices/system/clocksource/clocksource0/current_clocksource",
    "sys/kernel/mm/transparent_hugepage/enabled",
    *(
        f"sys/kernel/mm/hugepages/hugepages-*/{name}"
        for name in ("nr_hugepages", "free_hugepages", "resv_hugepages")
    ),
    # Not the serial numbers and UUIDs beside them.
    *(
        f"sys/class/dmi/id/{name}"
        for name in ("sys_vendor", "product_name", "board_vendor", "board_name", "bios_version")
    ),
)
LIMITS = {
    "memory": ("memory.max", "memory.limit_in_bytes"),
    "cpu": ("cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us"),
}


def gather(
    root: Path = ROOT,
    commands: Sequence[Command] = COMMANDS,
    *,
    time_limit_s: float = TIME_LIMIT_S,
) -> dict[str, str]:
    """What programs and files said, by their names. `root` is the folder that stands for /."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        told = pool.map(lambda command: ask(command, time_limit_s=time_limit_s), commands)
        found = {command.name: text for command, text in zip(commands, told, strict=True)}
    for path in _files(root):
        found[f"/{path.relative_to(root)}"] = read(path)
    return {name: text for name, text in found.items() if text.strip()}


def ask(command: Command, *, time_limit_s: float = TIME_LIMIT_S) -> str:
    """What a program tells; empty where it is missing, fails, or takes too long."""
    path = shutil.which(command.argv[0], path=_environment()["PATH"])
    if path is None:
        return ""
    end_s = time.monotonic() + time_limit_s
    try:
        process = subprocess.Popen(
            (path, *command.argv[1:]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if command.errors else subprocess.DEVNULL,
            env=_environment(),
            cwd="/",
            start_new_session=True,
        )
    except OSError:
        return ""
    data = _listen(process, end_s)
    if data is None or process.returncode not in command.codes:
        return ""
    return data.decode("utf-8", "replace").replace("\0", "")


def _environment() -> dict[str, str]:
    """In English, whoever started this; HOME, which some wrappers look into."""
    kept = {name: os.environ[name] for name in ("HOME",) if name in os.environ}
    path = f"{os.environ.get('PATH', '')}:{SYSTEM_PATH}".strip(":")
    return {**kept, "PATH": path, "LC_ALL": "C"}


def _listen(process: subprocess.Popen[bytes], end_s: float) -> bytes | None:
    """All that it writes until it ends; None, and it is killed with what it started, where it
    writes too much or takes too long."""
    with cast("IO[bytes]", process.stdout) as pipe:
        data = _read_pipe(pipe.fileno(), end_s)
    try:
        if data is not None:
            process.wait(max(end_s - time.monotonic(), 0.01))
            return data
    except subprocess.TimeoutExpired:
        pass
    # Whatever it started may hold the pipe; its group has its id, for it leads a session.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return None


def _read_pipe(pipe: int, end_s: float) -> bytes | None:
    """Up to the end of the pipe; None where that does not come in time, or too much does."""
    data = b""
    with selectors.DefaultSelector() as ready:
        ready.register(pipe, selectors.EVENT_READ)
        while len(data) <= MOST_BYTES:
            if not ready.select(max(end_s - time.monotonic(), 0)):
                return None
            piece = os.read(pipe, 65_536)
            if not piece:
                return data
            data += piece
    return None


def read(path: Path) -> str:
    """A file's text, empty where it cannot be read or is too long."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError:
        return ""
    text = data.decode("utf-8", "replace").replace("\0", " ")
    return text if len(data) <= MOST_BYTES else ""


def _files(root: Path) -> Iterator[Path]:
    for pattern in FILES:
        yield from sorted(root.glob(pattern))
    yield from _limit_files(root)


def _limit_files(root: Path) -> Iterator[Path]:
    """The limits of this process's control groups and of all above them.

    Version 2 has one tree, version 1 one for each controller. A container may show its own
    group as the top of the tree, and name a path that is not there.
    """
    top = root / "sys/fs/cgroup"
    for line in read(root / "proc/self/cgroup").splitlines():
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        for controller, names in LIMITS.items():
            if controllers and controller not in controllers.split(","):
                continue
            for tree in (top / controllers, top / controller) if controllers else (top,):
                yield from _up(tree, path, names)


def _up(tree: Path, path: str, names: Sequence[str]) -> Iterator[Path]:
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    for depth in range(len(parts), -1, -1):
        folder = tree.joinpath(*parts[:depth])
        yield from (folder / name for name in names if (folder / name).is_file())
