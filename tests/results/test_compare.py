"""The comparison engine against numbers worked out by hand, on made results."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from results.compare import CompareError, Row, compare_systems, parse_key, places, speedup
from results.models import Trust
from tests.results.made import near, run, store, system

pytestmark = pytest.mark.django_db

LATENCY = {"benchmark": "tinymembench", "scope": "thread", "unit": "ns"}
PAGES = {"page": "2m", "placement": "local", "threads": 1}
VERA = "nvidia-mgx-vera-c2"
EPYC = "dell-r7725-epyc-9965"


def only_row(*systems: str, benchmark: str = "stream/triad", **question: object) -> Row:
    table = compare_systems(systems=systems, benchmarks=[benchmark], **question)  # type: ignore[arg-type]
    assert len(table.rows) == 1, table.rows
    return table.rows[0]


def two_by_two() -> None:
    """a moves 200 GB/s in 80 ns, b 100 GB/s in 100 ns."""
    store(
        system("a"),
        system("b"),
        run("a", "triad.bandwidth", 200.0),
        run("b", "triad.bandwidth", 100.0),
        run("a", "random_read.latency", 80.0, parameters=PAGES, **LATENCY),
        run("b", "random_read.latency", 100.0, parameters=PAGES, **LATENCY),
    )


def test_ratios_above_one_are_better_in_either_direction() -> None:
    two_by_two()
    table = compare_systems(systems=["b", "a"], benchmarks=["stream", "tinymembench"])
    ratios = [row.cells["a"].ratio for row in table.rows]
    assert ratios == [near(2.0), near(1.25)]
    assert [row.cells["a"].rank for row in table.rows] == [1, 1]
    assert [row.cells["b"].rank for row in table.rows] == [2, 2]
    assert [row.cells["b"].ratio for row in table.rows] == [1.0, 1.0]


def test_geometric_mean_is_over_rows_that_all_columns_have() -> None:
    two_by_two()
    store(run("a", "copy.bandwidth", 700.0, started_at="2026-10-01T00:00:00Z"))
    table = compare_systems(systems=["b", "a"])
    assert table.common_rows == 2
    assert table.geomean == {"b": near(1.0), "a": near(math.sqrt(2.0 * 1.25))}


def test_without_a_common_row_there_is_no_mean() -> None:
    store(
        system("a"),
        system("b"),
        run("a", "triad.bandwidth", 200.0),
        run("b", "copy.bandwidth", 100.0),
    )
    table = compare_systems(systems=["a", "b"])
    assert (table.geomean, table.common_rows) == (None, 0)
    assert [row.cells.keys() for row in table.rows] == [{"a"}, {"b"}]


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    left=st.floats(1e-3, 1e9),
    right=st.floats(1e-3, 1e9),
    higher=st.booleans(),
)
def test_left_over_right_is_the_reciprocal_of_right_over_left(
    left: float, right: float, higher: bool
) -> None:
    forth = speedup(left, right, higher_is_better=higher)
    back = speedup(right, left, higher_is_better=higher)
    assert forth is not None
    assert back is not None
    assert forth * back == near(1.0)
    assert (forth > 1) == ((left > right) if higher else (left < right)) or left == right


def test_swapping_the_baseline_gives_the_reciprocal() -> None:
    two_by_two()
    forth = compare_systems(systems=["a", "b"], baseline="b")
    back = compare_systems(systems=["a", "b"], baseline="a")
    for one, other in zip(forth.rows, back.rows, strict=True):
        assert (one.cells["a"].ratio or 0) * (other.cells["b"].ratio or 0) == near(1.0)


def test_a_speedup_of_nothing_is_none() -> None:
    assert speedup(0.0, 1.0, higher_is_better=True) is None
    assert speedup(1.0, 0.0, higher_is_better=False) is None
    assert speedup(None, 1.0, higher_is_better=True) is None


def test_a_reported_range_has_no_ratio_rank_or_place_in_a_mean() -> None:
    store(
        system("a"),
        system("b"),
        run("a", "triad.bandwidth", (90.0, 110.0)),
        run("b", "triad.bandwidth", 100.0),
    )
    table = compare_systems(systems=["b", "a"])
    cell = table.rows[0].cells["a"]
    assert (cell.value, cell.low, cell.high) == (None, 90.0, 110.0)
    assert (cell.ratio, cell.rank, table.geomean) == (None, None, None)
    assert table.rows[0].cells["b"].rank == 1


def test_a_lower_bound_keeps_its_open_end() -> None:
    store(system("a"), run("a", "triad.bandwidth", (90.0, None)))
    cell = only_row("a").cells["a"]
    assert (cell.low, cell.high, cell.is_range) == (90.0, None, True)


def test_ties_share_a_rank_and_the_next_is_skipped() -> None:
    names = ("a", "b", "c")
    store(
        *(system(name) for name in names),
        run("a", "triad.bandwidth", 100.0),
        run("b", "triad.bandwidth", 100.0),
        run("c", "triad.bandwidth", 90.0),
    )
    row = only_row(*names)
    assert [row.cells[name].rank for name in names] == [1, 1, 3]
    assert row.lead() is None


def test_several_runs_show_median_low_high_and_n() -> None:
    days = [f"2026-10-0{day}T12:00:00Z" for day in (1, 2, 3, 4)]
    store(
        system("a"),
        *(
            run("a", "triad.bandwidth", value, started_at=day)
            for value, day in zip((100.0, 140.0, 110.0, 130.0), days, strict=True)
        ),
    )
    cell = only_row("a").cells["a"]
    assert (cell.value, cell.low, cell.high, cell.n) == (120.0, 100.0, 140.0, 4)


def test_cells_of_different_scale_share_a_row_without_ratio_rank_or_mean() -> None:
    for name, tree, value in (("a", "arm64", 180.0), ("b", "x86-64", 146.0)):
        store(
            system(name),
            run(
                name,
                "allmodconfig.time",
                value,
                benchmark="kernel_build",
                unit="s",
                parameters={"tree": tree, "smt": "off"},
            ),
        )
    table = compare_systems(systems=["a", "b"])
    cells = table.rows[0].cells
    assert [cell.value for cell in cells.values()] == [180.0, 146.0]
    assert cells["b"].ratio is None
    assert [cell.rank for cell in cells.values()] == [None, None]
    assert table.geomean is None


def test_a_run_that_is_not_ranked_has_a_ratio_but_no_rank() -> None:
    store(
        system("a"),
        system("b"),
        run("a", "triad.bandwidth", 200.0, not_ranked_because="a shared machine"),
        run("b", "triad.bandwidth", 100.0),
    )
    cells = only_row("b", "a").cells
    assert (cells["a"].rank, cells["a"].ratio, cells["b"].rank) == (None, 2.0, 1)


def test_a_cell_takes_the_best_trusted_result_and_counts_the_others() -> None:
    setup = {"os": "Debian 12"}
    store(system("a"), run("a", "triad.bandwidth", 200.0))
    store(run("a", "triad.bandwidth", 150.0, setup=setup), trust=Trust.VERIFIED)
    store(run("a", "triad.bandwidth", 170.0, setup=setup), lab="other-lab")
    cell = only_row("a").cells["a"]
    assert (cell.value, cell.trust, cell.others) == (150.0, Trust.VERIFIED, 2)


def test_of_equal_trust_the_newest_setup_is_shown() -> None:
    store(
        system("a"),
        run("a", "triad.bandwidth", 1.0, setup={"os": "A"}, started_at="2026-02-01T00:00:00Z"),
        run("a", "triad.bandwidth", 2.0, setup={"os": "B"}, started_at="2026-03-01T00:00:00Z"),
        run("a", "triad.bandwidth", 3.0, setup={"os": "C"}, started_at="2026-01-01T00:00:00Z"),
    )
    cell = only_row("a").cells["a"]
    assert (cell.value, cell.others) == (2.0, 2)


def test_a_curve_is_read_at_its_best_point_and_shown_whole_on_demand() -> None:
    points = {1: 10.0, 16: 90.0, 4: 35.0, 32: 80.0}
    store(
        system("a"),
        *(
            run("a", "triad.bandwidth", value, parameters={"placement": "all", "threads": threads})
            for threads, value in points.items()
        ),
    )
    cell = only_row("a").cells["a"]
    assert (cell.value, cell.at, cell.points) == (90.0, {"threads": 16}, None)
    cell = only_row("a", axis="threads").cells["a"]
    assert cell.points == [
        [1, 10.0, None, None, 1],
        [4, 35.0, None, None, 1],
        [16, 90.0, None, None, 1],
        [32, 80.0, None, None, 1],
    ]


def test_a_metric_read_at_each_point_has_a_row_for_each() -> None:
    engine = {"engine": "postgresql", "engine_version": "18.6"}
    store(
        system("a"),
        *(
            run(
                "a",
                "tproc-c-payment.latency_p99",
                latency,
                benchmark="hammerdb",
                scope="socket",
                unit="ms",
                parameters={**engine, "virtual_users": users},
            )
            for users, latency in ((16, 1.0), (64, 2.0))
        ),
    )
    table = compare_systems(systems=["a"])
    assert [(row.at, row.cells["a"].value) for row in table.rows] == [
        ({"virtual_users": 16}, 1.0),
        ({"virtual_users": 64}, 2.0),
    ]
    row = only_row("a", benchmark="hammerdb", axis="virtual_users")
    assert row.cells["a"].points == [[16, 1.0, None, None, 1], [64, 2.0, None, None, 1]]


@pytest.mark.parametrize(
    ("per", "value", "denominator"),
    [
        ("total", 512.0, None),
        ("core", 4.0, 128),
        ("socket", 256.0, 2),
        ("watt", 512 / 600, 600),
        ("peak", 50.0, 1024),
        ("thread", 4.0, 128),
        ("price", 0.0512, 10_000),
    ],
)
def test_normalisation_divides_by_what_was_loaded(
    per: str, value: float, denominator: float | None
) -> None:
    box = system("a", memory={"peak_gbs": 1024.0}, price_usd=10_000.0)
    store(box, run("a", "triad.bandwidth", 512.0))
    cell = only_row("a", per=per).cells["a"]
    assert cell.value == near(value)
    assert (cell.raw, cell.denominator) == (512.0, denominator)


def test_a_socket_is_divided_by_its_own_share() -> None:
    store(
        system("a", memory={"channels": 16, "speed_mts": 6400}),
        run("a", "triad.bandwidth", 204.8, scope="socket", parameters={"placement": "local"}),
    )
    peak, core = (only_row("a", per=per).cells["a"] for per in ("peak", "core"))
    assert (peak.value, peak.inferred) == (near(50.0), True)
    assert (core.denominator, core.value) == (64, near(3.2))


def test_more_than_the_peak_raises_a_flag() -> None:
    store(system("a", memory={"peak_gbs": 100.0}), run("a", "triad.bandwidth", 101.0))
    cell = only_row("a", per="peak").cells["a"]
    assert (cell.value, cell.above_peak) == (near(101.0), True)


def test_threads_follow_smt_and_the_run() -> None:
    def one(name: str, **parameters: object) -> None:
        parameters = {"threads": "all", **parameters}
        store(
            system(name),
            run(name, "compress.rate", 256.0, benchmark="7zip", unit="MIPS", parameters=parameters),
        )

    one("on", smt="on")
    one("off", smt="off")
    one("counted", hw_threads=100)
    cells = only_row("on", "off", "counted", benchmark="7zip", per="thread").cells
    assert [cell.denominator for cell in cells.values()] == [256, 128, 100]


def test_an_unknown_denominator_leaves_the_cell_empty_and_says_why() -> None:
    store(
        system("a", cores=None),
        system("b"),
        run("a", "triad.bandwidth", 100.0),
        run("b", "triad.bandwidth", 100.0),
    )
    cell = only_row("b", "a", per="core").cells["a"]
    assert (cell.value, cell.raw, cell.ratio, cell.rank) == (None, 100.0, None, None)
    assert cell.missing == "the number of cores is not known"


def test_lower_is_better_keeps_its_total() -> None:
    two_by_two()
    row = only_row("a", benchmark="tinymembench", per="core")
    assert (row.cells["a"].value, row.cells["a"].denominator, row.unit) == (80.0, None, "ns")


def test_filtering_rows_never_moves_the_baseline() -> None:
    whole = compare_systems(systems=[VERA], benchmarks=["gromacs"], factor="smt")
    part = compare_systems(
        systems=[VERA], benchmarks=["gromacs"], factor="smt", params={"smt": ["on"]}
    )
    assert whole.baseline == part.baseline == f"{VERA}@smt=off"


def test_a_row_filter_keeps_rows_whose_benchmark_lacks_the_parameter() -> None:
    table = compare_systems(systems=[VERA], params={"smt": ["on"]})
    kept = {row.benchmark.slug for row in table.rows}
    assert {"schbench", "valkey", "tinymembench", "gromacs"} <= kept
    assert all(row.variant.get("smt", "on") == "on" for row in table.rows)


def test_a_row_filter_works_on_tracked_setup_fields() -> None:
    store(
        system("a"),
        run("a", "triad.bandwidth", 1.0, setup={"compiler": "GCC 13.3.0"}),
        run("a", "copy.bandwidth", 2.0, setup={"compiler": "Clang 19.1.0"}),
    )
    table = compare_systems(systems=["a"], params={"compiler": ["Clang 19.1.0"]})
    assert [row.cells["a"].value for row in table.rows] == [2.0]


def test_by_smt_each_system_splits_into_one_column_a_value() -> None:
    table = compare_systems(systems=[VERA, EPYC], benchmarks=["gromacs/benchPEP"], factor="smt")
    keys = [column.key for column in table.columns]
    assert keys == [f"{s}@smt={v}" for s in (VERA, EPYC) for v in ("off", "on")]
    cells = table.rows[0].cells
    assert cells[keys[1]].ratio == near(2.07 / 1.77)
    assert table.rows[0].variant == {}


def test_absent_is_a_value_of_its_own() -> None:
    table = compare_systems(systems=["dell-r7725-epyc-9175f"], factor="smt")
    assert [column.key for column in table.columns][-1] == "dell-r7725-epyc-9175f@smt="


def test_what_follows_the_factor_leaves_the_row_with_it() -> None:
    table = compare_systems(systems=[VERA], benchmarks=["hammerdb/tproc-c"], factor="engine")
    assert [column.key for column in table.columns] == [
        f"{VERA}@engine=mariadb,engine_version=12.3.3",
        f"{VERA}@engine=mariadb,engine_version=13.0.2",
        f"{VERA}@engine=mysql,engine_version=26.7.0",
        f"{VERA}@engine=postgresql,engine_version=18.6",
        f"{VERA}@engine=villagesql,engine_version=0.0.7",
    ]
    assert [cell.value for cell in table.rows[0].cells.values()] == [
        2_680_000,
        2_670_000,
        2_030_000,
        3_310_000,
        2_540_000,
    ]


def test_by_placement_scopes_meet_in_one_row() -> None:
    table = compare_systems(systems=[VERA], benchmarks=["stream/triad"], factor="placement")
    (row,) = table.rows
    found = {key.partition("=")[2]: cell.value for key, cell in row.cells.items()}
    assert found == {"all": 2073, "interleave": 1372, "local": 1055, "remote": 677}
    assert row.scope is None


def test_by_sockets_whole_systems_meet_single_sockets() -> None:
    table = compare_systems(
        systems=[VERA], benchmarks=["stream/triad"], factor="sockets", baseline=f"{VERA}@sockets=1"
    )
    (row,) = table.rows
    found = {key.partition("=")[2]: cell.value for key, cell in row.cells.items()}
    assert found == {"1": 1055, "2": 2073}
    assert row.cells[f"{VERA}@sockets=2"].ratio == near(2073 / 1055)
    pinned = compare_systems(systems=[f"{VERA}@sockets=all"], benchmarks=["stream/triad"])
    assert [column.key for column in pinned.columns] == [f"{VERA}@sockets=2"]


def test_otherwise_scopes_never_meet() -> None:
    table = compare_systems(systems=[VERA], benchmarks=["stream/triad"])
    assert {row.scope for row in table.rows} == {"system", "socket"}


def test_what_is_pinned_in_one_column_splits_the_others() -> None:
    table = compare_systems(systems=[f"{VERA}@smt=on", EPYC], benchmarks=["gromacs/benchPEP"])
    keys = [column.key for column in table.columns]
    assert keys == [f"{VERA}@smt=on", f"{EPYC}@smt=off", f"{EPYC}@smt=on"]
    assert [table.rows[0].cells[key].value for key in keys] == [2.07, 5.36, 5.30]


def test_by_a_tracked_field_systems_split_on_its_value_at_its_depth() -> None:
    store(
        system("a"),
        run("a", "triad.bandwidth", 1.0, setup={"kernel": "6.8.0-142"}),
        run("a", "triad.bandwidth", 2.0, setup={"kernel": "6.12.1-5"}),
    )
    row = only_row("a", factor="kernel")
    assert list(row.cells) == ["a@kernel=6.8.0", "a@kernel=6.12.1"]
    assert row.cells["a@kernel=6.12.1"].ratio == 2.0


def test_benchmarks_that_do_not_know_the_factor_are_left_out_and_named() -> None:
    table = compare_systems(systems=[VERA], factor="engine")
    assert {row.benchmark.slug for row in table.rows} == {"clickbench", "hammerdb"}
    assert "stream" in table.left_out


def test_a_group_is_shown_but_never_ranked() -> None:
    cell = only_row("dell-c6525-rome").cells["dell-c6525-rome"]
    assert (cell.low, cell.high, cell.rank, cell.ranked) == (270, 300, None, False)


@pytest.mark.parametrize(
    ("question", "field", "words"),
    [
        ({"systems": ["nvidia-mgx-vera-c3"]}, "system", "did you mean nvidia-mgx-vera-c2"),
        ({"systems": ["vera"]}, "system", "did you mean nvidia-mgx-vera-c2"),
        ({"systems": []}, "system", "at least one"),
        ({"systems": [f"s{i}" for i in range(500)]}, "system", "at most 50"),
        ({"systems": [f"{VERA}@"]}, "system", "not a column"),
        ({"systems": [f"{VERA}@smt"]}, "system", "expected name=value"),
        ({"systems": [f"{VERA}@colour=red"]}, "system", "'colour' is not known"),
        ({"systems": [VERA], "benchmarks": ["streem"]}, "benchmark", "did you mean stream"),
        ({"systems": [VERA], "benchmarks": ["stream/tried"]}, "benchmark", "did you mean triad"),
        ({"systems": [VERA], "factor": "colour"}, "factor", "'colour' is not known"),
        ({"systems": [VERA], "per": "kilo"}, "per", "expected one of total"),
        ({"systems": [VERA], "axis": "smt"}, "axis", "is not known"),
        ({"systems": [VERA], "baseline": EPYC}, "baseline", "is not known"),
        ({"systems": [VERA], "params": {"colour": ["x"]}}, "param.colour", "is not known"),
    ],
)
def test_a_question_that_cannot_be_answered_says_why(
    question: dict[str, object], field: str, words: str
) -> None:
    with pytest.raises(CompareError) as caught:
        compare_systems(**question)  # type: ignore[arg-type]
    assert words in caught.value.fields[field][0]


def test_all_mistakes_of_a_question_are_told_at_once() -> None:
    with pytest.raises(CompareError) as caught:
        compare_systems(systems=[VERA], factor="x", per="y", benchmarks=["z"])
    assert set(caught.value.fields) == {"factor", "per", "benchmark"}


@pytest.mark.parametrize("text", ["a", "a@smt=on", "a@smt=", "a@engine=x%2Cy,engine_version=1"])
def test_a_column_key_reads_back_as_it_was_written(text: str) -> None:
    assert str(parse_key(text)) == text


def test_a_place_counts_who_is_better() -> None:
    assert places.place(5.0, [9.0, 5.0, 1.0], higher_is_better=True) == 2
    assert places.place(5.0, [9.0, 5.0, 1.0], higher_is_better=False) == 2
    assert places.place(10.0, [], higher_is_better=True) == 1
