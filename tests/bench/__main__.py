"""`python -m tests.bench [--quick] [--only NAME]…`: measure, and print beside the budgets.

Ends with 0 whatever was found, and with 1 only where something could not be measured.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench import engine, ingesting, kernels, latency, pages, serving
from tests.bench.ingesting import Load
from tests.bench.remote import Remote
from tests.bench.report import Line, table
from tests.bench.sample import Shape

PARTS = {
    "pages": "Comparison of 6 systems × 40 metrics",
    "ingest": "Ingest of a bundle",
    "serving": "The server",
    "engine": "The engine around a benchmark",
    "kernels": "Our kernels beside the reference programs (STREAM_C=, TINYMEMBENCH=)",
}
# What needs stored measurements.
STORED = frozenset({"pages", "ingest", "serving"})


@dataclass(frozen=True)
class Plan:
    """How much is stored, and how often everything is measured."""

    shapes: Sequence[Shape]
    requests: int
    loads: Sequence[Load]
    servings: int
    engine: tuple[int, int]  # processes, runs in each


WHOLE, SPLIT = "ingest of whole runs", "ingest of runs of one measurement"
FULL = Plan(
    shapes=(Shape(10, 2), Shape(20, 100), Shape(100, 200)),
    requests=41,
    loads=(Load(WHOLE, 10, 20, split=False, rounds=9), Load(SPLIT, 10, 8, split=True, rounds=7)),
    servings=20,
    engine=(3, 15),
)
QUICK = Plan(
    shapes=(Shape(10, 2), Shape(12, 3)),
    requests=1,
    loads=(Load(WHOLE, 2, 1, split=False, rounds=1), Load(SPLIT, 2, 1, split=True, rounds=1)),
    servings=1,
    engine=(1, 2),
)


@dataclass
class Bench:
    """One run: databases in a folder that is gone afterwards, and a worker on each."""

    plan: Plan
    folder: Path
    stack: ExitStack
    empty: Remote = field(init=False)
    remotes: dict[int, Remote] = field(default_factory=dict)

    def fill(self) -> None:
        """Make a database of each size: copies of an empty one, then filled."""
        self.empty = self._start("empty")
        self.empty.ask("migrate")
        self.empty.ask("collect_static")
        migrated = Path(self.empty.ask("keep"))
        for shape in self.plan.shapes:
            start = time.monotonic()
            name = str(shape.measurements)
            self._folder(name)
            shutil.copyfile(migrated, self.folder / name / migrated.stem)
            remote = self._start(name)
            stored = remote.ask("make", systems=shape.systems, repeats=shape.repeats)
            self.remotes[stored] = remote
            tell(f"{stored:,} measurements stored in {time.monotonic() - start:.0f} s")

    def _start(self, name: str) -> Remote:
        return self.stack.enter_context(Remote(self._folder(name)))

    def _folder(self, name: str) -> Path:
        """A VAR of its own; the static files are everyone's."""
        var = self.folder / name
        if not var.exists():
            var.mkdir()
            (self.folder / "static").mkdir(exist_ok=True)
            (var / "static").symlink_to(self.folder / "static")
        return var

    def pages(self) -> list[Line]:
        return pages.measure(self.remotes, self.plan.requests)

    def ingest(self) -> list[Line]:
        stored, full = max(self.remotes.items())
        lines, first = [], 1
        for load in self.plan.loads:
            lines += ingesting.measure(self.empty, full, stored, load, first=first)
            first += load.rounds
        return lines

    def serving(self) -> list[Line]:
        """With the reference data beside what the largest database holds."""
        _, largest = max(self.remotes.items())
        serving.prepare(largest.var)
        with serving.served(largest.var) as (address, master):
            return [
                *serving.memory(address, master, self.plan.servings),
                *serving.page_size(address),
            ]

    def engine(self) -> list[Line]:
        """What the engine costs around a program that does nothing."""
        return engine.lines(engine.measure(*self.plan.engine))

    def kernels(self) -> list[Line]:
        """Each beside its reference program, where a path to one is given."""
        return [
            *kernels.stream_ratios(os.environ.get("STREAM_C")),
            *latency.latency_ratios(os.environ.get("TINYMEMBENCH")),
        ]


def tell(text: str) -> None:
    """Progress; the figures alone go to standard output."""
    print(text, file=sys.stderr, flush=True)


def run(plan: Plan, names: Sequence[str]) -> bool:
    """Measure the named parts and print each as it is done: whether all could be."""
    with tempfile.TemporaryDirectory(prefix="benchhub-bench-") as folder, ExitStack() as stack:
        bench = Bench(plan, Path(folder), stack)
        if STORED & set(names):
            bench.fill()
        parts: Mapping[str, Callable[[], list[Line]]] = {
            "pages": bench.pages,
            "ingest": bench.ingest,
            "serving": bench.serving,
            "engine": bench.engine,
            "kernels": bench.kernels,
        }
        measured = [_print(PARTS[name], parts[name]) for name in names]
    _print_load()
    return all(measured)


def _print_load() -> None:
    """Say it where others were using the machine: their work is then in the figures."""
    load, processors = os.getloadavg()[2], os.cpu_count() or 1
    if load > processors:
        print(f"The machine was busy: load {load:.1f} on {processors} processors.")


def _print(title: str, part: Callable[[], list[Line]]) -> bool:
    """Whether the part could be measured; what stopped it is told and does not stop the rest."""
    try:
        print(table(title, part()), end="\n\n", flush=True)
    except Exception:
        # One part's failure must not hide the others' figures.
        print(f"{title}\n  could not be measured\n", flush=True)
        tell(traceback.format_exc())
        return False
    return True


def main(argv: Sequence[str] | None = None) -> int:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes: does it all work?")
    parser.add_argument("--only", action="append", choices=PARTS, help="measure this part alone")
    options = parser.parse_args(argv)
    return 0 if run(QUICK if options.quick else FULL, options.only or list(PARTS)) else 1


if __name__ == "__main__":
    sys.exit(main())
