"""Memory bandwidth by BenchHub's own kernel, which follows the definition of STREAM.

Source of the definition and the rules: https://www.cs.virginia.edu/stream/
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

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

KERNEL, FORMAT = "bandwidth", "benchhub_bandwidth"
DOUBLE, LINE = 8, 8  # bytes of an element, elements of a cache line
MEMORY_SHARE, ARRAYS = 0.6, 3
LLC_TIMES = 4
# Smaller arrays would be over within milliseconds, and the caches that a virtual machine shows
# may be fewer than there are.
LEAST_DEFAULT_GIB, UNKNOWN_LLC_GIB = 0.5, 1.0
# Bytes that the four kernels move in a pass, for each element: 2 + 2 + 3 + 3 arrays.
MOVED = 10 * DOUBLE
SLOWEST = 0.5e9  # bytes a second; a host that is slower runs into the time limit
PASSES = 20
NOT_STREAMING = frozenset({"riscv64", "ppc64le", "s390x", "loongarch64"})
PROGRESS = re.compile(r"(?m)^Pass (\d{1,4}) of (\d{1,4}):")
PLACED = {
    "all": "all sockets, each its own memory",
    "local": "one socket, its own memory",
    "remote": "one socket, other memory",
    "interleave": "all sockets, pages of all nodes in turn",
}
POLICIES = {"os_auto": "Placed by the OS", "numactl": "Bound by numactl"}


def check(facts: Facts) -> Check:
    """A C compiler with OpenMP; libnuma too where there is more than one node."""
    found = compiled.compiler()
    if found is None:
        return Check(ready=False, missing="a C compiler (install the packages gcc and libc6-dev)")
    missing = []
    if not compiled.has_openmp(found):
        missing.append("OpenMP (install libgomp-dev or libomp-dev, or the package gcc)")
    if len(facts.nodes) > 1 and not compiled.has_numa(found):
        missing.append("libnuma (install the package libnuma-dev)")
    return Check(ready=not missing, version=found.words, missing=", ".join(missing))


# --- what may be chosen ------------------------------------------------------------------------


def bounds(facts: Facts) -> dict[str, Bound]:
    """As for all sockets; `within` narrows it for what was chosen."""
    stores = ("no",) if facts.arch in NOT_STREAMING else ("no", "yes")
    return {
        "placement": _placements(facts),
        "streaming_stores": Bound(
            "no", choices=stores, because="" if len(stores) > 1 else f"none on {facts.arch}"
        ),
        "ntimes": Bound(PASSES, 2, 1000),
        **within({"placement": "all"}, facts),
    }


def within(values: Values, facts: Facts) -> dict[str, Bound]:
    """Threads and array size for a placement: of the CPUs and nodes that it uses."""
    placement = str(values["placement"])
    cpus = placing.home(placement, facts)
    most = max(len(cpus), 1)
    where = "" if len(cpus) == len(facts.cpus) else ", those of one socket or node"
    return {
        "threads": Bound(
            max(len(facts.one_cpu_a_core(cpus)), 1),
            1,
            most,
            because=f"{_count(most, 'logical CPU')}{where}",
        ),
        "array_gib": _array(placement, facts),
    }


def _placements(facts: Facts) -> Bound:
    if len(placing.with_memory(facts)) > 1:
        return Bound("all", choices=tuple(PLACED))
    return Bound("all", choices=("all", "local"), because="one NUMA node")


def _array(placement: str, facts: Facts) -> Bound:
    """Up to a share of the memory; by default four times the caches, as the rules ask."""
    memory, wished = _memory_gib(placement, facts), wished_gib(facts)
    if memory is None:
        because = "how much memory there is, is not known"
        return Bound(wished, 0.001, wished, because=because)
    most = max(math.floor(1000 * memory * MEMORY_SHARE / ARRAYS) / 1000, 0.001)
    because = f"three arrays may take {MEMORY_SHARE * 100:.0f} % of {memory:.4g} GiB of memory"
    return Bound(min(wished, most), 0.001, most, because=f"{because}; {_caches(facts)}")


def wished_gib(facts: Facts) -> float:
    """The array's size by default, GiB, were memory without end."""
    if not facts.llc_mib:
        return UNKNOWN_LLC_GIB
    return max(LEAST_DEFAULT_GIB, math.ceil(1000 * LLC_TIMES * facts.llc_mib / 1024) / 1000)


def _memory_gib(placement: str, facts: Facts) -> float | None:
    """Memory of the nodes that a placement uses, as far as known."""
    nodes = [node.memory_gib for node in placing.memory_nodes(placement, facts)]
    known = [memory for memory in nodes if memory is not None]
    sums = [sum(known)] if known and len(known) == len(nodes) else []
    return min([*sums, *([facts.memory_gib] if facts.memory_gib else [])], default=None)


def _caches(facts: Facts) -> str:
    if not facts.llc_mib:
        return "how large the last-level caches are, is not known"
    least = LLC_TIMES * facts.llc_mib / 1024
    return f"4 times the last-level caches ({facts.llc_mib:.4g} MiB) are {least:.4g} GiB"


# --- what is run -------------------------------------------------------------------------------


def plan(values: Values, facts: Facts, kernels: str) -> Plan:
    """Compile where needed, then measure. Raises LookupError without a compiler."""
    built = compiled.build(KERNEL, kernels)
    placement, threads = str(values["placement"]), int(values["threads"])
    cpus = placing.chosen(placing.home(placement, facts), threads, facts)
    numbers = tuple(cpu.number for cpu in cpus)
    elements = elements_of(float(values["array_gib"]))
    measure = Step(
        name="measure",
        argv=(built.path, *_arguments(values, elements, facts)),
        env=_environment(threads, numbers),
        cpus=numbers or None,
        time_limit_s=120 + int(values["ntimes"]) * elements * MOVED / SLOWEST,
        progress=progress,
        finished="^Finished$",
    )
    return Plan(
        steps=(*built.steps, measure),
        output="measure",
        reads=FORMAT,
        scope=placing.scope_of(placement, cpus, facts) if cpus else None,
        parameters={**values, **_stands(placement, cpus, facts)},
        shortest_s=0.2,
        remarks=tuple(_remarks(elements, facts)),
    )


def elements_of(array_gib: float) -> int:
    """Elements of an array, whole cache lines."""
    return max(int(array_gib * 2**30) // (DOUBLE * LINE), LINE) * LINE


def _arguments(values: Values, elements: int, facts: Facts) -> Iterable[str]:
    placement = str(values["placement"])
    yield f"--elements={elements}"
    yield f"--threads={values['threads']}"
    yield f"--passes={values['ntimes']}"
    yield f"--placement={placement}"
    if placement in {"remote", "interleave"}:
        nodes = placing.memory_nodes(placement, facts)
        yield f"--nodes={','.join(str(node.number) for node in nodes)}"
    yield f"--stores={'streaming' if values['streaming_stores'] == 'yes' else 'plain'}"
    yield f"--llc-bytes={int((facts.llc_mib or 0) * 2**20)}"


def _environment(threads: int, cpus: tuple[int, ...]) -> dict[str, str]:
    """A thread on each CPU, in this order, and it stays there."""
    env = {"OMP_NUM_THREADS": str(threads), "OMP_DYNAMIC": "false", "OMP_PROC_BIND": "close"}
    if cpus:
        env["OMP_PLACES"] = ",".join(f"{{{cpu}}}" for cpu in cpus)
    return env


def _stands(placement: str, cpus: tuple[Cpu, ...], facts: Facts) -> dict[str, Value]:
    """What of the host the run stands for, by the catalogue's names."""
    found: dict[str, Value] = {}
    if facts.smt in {"on", "off"}:
        found["smt"] = facts.smt
    if not cpus:
        return found
    found["threads_per_core"] = placing.threads_per_core(cpus)
    found["sockets"] = len({cpu.socket for cpu in cpus})
    if placing.scope_of(placement, cpus, facts) == "cores":
        found["cores"] = len({(cpu.socket, cpu.core) for cpu in cpus})
    return found


def _remarks(elements: int, facts: Facts) -> Iterable[str]:
    """What of the rules is not met or not known."""
    if not facts.llc_mib:
        yield "The last-level caches' size is not known: the array may be too small for the rules."
    elif elements * DOUBLE < LLC_TIMES * facts.llc_mib * 2**20:
        times = elements * DOUBLE / (facts.llc_mib * 2**20)
        yield f"An array is {times:.2g} times the last-level caches; the rules ask for 4."


def progress(tail: str) -> float | None:
    """The share of the passes that are over, by the last that was printed."""
    found = PROGRESS.findall(tail)
    return min(int(found[-1][0]) / max(int(found[-1][1]), 1), 1.0) if found else None


# --- a stored run again ------------------------------------------------------------------------


def adapt(stored: Values, scope: str, facts: Facts) -> Adapted:
    """A stored run's parameters as this host can do them."""
    cannot: list[str] = []
    placement = _placement_again(stored, scope, facts, cannot)
    limits = {**bounds(facts), **within({"placement": placement}, facts)}
    threads = _threads_again(stored, scope, placement, facts, cannot)
    values: dict[str, Value] = {
        "placement": placement,
        "threads": threads,
        "array_gib": _array_again(stored, limits["array_gib"], placement, facts, cannot),
        "streaming_stores": _stores_again(stored, limits["streaming_stores"], cannot),
    }
    passes = _whole(stored.get("ntimes"))
    if passes is not None:
        values["ntimes"] = min(max(passes, 2), 1000)
    _name_the_rest(stored, scope, placement, facts, cannot)
    return Adapted(values, tuple(cannot))


def _placement_again(stored: Values, scope: str, facts: Facts, cannot: list[str]) -> str:
    usual = "local" if scope == "socket" else "all"
    wanted = str(stored.get("placement") or usual)
    possible = _placements(facts).choices
    if wanted in possible:
        return wanted
    instead = "all" if wanted == "interleave" or "local" not in possible else "local"
    what = {"remote": "Remote memory", "interleave": "Interleaved memory"}
    why = "this host has one NUMA node" if wanted in what else "no such placement here"
    cannot.append(f"{what.get(wanted, f'Placement {wanted}')}: {why}; {PLACED[instead]} instead")
    return instead


def _threads_again(
    stored: Values, scope: str, placement: str, facts: Facts, cannot: list[str]
) -> int:
    cpus = placing.home(placement, facts)
    cores, most = max(len(facts.one_cpu_a_core(cpus)), 1), max(len(cpus), 1)
    if scope == "thread":
        return 1
    given = [_whole(stored.get(name)) for name in ("threads", "omp_threads", "cores")]
    wanted = next((number for number in given if number), None)
    if wanted is None:
        return most if (_whole(stored.get("threads_per_core")) or 1) > 1 else cores
    if wanted > most:
        place = "this host has" if most == len(facts.cpus) else "that part of this host has"
        cannot.append(
            f"{_count(wanted, 'thread')}: {place} {_count(most, 'logical CPU')}; {most} instead"
        )
    return min(wanted, most)


def _array_again(
    stored: Values, bound: Bound, placement: str, facts: Facts, cannot: list[str]
) -> float:
    wanted = _positive(stored.get("array_gib"))
    if wanted is None:
        return float(bound.default)
    if bound.maximum is not None and wanted > bound.maximum:
        memory = _memory_gib(placement, facts)
        has = f"has {memory:.4g} GiB of memory" if memory else "does not say how much memory it has"
        cannot.append(f"{wanted:.4g} GiB arrays: this host {has}; {bound.default:.4g} GiB instead")
        return float(bound.default)
    return max(wanted, bound.minimum or 0.0)


def _stores_again(stored: Values, bound: Bound, cannot: list[str]) -> str:
    wanted = str(stored.get("streaming_stores") or "no")
    if wanted in bound.choices:
        return wanted
    cannot.append(f"Streaming stores ({wanted}): {bound.because or 'not known'}; plain instead")
    return "no"


def _name_the_rest(
    stored: Values, scope: str, placement: str, facts: Facts, cannot: list[str]
) -> None:
    """What no parameter of the runner can bring about."""
    if scope in {"cluster", "shard"}:
        cannot.append(f"Scope {scope}: this host alone instead")
    sockets = _whole(stored.get("sockets"))
    here = len({cpu.socket for cpu in placing.home(placement, facts)}) or 1
    known = scope == "thread" or (here == 1 and sockets is not None and sockets <= facts.sockets)
    if sockets and sockets != here and not known:
        has = _count(facts.sockets, "socket")
        instead = "that one instead" if here == 1 else f"all {here} instead"
        cannot.append(f"{_count(sockets, 'socket')}: this host has {has}; {instead}")
    smt = stored.get("smt")
    if smt in {"on", "off"} and facts.smt in {"on", "off"} and smt != facts.smt:
        cannot.append(f"SMT {smt}: it is {facts.smt} on this host, and stays so")
    per_socket = _whole(stored.get("nps"))
    if per_socket and facts.nodes and per_socket * facts.sockets != len(facts.nodes):
        cannot.append(f"NPS{per_socket}: this host has {_count(len(facts.nodes), 'NUMA node')}")
    policy = str(stored.get("policy") or "")
    if policy:
        words = POLICIES.get(policy, policy)
        cannot.append(f"{words}: here each thread is bound to a CPU instead")


def _whole(value: object) -> int | None:
    """A whole number above 0; None where it is none ("all")."""
    number = _positive(value)
    return int(number) if number is not None and number.is_integer() else None


def _positive(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 < value < 2**53 else None


def _count(number: int, what: str) -> str:
    """ "one socket", "2 sockets"."""
    return f"one {what}" if number == 1 else f"{number} {what}s"


PARAMETERS = (
    Parameter(
        "placement",
        "choice",
        "Placement",
        help="Whose memory the threads use.",
        words=PLACED,
    ),
    Parameter("threads", "integer", "Threads", help="One a core first, then the cores' others."),
    Parameter(
        "array_gib",
        "number",
        "Array",
        unit="GiB",
        help="Each of three. At least 4 times all last-level caches, else these help.",
    ),
    Parameter(
        "streaming_stores",
        "choice",
        "Streaming stores",
        help="Stores that bypass the caches: what is written is not read first.",
        words={"no": "no streaming stores", "yes": "streaming stores"},
    ),
    Parameter("ntimes", "integer", "Passes", help="The best counts, without the first."),
)
PRESETS: tuple[Preset, ...] = (
    Preset("quick", "Quick", "10 passes; a few seconds. Good for a first look.", {"ntimes": 10}),
    Preset(
        "standard",
        "Standard",
        "20 passes over arrays of at least 4 times all last-level caches, as the published rules"
        " ask; under a minute.",
        {"ntimes": PASSES, "streaming_stores": "no"},
    ),
    Preset(
        "streaming",
        "Streaming stores",
        "As standard, with stores that bypass the caches; under a minute.",
        {"ntimes": PASSES, "streaming_stores": "yes"},
    ),
)
RUNNER = Runner(
    benchmark="stream",
    version=compiled.VERSION,
    parameters=PARAMETERS,
    presets=PRESETS,
    check=check,
    bounds=bounds,
    within=within,
    plan=plan,
    adapt=adapt,
)
