"""Numbers, variants and sources in words."""

from __future__ import annotations

import pytest

from results import catalogue, wording
from results.wording import figures


def shown(unit: str, *values: float) -> list[str]:
    found = figures(unit, values)
    return [found.unit, *(found.number(value) for value in values)]


@pytest.mark.parametrize(
    ("unit", "values", "expected"),
    [
        ("GB/s", (2073, 634, 914), ["GB/s", "2,073", "634", "914"]),
        ("s", (106, 95, 220.6), ["s", "106.0", "95.0", "220.6"]),
        ("s", (5.7, 9.61, 25.47), ["s", "5.70", "9.61", "25.47"]),
        ("requests/s", (1_260_000, 954_000), ["M requests/s", "1.260", "0.954"]),
        ("requests/s", (263_000, 402_000), ["k requests/s", "263", "402"]),
        ("NOPM", (3_000_000,), ["M NOPM", "3.00"]),
        ("MIPS", (9537, 8496), ["MIPS", "9,537", "8,496"]),
        ("us", (19, 221), ["µs", "19", "221"]),
        ("GB/s per core", (11.7784, 1.6510, 20.343), ["GB/s per core", "11.78", "1.65", "20.34"]),
    ],
)
def test_a_row_is_shown_as_its_source_states_it_or_with_three_digits(
    unit: str, values: tuple[float, ...], expected: list[str]
) -> None:
    assert shown(unit, *values) == expected


def test_computed_digits_are_rounded_to_three() -> None:
    assert shown("GB/s", 82.15061, 80.0631) == ["GB/s", "82.2", "80.1"]


def test_a_small_value_beside_large_ones_is_never_shown_as_zero() -> None:
    assert shown("ms", 0.0004, 60.12345)[1] == "0.0004"


@pytest.mark.parametrize("value", [0.0, 1e-300, 1e300, 1e-9, 123456789.123])
def test_any_finite_number_has_a_short_text(value: float) -> None:
    assert 0 < len(figures("s", [value]).number(value)) < 20


def test_rows_of_one_workload_share_a_unit() -> None:
    found = figures("MIPS", [9537, 8496], beside=[1_527_000])
    assert (found.unit, found.number(9537)) == ("k MIPS", "9.537")


def test_an_open_range_says_which_end_is_known() -> None:
    found = figures("s", [2.93, 3.04])
    assert found.span(2.93, 3.04) == "2.93–3.04"
    assert found.span(2.93, None) == "≥ 2.93"
    assert found.span(None, 3.04) == "≤ 3.04"
    assert found.span(None, None) == "–"


def test_ratios_have_fewer_decimals_the_larger_they_are() -> None:
    words = [wording.ratio_words(ratio) for ratio in (2.2712, 10.512, 22.08, 1234.5, None)]
    assert words == ["2.27×", "10.5×", "22×", "1,234×", ""]


def test_dates_are_said_as_precisely_as_they_are_known() -> None:
    words = [wording.date_words(text) for text in ("2026", "2026-11", "2009-05-20", "2026-13", "")]
    assert words == ["2026", "November 2026", "20 May 2009", "2026-13", ""]


@pytest.mark.parametrize(
    ("text", "hints", "expected"),
    [
        ("ベンチマーク結果", (), "ja"),
        ("서버 성능", (), "ko"),
        ("内存带宽", (), "zh"),
        ("性能試験", ("ja",), "ja"),
        ("STREAM", ("ja",), ""),
    ],
)
def test_east_asian_texts_are_marked_with_their_language(
    text: str, hints: tuple[str, ...], expected: str
) -> None:
    assert wording.cjk_language(text, hints) == expected


def test_a_variant_is_said_in_plain_words() -> None:
    valkey = catalogue.benchmarks()["valkey"]
    known: dict[str, str | int | float | None] = {
        "mode": "single_shard",
        "cores_per_shard": 9,
        "pipeline": 1,
        "dataset": "3m_keys",
    }
    words = " · ".join(wording.variant_words(valkey, "shard", known))
    assert words == "one shard · alone · 9 cores · pipeline 1 · 3 M keys"


def test_a_slice_of_cores_is_named_by_its_number_alone() -> None:
    gromacs = catalogue.benchmarks()["gromacs"]
    assert wording.variant_words(gromacs, "cores", {"cores": 16})[0] == "16 cores"


def test_names_are_joined_as_in_a_sentence() -> None:
    assert [wording.joined(list("abc")[:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]


def test_a_value_too_small_to_write_out_is_not_shown_as_zero() -> None:
    assert shown("s", 3.2e-20, 5.0)[1] == "3.2e-20"
    assert shown("s", 5e-324)[1] == "4.941e-324"


def test_a_ratio_beyond_all_measure_has_a_short_text() -> None:
    assert wording.ratio_words(1.5e299) == "1.5e+299×"
    assert wording.ratio_words(2e-12) == "2e-12×"
