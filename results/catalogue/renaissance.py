"""Renaissance, programs for the JVM. Source: https://renaissance.dev/"""

from __future__ import annotations

from results.catalogue.base import Benchmark, Metric, Parameter, Workload
from results.catalogue.setup import BASE, FOLLOWS, JDK
from results.catalogue.shared import smt

PROGRAMS = {
    "finagle-http": "Many small HTTP requests between a server and its clients",
    "akka": "Actors sending messages over a tree that grows out of balance",
    "genetic-algorithm": "A genetic algorithm on futures",
    "als": "Recommending by matrix factorisation on Spark",
    "chi-square": "A chi-square test on Spark",
    "db-shootout": "Several in-memory databases",
    "dec-tree": "Random forests on Spark",
    "dotty": "The Scala compiler",
    "finagle-chirper": "A small micro-blogging service",
    "fj-kmeans": "K-means by fork and join",
    "gauss-mix": "A Gaussian mixture on Spark",
    "log-regression": "Logistic regression on Spark",
    "mnemonics": "Turning phone numbers into words, by streams",
    "movie-lens": "Recommending films on Spark",
    "naive-bayes": "A naive Bayes classifier on Spark",
    "neo4j-analytics": "Queries to a graph database",
    "page-rank": "PageRank on Spark",
    "par-mnemonics": "Mnemonics with parallel streams",
    "philosophers": "Dining philosophers in transactional memory",
    "reactors": "Messages between reactors",
    "rx-scrabble": "Scrabble words, reactive",
    "scala-doku": "Solving Sudoku in Scala",
    "scala-kmeans": "K-means on Scala collections",
    "scala-stm-bench7": "A benchmark of transactional memory",
    "scrabble": "Scrabble words by streams",
}
PRINTED = {"akka": ("akka-uct",), "genetic-algorithm": ("future-genetic",)}

BENCHMARK = Benchmark(
    slug="renaissance",
    name="Renaissance",
    category="services",
    order=20,
    stresses=(
        "Concurrent Java and Scala programs. Waking threads, locks, message passing and garbage "
        "collection count as much as the speed of the cores."
    ),
    homepage="https://renaissance.dev/",
    workloads=tuple(
        Workload(p, f"Renaissance {p}", text, aka=PRINTED.get(p, ()))
        for p, text in PROGRAMS.items()
    ),
    metrics=tuple(Metric(f"{p}.time", unit="s", higher_is_better=False) for p in PROGRAMS),
    parameters=(
        smt("variant"),
        Parameter("jvm", "tracked", label="JVM", words={"openjdk-11": "OpenJDK 11"}, phrase="{}"),
    ),
    tracked=(*BASE, JDK),
    # The family and main version of the JVM are part of the JDK's name, and the reverse.
    follows={**FOLLOWS, "jdk": ("jvm",), "jvm": ("jdk",)},
    rules="The mean time of the repetitions after the warm-up, as the harness counts them.",
    caveat="Many programs stop scaling at few threads: more cores can make them slower.",
)
