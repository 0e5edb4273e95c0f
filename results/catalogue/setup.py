"""Setup fields that many benchmarks track, under one name each."""

from __future__ import annotations

from collections.abc import Mapping

from results.catalogue.base import Tracked

OS = Tracked("os", "Operating system")
KERNEL = Tracked("kernel", "Kernel", depth=3)
COMPILER = Tracked("compiler", "Compiler", depth=3)
COMPILER_FLAGS = Tracked("compiler.flags", "Compiler flags")
LIBC = Tracked("glibc", "glibc", depth=2)
MPI = Tracked("mpi", "MPI", depth=3)
JDK = Tracked("jdk", "JDK", depth=3)
PYTHON = Tracked("python", "Python", depth=3)
BLAS = Tracked("blas", "BLAS library", depth=2)
BIOS_VERSION = Tracked("bios.version", "Firmware")
BIOS_PROFILE = Tracked("bios.profile", "BIOS profile")
BIOS_NPS = Tracked("bios.nps", "NUMA nodes per socket")
BIOS_DETERMINISM = Tracked("bios.determinism", "BIOS determinism")
GOVERNOR = Tracked("governor", "Frequency governor")
HUGE_PAGES = Tracked("huge_pages", "Huge pages")
MITIGATIONS = Tracked("mitigations", "CPU mitigations")
STORAGE_LINK = Tracked("storage.link", "SSD link")

# What the machine runs on whatever the program: every benchmark tracks these.
BASE = (
    OS,
    KERNEL,
    COMPILER,
    LIBC,
    BIOS_VERSION,
    BIOS_PROFILE,
    GOVERNOR,
    HUGE_PAGES,
    MITIGATIONS,
)

# What comes with a factor under test, by its name; a benchmark adds its own.
# - another system has another board, and so its own firmware; the operating system, the
#   BIOS profile and the drive's link are chosen by whoever set it up, and do not follow;
# - another distribution brings its kernel, C library and packaged tools;
# - another compiler understands other flags; the C library is the distribution's, and stays;
# - another kernel brings nothing: the rest of the software can stay as it was;
# - a BIOS profile is a bundle of settings, determinism among them.
FOLLOWS: Mapping[str, tuple[str, ...]] = {
    "system": ("bios.version",),
    "os": ("kernel", "glibc", "compiler", "mpi", "jdk", "python"),
    "compiler": ("compiler.flags",),
    "bios.profile": ("bios.determinism",),
}
