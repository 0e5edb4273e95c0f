"""Kernels in C of our own, compiled on the host that they measure.

A binary's name holds a digest of everything that it was made from: its source, the compiler,
the flags, the CPU that `native` stands for. So what is there is up to date, a host that changed
gets another, and one folder may serve hosts of several kinds.
"""

from __future__ import annotations

import hashlib
import platform
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from uuid import uuid4

from runners.benchmarks.base import Step

VERSION = "benchhub-1"
SOURCES = Path(__file__).parent
COMPILERS = ("cc", "gcc", "clang")
# What `native` stands for: of the first CPU that the kernel lists.
CPU_LINES = re.compile(
    r"(?m)^(?:vendor_id|cpu family|model|model name|stepping|flags|Features|isa"
    r"|CPU (?:implementer|architecture|variant|part))\s*:.*$"
)
# A plain loop must stay one: gcc makes a call of memcpy from the copy, whose stores bypass the
# caches where it sees fit, and clang may do the same.
PLAIN_LOOPS = {
    "GCC": ("-fno-tree-loop-distribute-patterns",),
    "Clang": ("-fno-builtin-memcpy", "-fno-builtin-memset"),
}
OPENMP_PROBE = "#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n"
NUMA_PROBE = "#include <numa.h>\nint main(void) { return numa_available() < -1; }\n"
STALE_S = 3600.0
_DONE: set[tuple[object, ...]] = set()


@dataclass(frozen=True)
class Compiler:
    """A C compiler: its file, its family and version in words, and how it names itself."""

    path: str
    family: str
    version: str
    says: str

    @property
    def words(self) -> str:
        """As a run's setup has it: "GCC 12.2.0"."""
        return f"{self.family} {self.version}"


@dataclass(frozen=True)
class Built:
    """A kernel's program and the steps that make it, none where it is there already."""

    path: str
    steps: tuple[Step, ...] = ()


def compiler() -> Compiler | None:
    """The C compiler of this host; None where there is none that works."""
    path = next((found for name in COMPILERS if (found := shutil.which(name))), None)
    return _known(path, Path(path).stat().st_mtime_ns) if path else None


def has_openmp(found: Compiler) -> bool:
    """Whether it compiles and links OpenMP."""
    return _compiles(found, OPENMP_PROBE, "-fopenmp")


def has_numa(found: Compiler) -> bool:
    """Whether libnuma and its header are there."""
    return _compiles(found, NUMA_PROBE, "-lnuma")


def flags(found: Compiler) -> tuple[str, ...]:
    """The flags that shape the code: what a run records."""
    arm = platform.machine() in {"aarch64", "arm64"}
    native = "-mcpu=native" if arm else "-march=native"
    return ("-O3", native, "-fopenmp", *PLAIN_LOOPS.get(found.family, ()))


def build(name: str, folder: str | Path) -> Built:
    """The kernel `name` in `folder`, and what is left to do for it.

    The steps compile to a name of their own and rename it: a half-made program is never
    found. Raises OSError where the folder cannot be made, LookupError without a compiler.
    """
    found = compiler()
    if found is None:
        raise LookupError("no C compiler: install gcc")
    folder = Path(folder).resolve()
    numa = ("-DBENCHHUB_NUMA",) if has_numa(found) else ()
    path = folder / f"{name}-{_digest(name, found, numa)}"
    if path.is_file():
        return Built(str(path))
    folder.mkdir(parents=True, exist_ok=True)
    return Built(str(path), tuple(_steps(name, path, found, numa)))


def build_all(folder: str | Path) -> list[str]:
    """Compiles every kernel that is not there; what went wrong in sentences, none if all is well.

    For the start of a host. Never raises: without kernels the rest works.
    """
    problems = []
    for source in sorted(SOURCES.glob("*.c")):
        try:
            for step in build(source.stem, folder).steps:
                _do(step)
        except (OSError, LookupError, subprocess.SubprocessError) as error:
            problems.append(f"The {source.stem} kernel was not compiled: {_told(error)}")
    _sweep(Path(folder))
    return problems


def _steps(name: str, path: Path, found: Compiler, numa: tuple[str, ...]) -> Iterator[Step]:
    """Compile beside, then rename."""
    beside = path.with_name(f".{path.name}.{uuid4().hex}")
    shaping = flags(found)
    recorded = f'-DBENCHHUB_FLAGS="{" ".join(shaping)}"'
    libraries = ("-lm", "-lnuma") if numa else ("-lm",)
    source = str(SOURCES / f"{name}.c")
    compile_ = (found.path, *shaping, *numa, recorded, source, "-o", str(beside), *libraries)
    yield Step("compile", compile_, time_limit_s=120.0, weight=0.1, measures=False)
    move = (shutil.which("mv") or "mv", "-f", "-T", str(beside), str(path))
    yield Step("install", move, time_limit_s=30.0, weight=0.0, measures=False)


def _digest(name: str, found: Compiler, numa: tuple[str, ...]) -> str:
    """Of all that the program is made from."""
    sources = [SOURCES / f"{name}.c", *sorted(SOURCES.glob("*.h"))]
    parts = [path.read_bytes() for path in sources]
    parts += [text.encode() for text in (found.says, *flags(found), *numa, _cpu())]
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "big") + part)
    return whole.hexdigest()[:16]


@cache
def _cpu() -> str:
    """What the kernel says of the first CPU's kind."""
    try:
        first = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor()
    return "\n".join(CPU_LINES.findall(first.partition("\n\n")[0]))


@cache
def _known(path: str, changed: int) -> Compiler | None:
    """The compiler of a file; asked again where the file changed, as updates do."""
    del changed
    try:
        said = subprocess.run(
            (path, "--version"), capture_output=True, timeout=20, check=True, text=True
        ).stdout
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    line = said.partition("\n")[0].strip()
    numbers = re.findall(r"(?<![\w.-])\d{1,3}(?:\.\d{1,3}){1,3}(?![\w.-])", line)
    family = "Clang" if "clang" in line.lower() else "GCC"
    version = (numbers[0] if family == "Clang" else numbers[-1]) if numbers else "of no version"
    return Compiler(path, family, version, said)


def _compiles(found: Compiler, source: str, *more: str) -> bool:
    """Whether a small program can be compiled and linked. Only a yes is remembered: what is
    missing may be installed while a worker lives."""
    asked = (found, source, more)
    if asked not in _DONE and _links(found, source, more):
        _DONE.add(asked)
    return asked in _DONE


def _links(found: Compiler, source: str, more: tuple[str, ...]) -> bool:
    try:
        with tempfile.TemporaryDirectory() as folder:
            command = (found.path, "-x", "c", "-", "-o", f"{folder}/probe", *more)
            subprocess.run(
                command, input=source, capture_output=True, timeout=60, text=True, check=True
            )
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def _do(step: Step) -> None:
    """One step here and now. Raises SubprocessError or OSError."""
    subprocess.run(
        step.argv,
        capture_output=True,
        timeout=step.time_limit_s,
        check=True,
        stdin=subprocess.DEVNULL,
    )


def _told(error: Exception) -> str:
    """The reason in one line: a compiler's first line of error, else the error's own words."""
    said = getattr(error, "stderr", None)
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else ""
    lines = [line for line in text.splitlines() if line.strip()]
    told = next((line for line in lines if "error" in line), lines[0] if lines else str(error))
    return told.strip()[:300]


def _sweep(folder: Path) -> None:
    """Half-made programs of compilations that were ended: none of an hour ago is still at work."""
    with suppress(OSError):
        for left in folder.glob(".*-*.*"):
            if time.time() - left.stat().st_mtime > STALE_S:
                left.unlink(missing_ok=True)
