"""HammerDB TPROC-C, online transactions. Source: https://www.hammerdb.com/"""

from __future__ import annotations

from results.catalogue.base import Benchmark, Metric, Parameter, Workload
from results.catalogue.setup import BASE, FOLLOWS, STORAGE_LINK
from results.catalogue.shared import PER_RATE, engine, engine_version, sockets

TRANSACTIONS = {
    "new-order": ("NEW ORDER", "NEWORD", "Entering an order of several lines"),
    "payment": ("PAYMENT", "PAYMENT", "Booking a customer's payment"),
    "delivery": ("DELIVERY", "DELIVERY", "Delivering the oldest orders of all districts"),
    "stock-level": ("STOCK LEVEL", "SLEV", "Counting items that run low"),
    "order-status": ("ORDER STATUS", "OSTAT", "Looking up a customer's last order"),
}
PERCENTILES = ("p50", "p95", "p99")

BENCHMARK = Benchmark(
    slug="hammerdb",
    name="HammerDB",
    category="database",
    order=10,
    stresses=(
        "A database taking orders from many users at once. The engine's locks and logging, "
        "memory latency and the drive that takes the log decide together."
    ),
    homepage="https://www.hammerdb.com/",
    workloads=(
        Workload("tproc-c", "HammerDB TPROC-C", "The mix of all five transactions"),
        *(
            Workload(f"tproc-c-{slug}", f"HammerDB {title}", text, aka=(printed,))
            for slug, (title, printed, text) in TRANSACTIONS.items()
        ),
    ),
    metrics=(
        Metric(
            "tproc-c.nopm",
            unit="NOPM",
            higher_is_better=True,
            per=PER_RATE,
            along={"virtual_users": "best"},
        ),
        Metric(
            "tproc-c.tpm",
            unit="TPM",
            higher_is_better=True,
            per=PER_RATE,
            along={"virtual_users": "best"},
            label="transactions",
        ),
        *(
            Metric(
                f"tproc-c-{slug}.latency_{p}",
                unit="ms",
                higher_is_better=False,
                along={"virtual_users": "each"},
                label=p,
            )
            for slug in TRANSACTIONS
            for p in PERCENTILES
        ),
    ),
    parameters=(
        engine(),
        engine_version("variant"),
        Parameter(
            "virtual_users",
            "axis",
            "integer",
            label="Virtual users",
            minimum=1,
            maximum=1_000_000,
            words={"1": "1 virtual user"},
            phrase="{} virtual users",
        ),
        Parameter("rampup_min", "tracked", "number", "min", label="Ramp-up"),
        Parameter("duration_min", "tracked", "number", "min", label="Duration"),
        Parameter("peak_at_virtual_users", "describes", "integer", label="Peak at virtual users"),
        Parameter(
            "warehouses",
            "describes",
            "integer",
            label="Warehouses",
            minimum=1,
            phrase="{} warehouses",
        ),
        Parameter(
            "warehouses_per_core",
            "describes",
            "number",
            label="Warehouses per core",
            phrase="{} warehouses a core",
        ),
        sockets(),
    ),
    tracked=(*BASE, STORAGE_LINK),
    follows=FOLLOWS,
    rules=(
        "A timed run after a ramp-up of minutes, without keying and thinking time; no failed "
        "transaction; the schema built anew for each series. NOPM is new orders a minute."
    ),
    caveat=(
        "TPROC-C derives from TPC-C but does not follow its rules: results are not comparable "
        "with published TPC results. TPM counts what an engine calls a transaction; only NOPM "
        "compares engines."
    ),
)
