"""OpenSSL speed, cryptography. Source: https://docs.openssl.org/master/man1/openssl-speed/"""

from __future__ import annotations

from results.catalogue.base import Benchmark, Metric, Parameter, Workload
from results.catalogue.setup import BASE, FOLLOWS
from results.catalogue.shared import PER_RATE, hw_threads, smt, threads

STREAMS = {
    "aes-256-gcm": ("AES-256-GCM", "Encrypting with authentication, as TLS mostly does"),
    "aes-128-gcm": ("AES-128-GCM", "The same with the shorter key"),
    "chacha20-poly1305": ("ChaCha20-Poly1305", "TLS's cipher for machines without AES units"),
    "sha256": ("SHA-256", "Hashing"),
}
KEYS = {
    "rsa2048": ("RSA 2048", "Signing and checking with 2,048-bit keys"),
    "ecdsap256": ("ECDSA P-256", "Signing and checking on the curve P-256"),
}

BENCHMARK = Benchmark(
    slug="openssl",
    name="OpenSSL",
    category="core",
    order=20,
    stresses=(
        "Encrypting, hashing and signing in the cores. Special instructions and the width of "
        "the vector units decide; memory plays no part."
    ),
    homepage="https://docs.openssl.org/master/man1/openssl-speed/",
    workloads=tuple(
        Workload(slug, f"OpenSSL {title}", text)
        for slug, (title, text) in (*STREAMS.items(), *KEYS.items())
    ),
    metrics=(
        *(
            Metric(
                f"{slug}.throughput",
                unit="GB/s",
                higher_is_better=True,
                per=PER_RATE,
                along={"block_bytes": "best"},
            )
            for slug in STREAMS
        ),
        *(
            Metric(
                f"{slug}.{action}",
                unit="operations/s",
                higher_is_better=True,
                per=PER_RATE,
                label=action,
            )
            for slug in KEYS
            for action in ("sign", "verify")
        ),
    ),
    parameters=(
        threads("variant"),
        Parameter(
            "block_bytes",
            "axis",
            "integer",
            "bytes",
            label="Block",
            minimum=1,
            phrase="{} bytes a block",
        ),
        smt("tracked"),
        hw_threads(),
    ),
    tracked=BASE,
    follows=FOLLOWS,
    rules="`openssl speed -evp` over wall-clock time; all threads by -multi, their rates added.",
    caveat="Without -elapsed the program divides by CPU time and hides waiting.",
)
