"""pyperformance, Python programs. Source: https://pyperformance.readthedocs.io/"""

from __future__ import annotations

from results.catalogue.base import Benchmark, Metric, Parameter, Workload
from results.catalogue.setup import BASE, FOLLOWS
from results.catalogue.shared import threads

PROGRAMS = {
    "2to3": "Converting a Python 2 program",
    "async_tree_none": "A tree of asynchronous tasks that only wait for each other",
    "asyncio_tcp_ssl": "Sending data over TLS by asyncio",
    "chaos": "Drawing fractals, with many small objects",
    "crypto_pyaes": "AES in pure Python",
    "deltablue": "Solving constraints",
    "django_template": "Filling a Django template",
    "float": "Floating-point arithmetic on small objects",
    "gc_collect": "Collecting garbage",
    "go": "Playing the game of Go",
    "json_dumps": "Writing JSON",
    "json_loads": "Reading JSON",
    "nbody": "Moving planets: floating-point arithmetic in loops",
    "pathlib": "Working with file paths",
    "pickle_pure_python": "Pickling in pure Python",
    "pyflate": "Unpacking bzip2 in pure Python",
    "python_startup": "Starting the interpreter",
    "raytrace": "Tracing rays of light",
    "regex_compile": "Compiling regular expressions",
    "regex_dna": "Matching patterns in DNA",
    "richards": "Simulating an operating system's scheduler",
    "scimark_fft": "Fourier transforms in pure Python",
    "spectral_norm": "The norm of an infinite matrix",
    "xml_etree_parse": "Reading XML",
}

BENCHMARK = Benchmark(
    slug="pyperformance",
    name="pyperformance",
    category="core",
    order=30,
    stresses=(
        "Python programs on one thread. The interpreter's loop keeps branch prediction and the "
        "first caches busy: the speed of a single core shows."
    ),
    homepage="https://pyperformance.readthedocs.io/",
    workloads=tuple(Workload(p, f"pyperformance {p}", text) for p, text in PROGRAMS.items()),
    metrics=tuple(Metric(f"{p}.time", unit="ms", higher_is_better=False) for p in PROGRAMS),
    parameters=(
        threads("variant"),
        # It counts as a tracked field by its role, so the setup's "python" is not listed again.
        Parameter("python", "tracked", label="Python", phrase="Python {}"),
    ),
    tracked=BASE,
    follows=FOLLOWS,
    rules="Mean over the values of all counted runs of pyperf, calibration left out.",
    caveat="A newer Python is faster by itself: compare equal versions, or by factor python.",
)
