"""Parameters and normalisations that several benchmarks describe in the same way."""

from __future__ import annotations

from results.catalogue.base import Parameter, Role

# A rate can be shared out over what delivered it. "Peak" is the memory's, so only
# bandwidths that come from memory list it.
PER_RATE = ("core", "thread", "socket", "watt", "price")
PER_MEMORY_BANDWIDTH = ("core", "thread", "socket", "watt", "peak", "price")

PLACEMENT_WORDS = {
    "all": "own memory",
    "local": "local",
    "remote": "remote",
    "interleave": "interleaved",
    "local+remote": "local and remote",
}

ENGINES = {
    "mariadb": "MariaDB",
    "mysql": "MySQL",
    "postgresql": "PostgreSQL",
    "villagesql": "VillageSQL",
    "oracle": "Oracle",
    "mssqlserver": "SQL Server",
    "db2": "Db2",
    "clickhouse": "ClickHouse",
    "chdb": "chDB",
    "duckdb": "DuckDB",
}
DATASETS = {"15gb": "15 GB", "256gb": "256 GB", "3m_keys": "3 M keys"}


def engine() -> Parameter:
    """The database under test."""
    return Parameter("engine", "variant", label="Engine", words=ENGINES, phrase="{}")


def engine_version(role: Role, *, follows: str = "engine") -> Parameter:
    """The release of the program under test, or of the engine that it drives."""
    return Parameter("engine_version", role, label="Version", follows=follows, phrase="{}")


def dataset(role: Role, note: str = "") -> Parameter:
    """The data that the program worked on."""
    return Parameter("dataset", role, label="Data set", words=DATASETS, phrase="{}", note=note)


def fabric(note: str = "") -> Parameter:
    """The network between nodes: adapter and link speed."""
    words = {"hdr100": "HDR100"}
    return Parameter("fabric", "tracked", label="Fabric", words=words, phrase="{}", note=note)


def smt(role: Role) -> Parameter:
    """Simultaneous multithreading as set in the firmware or by the kernel."""
    return Parameter(
        "smt",
        role,
        label="SMT",
        choices=("off", "on"),
        words={"off": "SMT off", "on": "SMT on"},
    )


def sockets() -> Parameter:
    """How many sockets took part; the scope says what of them was loaded."""
    return Parameter(
        "sockets",
        "describes",
        "integer",
        label="Sockets",
        minimum=1,
        maximum=1024,
        phrase="{} sockets",
        words={"1": "1 socket"},
    )


def threads(role: Role) -> Parameter:
    """Worker threads, or "all" for every hardware thread of the system."""
    return Parameter(
        "threads",
        role,
        "integer",
        label="Threads",
        also=("all",),
        minimum=1,
        maximum=1_000_000,
        counts="threads",
        words={"1": "1 thread", "all": "all threads"},
        phrase="{} threads",
        implied={"thread": 1},
    )


def hw_threads() -> Parameter:
    """The number that "all" threads came to."""
    return Parameter(
        "hw_threads",
        "describes",
        "integer",
        label="Hardware threads",
        minimum=1,
        maximum=1_000_000,
        counts="threads",
        phrase="{} hardware threads",
    )
