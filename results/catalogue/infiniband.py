"""InfiniBand by perftest, network. Source: https://github.com/linux-rdma/perftest"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from results.catalogue.base import Benchmark, Metric, Parameter, Workload
from results.catalogue.setup import BASE, BIOS_NPS, FOLLOWS
from results.catalogue.shared import fabric

EACH_SIZE: Mapping[str, Literal["best", "each"]] = {"message_bytes": "each"}

BENCHMARK = Benchmark(
    slug="infiniband",
    name="InfiniBand",
    category="network",
    order=10,
    stresses=(
        "Moving messages between two servers without their kernels. Adapter, link and the "
        "processor's path from PCIe to memory decide."
    ),
    homepage="https://github.com/linux-rdma/perftest",
    workloads=(
        Workload("bandwidth", "InfiniBand bandwidth", "Bytes of messages moved one way"),
        Workload("message_rate", "InfiniBand message rate", "Messages sent, mostly small ones"),
        Workload("latency", "InfiniBand latency", "Half a round trip of one message"),
    ),
    metrics=(
        Metric("bandwidth.bandwidth", unit="GB/s", higher_is_better=True, along=EACH_SIZE),
        Metric(
            "message_rate.message_rate",
            unit="messages/s",
            higher_is_better=True,
            per=("core", "thread"),
            along=EACH_SIZE,
        ),
        Metric("latency.latency_p50", unit="us", higher_is_better=False, along=EACH_SIZE),
        Metric(
            "latency.latency_p99", unit="us", higher_is_better=False, along=EACH_SIZE, label="p99"
        ),
    ),
    parameters=(
        Parameter(
            "operation",
            "variant",
            label="Operation",
            choices=("write", "read", "send"),
            words={"write": "RDMA write", "read": "RDMA read", "send": "send and receive"},
        ),
        Parameter(
            "cores",
            "variant",
            label="Cores",
            choices=("one", "all"),
            words={"one": "one core", "all": "all cores"},
        ),
        Parameter(
            "message_bytes",
            "axis",
            "integer",
            "bytes",
            label="Message",
            minimum=0,
            phrase="{} bytes",
        ),
        fabric("Adapter and link speed: another link is named as a difference."),
        Parameter("preferred_io", "tracked", label="Preferred I/O", choices=("off", "on")),
    ),
    tracked=(*BASE, BIOS_NPS),
    follows=FOLLOWS,
    rules="Two servers of one kind on one switch; one direction; the average, not the peak.",
    caveat="A figure belongs to adapter, cable and switch as much as to the server.",
)
