"""Units: exact factors, and no guess."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results import catalogue
from results.units import UnitError, accepted, factor

CONVERSIONS = [
    ("MB/s", "GB/s", 2_073_000, 2073.0),
    ("MiB/s", "GB/s", 1000, 1.048576),
    ("GiB/s", "GB/s", 1, 1.073741824),
    ("KiB/s", "GB/s", 1_000_000, 1.024),
    ("TB/s", "GB/s", 2.4, 2400.0),
    ("Gb/s", "GB/s", 400, 50.0),
    ("Gbit/s", "GB/s", 400, 50.0),
    ("Gbps", "GB/s", 8, 1.0),
    ("MB per second", "GB/s", 5000, 5.0),
    ("MB / s", "GB/s", 5000, 5.0),
    ("GB/sec", "GB/s", 7, 7.0),
    ("ms", "us", 5, 5000.0),
    ("µs", "us", 5, 5.0),
    ("ns", "ms", 1_000_000, 1.0),
    ("min", "s", 2, 120.0),
    ("us/day", "ns/day", 1, 1000.0),
    ("GIPS", "MIPS", 1.5, 1500.0),
    ("KIPS", "MIPS", 1000, 1.0),
    ("kNOPM", "NOPM", 3310, 3_310_000.0),
    ("MNOPM", "NOPM", 3.31, 3_310_000.0),
    ("requests per second", "requests/s", 9, 9.0),
    ("Mrequests/s", "requests/s", 2.45, 2_450_000.0),
    ("TFLOPS", "GFLOP/s", 2, 2000.0),
    ("Gflops", "GFLOP/s", 3, 3.0),
    ("ops/s", "operations/s", 3, 3.0),
    ("percent", "%", 99, 99.0),
]


@pytest.mark.parametrize(("found", "canonical", "value", "expected"), CONVERSIONS)
def test_units_convert(found: str, canonical: str, value: float, expected: float) -> None:
    assert factor(found, canonical)(value) == expected


@pytest.mark.parametrize(
    ("found", "canonical"),
    [
        ("7.3 % off", "%"),
        ("mb/s", "GB/s"),
        ("GB", "GB/s"),
        ("GB/s/s", "GB/s"),
        ("1000 MB/s", "GB/s"),
        ("MB/s; rm", "GB/s"),
        ("MB**2/s", "GB/s"),
        ("s", "%"),
        ("%", "ns/day"),
        ("ns/day", "%"),
        ("s/s", "%"),
        ("requests/s", "operations/s"),
        ("TPM", "NOPM"),
        ("MIPS", "GFLOP/s"),
        ("Ms", "s"),
        ("points", "s"),
        ("s", "points"),
        ("", "s"),
        ("x" * 10_000, "s"),
    ],
)
def test_what_does_not_convert_is_an_error_that_names_what_does(found: str, canonical: str) -> None:
    with pytest.raises(UnitError) as caught:
        factor(found, canonical)
    assert caught.value.accepted[0] == canonical
    assert len(str(caught.value)) < 400


def test_the_error_names_decimal_and_binary_bytes() -> None:
    assert {"MB/s", "GB/s", "MiB/s", "GiB/s"} <= set(accepted("GB/s"))
    assert accepted("NOPM")[:3] == ("NOPM", "kNOPM", "MNOPM")


def test_every_accepted_unit_converts() -> None:
    for unit in {metric.unit for b in catalogue.benchmarks().values() for metric in b.metrics}:
        assert len(accepted(unit)) > 1 or unit == "%", unit
        for other in accepted(unit):
            assert factor(other, unit)(1.0) > 0


@given(
    st.sampled_from(["B/s", "kB/s", "MB/s", "GB/s", "KiB/s", "MiB/s", "GiB/s", "Gb/s"]),
    st.sampled_from(["MB/s", "GB/s", "MiB/s"]),
    st.floats(1e-6, 1e12),
)
def test_converting_there_and_back_gives_the_value(
    found: str, canonical: str, value: float
) -> None:
    there = factor(found, canonical)(value)
    assert factor(canonical, found)(there) == pytest.approx(value, rel=1e-15)


def test_pint_is_imported_only_when_a_unit_differs() -> None:
    code = (
        "import sys; from results.units import factor; factor('GB/s', 'GB/s');"
        "assert 'pint' not in sys.modules; factor('MB/s', 'GB/s'); assert 'pint' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
