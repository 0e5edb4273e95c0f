"""Memory latency by BenchHub's own kernel, which counts as tinymembench's single random read.

Source of the definition: https://github.com/ssvb/tinymembench
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping

from runners import kernels as compiled
from runners.benchmarks import placing
from runners.benchmarks.base import (
    Adapted,
    Bound,
    Check,
    Parameter,
    Plan,
    Preset,
    Runner,
    Step,
    Value,
    Values,
)
from runners.machine import Cpu, Facts

KERNEL, FORMAT = "latency", "benchhub_latency"
HUGE_PAGE = 2 * 2**20
# The review's buffer, far larger than what a core reaches of any cache.
BUFFER_GIB, LEAST_GIB, MOST_GIB = 1.0, 0.0625, 64.0
MEMORY_SHARE = 0.5
REPEATS, MOST_REPEATS = 10, 100
LOADS = 10_000_000
# Where a load takes longer, or filling a GiB does, the host runs into the time limit.
SLOWEST_LOAD_S, SLOWEST_FILL_S = 2e-6, 10.0
LARGE_CACHE_TIMES = 4
PROGRESS = re.compile(r"(?m)^Repeat (\d{1,4}) of (\d{1,4}):")
PAGES = {"4k": "4 KB pages", "2m": "2 MB pages"}
PLACED = {"local": "memory of its own socket", "remote": "memory of another"}


def check(facts: Facts) -> Check:
    """A C compiler; libnuma too where there is more than one node."""
    found = compiled.compiler()
    if found is None:
        return Check(ready=False, missing="a C compiler (install the packages gcc and libc6-dev)")
    missing = ""
    if len(facts.nodes) > 1 and not compiled.has_numa(found):
        missing = "libnuma (install the package libnuma-dev)"
    return Check(ready=not missing, version=found.words, missing=missing)


# --- what may be chosen ------------------------------------------------------------------------


def bounds(facts: Facts) -> dict[str, Bound]:
    """The widest of any choice; `within` narrows it for what was chosen."""
    placements = _placements(facts)
    buffers = (within({"placement": p, "page": "4k"}, facts) for p in placements.choices)
    return {
        "page": _pages(facts),
        "placement": placements,
        "buffer_gib": max((b["buffer_gib"] for b in buffers), key=lambda b: b.maximum or 0),
        "repeats": Bound(REPEATS, 1, MOST_REPEATS),
    }


def within(values: Values, facts: Facts) -> dict[str, Bound]:
    """The buffer, for memory of the node that a placement means, and for its pages."""
    memory, whose = _memory_gib(str(values["placement"]), facts)
    if memory is None:
        because = "how much memory there is, is not known"
        return {"buffer_gib": Bound(BUFFER_GIB, LEAST_GIB, BUFFER_GIB, because=because)}
    most, because = MEMORY_SHARE * memory, f"half of {memory:.4g} GiB of memory{whose}"
    reserved = _reserved_gib(facts)
    if values["page"] == "2m" and not _has_transparent(facts) and reserved < most:
        most, because = reserved, f"{reserved:.4g} GiB of 2 MB pages are reserved"
    if most > MOST_GIB:
        most, because = MOST_GIB, ""
    most = max(math.floor(most / LEAST_GIB) * LEAST_GIB, LEAST_GIB)
    return {"buffer_gib": Bound(min(BUFFER_GIB, most), LEAST_GIB, most, because=because)}


def _pages(facts: Facts) -> Bound:
    if _has_transparent(facts) or _reserved_gib(facts) >= LEAST_GIB:
        return Bound("2m", choices=("4k", "2m"))
    because = "transparent huge pages are off, and not enough 2 MB pages are reserved"
    return Bound("4k", choices=("4k",), because=because)


def _has_transparent(facts: Facts) -> bool:
    """Whether a program can ask for them. Where it is not known, the kernel will tell."""
    return facts.thp != "never"


def _reserved_gib(facts: Facts) -> float:
    return (facts.huge_pages_2m or 0) * HUGE_PAGE / 2**30


def _placements(facts: Facts) -> Bound:
    if placing.memory_nodes("remote", facts):
        return Bound("local", choices=tuple(PLACED))
    return Bound("local", choices=("local",), because="one NUMA node")


def _memory_gib(placement: str, facts: Facts) -> tuple[float | None, str]:
    """The memory that a buffer can have, as far as known, and whose it is in words."""
    cpu = _cpu(placement, facts)
    if len(facts.nodes) > 1 and cpu:
        number = _remote_node(facts) if placement == "remote" else cpu.node
        node = next((node for node in facts.nodes if node.number == number), None)
        if node and node.memory_gib:
            return min(node.memory_gib, facts.memory_gib or math.inf), f" of node {number}"
    return facts.memory_gib, ""


def _cpu(placement: str, facts: Facts) -> Cpu | None:
    """The first of the first socket; None where no CPU is known."""
    return next(iter(placing.home(placement, facts)), None)


def _remote_node(facts: Facts) -> int | None:
    """The first node whose memory is another's; None where there is but one."""
    return next((node.number for node in placing.memory_nodes("remote", facts)), None)


# --- what is run -------------------------------------------------------------------------------


def plan(values: Values, facts: Facts, kernels: str) -> Plan:
    """Compile where needed, then measure. Raises LookupError without a compiler."""
    built = compiled.build(KERNEL, kernels)
    cpu = _cpu(str(values["placement"]), facts)
    size = buffer_bytes(float(values["buffer_gib"]))
    repeats = int(values["repeats"])
    fill_s = size / 2**30 * SLOWEST_FILL_S
    measure = Step(
        name="measure",
        argv=(built.path, *_arguments(values, size, cpu, facts)),
        cpus=(cpu.number,) if cpu else None,
        time_limit_s=60 + fill_s + repeats * LOADS * SLOWEST_LOAD_S,
        progress=progress,
        finished="^Finished$",
    )
    return Plan(
        steps=(*built.steps, measure),
        output="measure",
        reads=FORMAT,
        scope="thread",
        shortest_s=0.2,
        remarks=tuple(_remarks(size, facts)),
    )


def buffer_bytes(gib: float) -> int:
    """Bytes of the buffer: whole pages of 2 MiB, at least one."""
    return max(int(gib * 2**30) // HUGE_PAGE, 1) * HUGE_PAGE


def _arguments(values: Values, size: int, cpu: Cpu | None, facts: Facts) -> Iterator[str]:
    yield f"--buffer-bytes={size}"
    yield f"--page={values['page']}"
    yield f"--placement={values['placement']}"
    if values["placement"] == "remote":
        yield f"--node={_remote_node(facts)}"
    yield f"--repeats={values['repeats']}"
    if cpu:
        yield f"--cpu={cpu.number}"


def _remarks(size: int, facts: Facts) -> Iterator[str]:
    """A buffer of which the caches hold a good part measures them too."""
    if facts.llc_mib and size < LARGE_CACHE_TIMES * facts.llc_mib * 2**20:
        times = size / (facts.llc_mib * 2**20)
        yield (
            f"The buffer is {times:.2g} times the last-level caches ({facts.llc_mib:.4g} MiB): "
            "some loads are answered by them, not by memory."
        )


def progress(tail: str) -> float | None:
    """The share of the repeats that are over, by the last that was printed."""
    found = PROGRESS.findall(tail)
    return min(int(found[-1][0]) / max(int(found[-1][1]), 1), 1.0) if found else None


# --- a stored run again ------------------------------------------------------------------------


def adapt(stored: Values, scope: str, facts: Facts) -> Adapted:
    """A stored run's parameters as this host can do them."""
    cannot: list[str] = []
    limits = bounds(facts)
    page = _page_again(stored, limits["page"], cannot)
    placement = _placement_again(stored, limits["placement"], cannot)
    limits |= within({"placement": placement, "page": page}, facts)
    values: dict[str, Value] = {
        "page": page,
        "placement": placement,
        "buffer_gib": _buffer_again(stored, limits["buffer_gib"], cannot),
    }
    repeats = stored.get("repeats")
    if isinstance(repeats, int):
        values["repeats"] = min(max(repeats, 1), MOST_REPEATS)
    threads = stored.get("threads", 1)
    if threads != 1 or scope != "thread":
        loaded = f"{threads} threads" if threads != 1 else f"Scope {scope}"
        cannot.append(f"{loaded}: a chain of loads is one thread's; 1 thread instead")
    return Adapted(values, tuple(cannot))


def _page_again(stored: Values, bound: Bound, cannot: list[str]) -> str:
    wanted = str(stored.get("page", bound.default))
    if wanted in bound.choices:
        return wanted
    instead = str(bound.default)
    because = bound.because if wanted in PAGES else "this runner has 4 KB and 2 MB pages"
    cannot.append(f"Pages of {wanted}: {because}; {PAGES[instead]} instead")
    return instead


def _placement_again(stored: Values, bound: Bound, cannot: list[str]) -> str:
    wanted = str(stored.get("placement", bound.default))
    if wanted in bound.choices:
        return wanted
    because = "this host has one NUMA node" if wanted in PLACED else "one thread has one memory"
    cannot.append(f"{_capital(wanted)} memory: {because}; its own socket's instead")
    return "local"


def _buffer_again(stored: Values, bound: Bound, cannot: list[str]) -> float:
    """The same size, else the nearest: other sizes are not ranked with it."""
    wanted = stored.get("buffer_gib")
    if not isinstance(wanted, int | float) or not 0 < wanted < math.inf:
        return float(bound.default)
    least, most = bound.minimum or LEAST_GIB, bound.maximum or BUFFER_GIB
    instead = min(max(float(wanted), least), most)
    if instead != wanted:
        because = "the least here" if wanted < least else bound.because or "the most here"
        text = f"A buffer of {wanted:.4g} GiB: {because}; {instead:.4g} GiB instead"
        cannot.append(f"{text}, which is not ranked with it")
    return instead


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]


PARAMETERS = (
    Parameter(
        "page",
        "choice",
        "Page size",
        help="Of the buffer's memory. Large pages need fewer look-ups of addresses.",
        words=PAGES,
    ),
    Parameter(
        "placement",
        "choice",
        "Placement",
        help="Whose memory the thread reads. It runs on the first CPU of the first socket.",
        words=PLACED,
    ),
    Parameter(
        "buffer_gib",
        "number",
        "Buffer",
        unit="GiB",
        help="In whole pages of 2 MiB. Only buffers of one size are ranked: 1 GiB is published.",
    ),
    Parameter("repeats", "integer", "Repeats", help="Ten million loads each; the best counts."),
)
REVIEW: Mapping[str, Value] = {"placement": "local", "buffer_gib": BUFFER_GIB, "repeats": REPEATS}
PRESETS = (
    Preset(
        "quick",
        "Quick",
        "3 repeats over the same buffer; some seconds. Good for a first look.",
        {"placement": "local", "buffer_gib": BUFFER_GIB, "repeats": 3},
    ),
    Preset(
        "standard",
        "Standard",
        "10 repeats over 1 GiB in 2 MB pages where the host has such, as the published figures;"
        " under a minute.",
        REVIEW,
    ),
    Preset(
        "standard-4k",
        "Standard, 4 KB pages",
        "As standard, in 4 KB pages; under a minute.",
        {**REVIEW, "page": "4k"},
    ),
)
RUNNER = Runner(
    benchmark="tinymembench",
    version=compiled.VERSION,
    parameters=PARAMETERS,
    presets=PRESETS,
    check=check,
    bounds=bounds,
    within=within,
    plan=plan,
    adapt=adapt,
)
