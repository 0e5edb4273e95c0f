"""A value that is not published yet beside what is. The figures are worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from results import catalogue
from results.catalogue.base import Value
from results.compare.beside import Beside, Flag, Given, isa_kind, quotient, rows_of, set_beside
from results.compare.mistakes import Mistake, mistake
from results.models import Lab, Upload
from results.queries import beside as queries
from results.queries.listings import systems_by_id
from results.services import withdraw
from results.wording import beside as words
from results.wording.beside import Names
from tests.results.made import LAB, near, run, store, system

pytestmark = pytest.mark.django_db

VERA, EPYC = "nvidia-mgx-vera-c2", "dell-r7725-epyc-9965"
TRIAD = "triad.bandwidth"
# A benchmark and one of its metrics of which less is better.
LESS = next(
    (benchmark.slug, metric)
    for benchmark in catalogue.benchmarks().values()
    for metric in benchmark.metrics
    if not metric.higher_is_better and not metric.along
)


def given(value: float | None, on: str = "mine", **changes: Any) -> Given:
    """A triad bandwidth of an upload, GB/s, of all cores, each with its own memory."""
    benchmark = catalogue.benchmarks()[changes.pop("benchmark", "stream")]
    metric = benchmark.metric(changes.pop("metric", TRIAD))
    assert metric is not None
    variant: Mapping[str, Value] = {"placement": "all"} if benchmark.slug == "stream" else {}
    made = Given(on, LAB, benchmark, metric, "", "system", variant, {}, {}, value)
    return replace(made, **changes)


def beside(*values: Given, **options: Any) -> list[Beside]:
    """What the values stand beside."""
    slugs = {one.system for one in values}
    lab = Lab.objects.filter(slug=LAB).values_list("pk", flat=True).first()
    systems = queries.systems_named(slugs, lab)
    ids = [one.pk for one in systems.values()]
    found = queries.published(rows_of(values), ids, options.pop("upload", 0))
    return set_beside(values, found, systems, **options)


def names_for(found: Beside) -> Names:
    """The names that sentences need."""
    parts = (found.own, found.best, found.alike, *found.flags)
    cells = [part.cell for part in parts if part and part.cell]
    return Names(systems_by_id({cell.system_id for cell in cells}), {LAB: "Made Lab"})


def flag_texts(one: Given, found: Beside) -> list[str]:
    return [words.flag_words(one, flag, names_for(found)).text for flag in found.flags]


def copy(on: str, value: Any, **fields: Any) -> dict[str, Any]:
    """A published copy bandwidth, interleaved: a row that the reference data does not have."""
    parameters = {"placement": "interleave", **fields.pop("parameters", {})}
    return run(on, "copy.bandwidth", value, parameters=parameters, **fields)


def copied(value: float | None, on: str = "mine", **changes: Any) -> Given:
    """A copy bandwidth of an upload in that row."""
    variant = {"placement": "interleave"}
    return given(value, on, metric="copy.bandwidth", variant=variant, **changes)


def timed(on: str, value: float) -> dict[str, Any]:
    """A published result of which less is better."""
    benchmark, metric = LESS
    return run(on, metric.name, value, benchmark=benchmark, unit=metric.unit)


# The same system


def test_a_value_is_set_against_the_median_of_the_same_system() -> None:
    store(system("mine"), *(copy("mine", v, started_at=f"2026-10-0{at}T00:00:00Z") for at, v in
          enumerate((96, 100, 100, 104), start=1)))  # fmt: skip
    one = copied(103.1)
    (found,) = beside(one)
    assert found.own is not None
    assert (found.own.cell.n, found.own.cell.low, found.own.cell.high) == (4, 96, 104)
    assert found.own.percent == near(3.1)
    assert found.own.better is True
    assert found.own.spread == "inside"
    said = words.own_words(one, found, names_for(found))
    assert said.text == "3.1 % above the median of 4 runs, within their range"
    assert said.detail.startswith("100 GB/s; 96–104 GB/s; Made Lab")
    assert said.url == f"/runs/{found.own.cell.run}/"


def test_outside_the_range_it_is_said_which_way_is_better() -> None:
    store(system("mine"), *(copy("mine", v, started_at=f"2026-10-0{at}T00:00:00Z") for at, v in
          enumerate((96, 100, 104), start=1)))  # fmt: skip
    one = copied(58)
    (found,) = beside(one)
    text = words.own_words(one, found, names_for(found)).text
    assert text == "42 % below the median of 3 runs (worse)"


def test_less_is_better_reads_the_other_way_round() -> None:
    store(system("mine"), timed("mine", 200.0))
    one = given(250.0, benchmark=LESS[0], metric=LESS[1].name)
    (found,) = beside(one)
    assert found.own is not None
    assert found.own.percent == near(25)
    assert found.own.better is False
    text = words.own_words(one, found, names_for(found)).text
    assert text == "25 % above the one published run (worse: lower is better)"


def test_an_equal_value_and_a_tiny_difference_are_told_apart() -> None:
    store(system("mine"), copy("mine", 100))
    same, near_it = copied(100, lab="other"), copied(100.01, lab="other")
    first, second = beside(same, near_it)
    assert words.own_words(same, first, names_for(first)).text == "equal to the one published run"
    text = words.own_words(near_it, second, names_for(second)).text
    assert text == "less than 0.1 % above the one published run (better)"


def test_nothing_published_is_said() -> None:
    store(system("mine"))
    one = copied(100)
    (found,) = beside(one)
    assert found.first
    assert found.own is None
    assert found.best is None
    assert not found.flags
    assert words.own_words(one, found, names_for(found)).text == "first result of this row"


def test_a_system_without_results_has_others_beside_it() -> None:
    store(system("mine"), system("rival"), copy("rival", 200))
    one = copied(86)
    (found,) = beside(one)
    text = words.own_words(one, found, names_for(found)).text
    assert text == "first result of this system in this row"
    (said,) = words.rival_words(one, found, names_for(found))
    assert said.text == "0.43 times the best, CPU rival · rival"
    assert said.detail == "200 GB/s; Made Lab; of 1 other system"


def test_a_system_that_is_still_open_has_no_row_of_its_own() -> None:
    store(system("rival"), copy("rival", 200))
    one = copied(100, on="")
    (found,) = beside(one)
    assert found.own is None
    assert found.best is not None
    assert found.best.times == near(0.5)
    assert words.own_words(one, found, names_for(found)).text == "open: which system it is"


def test_a_reported_range_has_a_place_but_no_ratio() -> None:
    store(system("mine"), copy("mine", (80.0, 120.0)))
    one = copied(130)
    (found,) = beside(one)
    assert found.own is not None
    assert found.own.percent is None
    assert words.own_words(one, found, names_for(found)).text == "above the published range"
    wide = copied(None, low=90.0, high=100.0)
    (found,) = beside(wide)
    text = words.own_words(wide, found, names_for(found)).text
    assert text == "a range beside a published range: no ratio"


def test_other_variants_and_scopes_are_other_rows() -> None:
    store(system("mine"), copy("mine", 100))
    (found,) = beside(given(100, metric="copy.bandwidth", variant={"placement": "remote"}))
    assert found.first
    (found,) = beside(copied(100, scope="socket"))
    assert found.first


def test_work_of_another_scale_gives_no_ratio() -> None:
    scale = next(
        (b, p, m) for b in catalogue.benchmarks().values()
        for p in b.parameters if p.role == "scale" and p.kind == "text" and not p.choices
        for m in b.metrics[:1]
    )  # fmt: skip
    benchmark, parameter, metric = scale
    stored = run(
        "mine",
        metric.name,
        100,
        benchmark=benchmark.slug,
        unit=metric.unit,
        parameters={parameter.name: "small"},
    )
    store(system("mine"), stored)
    one = given(
        100, benchmark=benchmark.slug, metric=metric.name, scale={parameter.name: "large"},
        variant={},
    )  # fmt: skip
    (found,) = beside(one)
    assert found.own is None
    assert found.other_scale
    assert not found.first
    text = words.own_words(one, found, names_for(found)).text
    assert text == "only other work is published in this row: no ratio"


# Curves


def test_a_curve_is_compared_at_its_own_points_and_by_its_best() -> None:
    store(
        system("mine"),
        system("rival"),
        copy("mine", 50, parameters={"threads": 8}),
        copy("mine", 100, parameters={"threads": 64}),
        copy("rival", 200, parameters={"threads": 128}),
    )
    values = [
        copied(60, axis={"threads": 8}),
        copied(110, axis={"threads": 64}),
        copied(90, axis={"threads": 32}),
    ]
    eight, sixty_four, between = beside(*values)
    assert eight.own is not None
    assert eight.own.percent == near(20)
    assert eight.own.at_point
    assert eight.best is None
    assert eight.best_at == {"threads": 64}
    assert sixty_four.own is not None
    assert sixty_four.own.percent == near(10)
    assert sixty_four.best is not None
    assert sixty_four.best.times == near(0.55)
    assert between.own is not None
    assert not between.own.at_point
    assert between.own.percent == near(-10), "read at the best point, 64 threads"
    said = words.own_words(values[2], between, names_for(between))
    assert "read at 64 threads" in said.detail
    assert "the upload's own best is at 64 threads" in said.detail
    (said,) = words.rival_words(values[2], between, names_for(between))
    assert said.text == "a point of a curve, whose best is compared"


# Others


def test_the_best_other_is_the_best_ranked_single_system() -> None:
    store(
        system("mine"),
        system("rival"),
        system("faster"),
        {"systems": [{"slug": "both", "name": "both", "members": ["rival", "faster"]}],
         "processors": []},
        copy("rival", 150),
        copy("faster", 300),
        copy("both", 900),
    )  # fmt: skip
    (found,) = beside(copied(150))
    assert found.best is not None
    assert (found.best.times, found.best.among) == (near(0.5), 2)


def test_the_best_of_the_same_instruction_set_is_named_where_it_is_known(reference: None) -> None:
    """Vera has 2,073 GB/s, the best x86 server, Xeon 6978P, 914; EPYC 9965 itself 634."""
    one = given(653.654, on=EPYC, variant={"placement": "all"})
    (found,) = beside(one)
    assert found.own is not None
    assert found.own.percent == near(3.1)
    assert found.best is not None
    assert found.best.times == near(653.654 / 2073)
    assert found.alike is not None
    assert found.alike.times == near(653.654 / 914)
    best, alike = words.rival_words(one, found, names_for(found))
    assert best.text.startswith("0.32 times the best, Vera")
    assert alike.text.startswith("0.72 times the best x86 server, Xeon 6978P")


def test_without_a_known_instruction_set_nobody_is_alike(reference: None) -> None:
    store(system("mine"))
    (found,) = beside(given(100))
    assert found.best is not None
    assert found.best.times == near(100 / 2073)
    assert found.alike is None


@pytest.mark.parametrize(
    ("isa", "kind"),
    [("x86-64", "x86"), ("AMD64", "x86"), ("Armv9.2", "Arm"), ("aarch64", "Arm"), ("", "")],
)
def test_instruction_sets_are_of_a_kind(isa: str, kind: str) -> None:
    assert isa_kind(isa) == kind


# Doubts


def test_a_triad_far_above_the_same_system_is_doubted_with_the_likely_mistake(
    reference: None,
) -> None:
    """16,584 GB/s is 8 times the 2,073 of the review."""
    one = given(16_584, on=VERA)
    (found,) = beside(one)
    far = next(flag for flag in found.flags if flag.kind == "far")
    assert far.times == near(8)
    assert far.against == "own"
    assert far.mistake == Mistake("bits", too_large=True, unit="GB/s")
    text = flag_texts(one, found)
    assert "8.0 times what is published of this system: bits taken for bytes?" in text


def test_a_new_system_far_above_the_best_of_its_kind_is_doubted(reference: None) -> None:
    """914 × 7.9 is 7,220.6 GB/s."""
    parts = system("mine")
    parts["processors"][0]["isa"] = "x86-64"
    store(parts)
    one = given(7_220.6)
    (found,) = beside(one)
    (far,) = found.flags
    assert far.times == near(7.9)
    assert far.isa == "x86"
    assert far.against == "best"
    (text,) = flag_texts(one, found)
    assert text.startswith("7.9 times the best x86 server, Xeon 6978P")
    assert text.endswith(": bits taken for bytes?")


def test_a_new_system_far_below_the_worst_is_doubted() -> None:
    store(system("mine"), system("rival"), system("slow"), copy("rival", 200), copy("slow", 50))
    assert [flag.against for flag in beside(copied(5))[0].flags] == ["worst"]
    assert not beside(copied(5.1))[0].flags
    one = copied(2)
    (found,) = beside(one)
    (text,) = flag_texts(one, found)
    assert text.startswith("0.04 times the worst that is published, CPU slow")
    assert text.endswith(": are value and unit right?")
    (text,) = flag_texts(one, beside(copied(0.2))[0])
    assert text.startswith("0.001 times the best, CPU rival")
    assert text.endswith(": GB taken for MB?")


def test_three_times_the_best_is_the_limit() -> None:
    store(system("mine"), system("rival"), copy("rival", 100))
    assert not beside(copied(299))[0].flags
    assert [flag.kind for flag in beside(copied(300))[0].flags] == ["far"]


def test_mebibytes_for_megabytes_are_told_by_the_same_system_only() -> None:
    store(system("mine"), system("rival"), copy("rival", 100))
    assert not beside(copied(104.8576))[0].flags
    store(copy("mine", 100))
    one = copied(104.8576)
    (found,) = beside(one)
    assert [flag.kind for flag in found.flags] == ["unit"]
    (text,) = flag_texts(one, found)
    assert text == "1.049 times what is published of this system: MB taken for MiB?"
    assert not beside(copied(103.5))[0].flags, "3.5 % more is a difference like any other"


@pytest.mark.parametrize(
    ("times", "unit", "expected"),
    [
        (8.0, "GB/s", "bits taken for bytes?"),
        (0.125, "GB/s", "bytes taken for bits?"),
        (1000.0, "GB/s", "MB taken for GB?"),
        (0.001, "GB/s", "GB taken for MB?"),
        (1024.0, "GB/s", "MiB taken for GiB?"),
        (1e6, "GB/s", "kB taken for GB?"),
        (1.073741824, "GB/s", "GB taken for GiB?"),
        (1 / 1.048576, "GB/s", "MiB taken for MB?"),
        (60.0, "s", "seconds taken for minutes?"),
        (1 / 60, "s", "minutes taken for seconds?"),
        (60.0, "NOPM", "a rate per minute taken for one per second?"),
        (1000.0, "us", "ns taken for µs?"),
        (0.001, "requests/s", "thousands taken for ones?"),
    ],
)
def test_a_likely_mistake_is_named(times: float, unit: str, expected: str) -> None:
    found = mistake(times, unit, fine=True)
    assert found is not None
    assert words.mistake_words(found) == expected


@pytest.mark.parametrize(
    ("times", "unit"),
    [(8.0, "requests/s"), (8.5, "GB/s"), (1.2, "GB/s"), (60.0, "GB"), (0.0, "GB/s"), (1.0, "s")],
)
def test_what_no_unit_explains_is_not_explained(times: float, unit: str) -> None:
    assert mistake(times, unit, fine=True) is None


def test_more_than_the_memory_can_do_is_doubted() -> None:
    """24 channels of 6,400 MT/s and 8 bytes are 1,228.8 GB/s, one socket's share is half."""
    parts = system("mine", memory={"channels": 24, "speed_mts": 6400})
    store(parts)
    one = copied(1_400)
    (found,) = beside(one)
    (flag,) = found.flags
    assert flag.kind == "peak"
    assert flag.times == near(1400 / 1228.8 * 100)
    assert flag_texts(one, found) == ["114 % of the memory's peak, inferred to be 1,229 GB/s"]
    assert not beside(copied(1_200))[0].flags
    assert [f.kind for f in beside(copied(700, scope="socket"))[0].flags] == ["peak"]


def test_the_same_value_of_the_same_lab_is_pointed_out() -> None:
    (pk,) = store(system("mine"), copy("mine", 100))
    one = copied(100)
    (found,) = beside(one)
    assert found.flags == (Flag("same", run=pk, cell=found.own.cell if found.own else None),)
    assert not beside(replace(one, lab="other"))[0].flags
    assert not beside(replace(one, known=True))[0].flags, "its run is named instead"
    assert not beside(one, corrects=True)[0].flags, "it is being replaced"


def test_runs_of_the_upload_itself_are_nothing_to_compare_with() -> None:
    first, second = store(
        system("mine"), copy("mine", 100), copy("mine", 110, started_at="2026-10-02T00:00:00Z")
    )
    upload = Upload.objects.create(identity="u", lab=Lab.objects.get(slug=LAB))
    upload.runs.add(first)
    (found,) = beside(copied(100), upload=upload.pk)
    assert found.own is not None
    assert found.own.cell.n == 2
    assert found.own.together
    one = copied(100)
    text = words.own_words(one, found, names_for(found)).text
    assert text == "4.8 % below the median of 2 runs, this one among them, within their range"
    withdraw(runs=[second], actor=None, reason="made")
    (found,) = beside(copied(100), upload=upload.pk)
    assert found.own is None
    assert not found.first


# How much is read


def test_no_more_is_read_of_a_metric_than_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    store(
        system("mine"),
        *(system(f"s{at}") for at in range(4)),
        *(copy(f"s{at}", 100 + at) for at in range(4)),
    )
    monkeypatch.setattr(queries, "MOST_CELLS", 3)
    (found,) = beside(copied(1.0))
    assert found.best is not None
    assert found.best.cell.median == 103
    assert found.best.among == 3
    assert not found.flags, "the worst is not known where not all were read"
    monkeypatch.setattr(queries, "MOST_CELLS", 5)
    assert beside(copied(1.0))[0].flags


def test_reading_takes_the_same_queries_however_many_values(
    django_assert_num_queries: Any,
) -> None:
    store(system("mine"), system("rival"), copy("mine", 100), copy("rival", 200))
    for values in ([copied(100)], [copied(100), given(5), given(5, metric="add.bandwidth")] * 50):
        with django_assert_num_queries(6):  # systems, metrics, own, the upload's, others, ISAs
            systems = queries.systems_named({"mine"}, None)
            ids = [one.pk for one in systems.values()]
            found = queries.published(rows_of(values), ids, 0)
            set_beside(values, found, systems)


@pytest.mark.parametrize(
    ("value", "other", "times"),
    [(2.0, 4.0, 0.5), (0.0, 4.0, 0.0), (2.0, 0.0, None), (-1.0, 2.0, None), (None, 2.0, None)],
)
def test_a_quotient_needs_numbers(
    value: float | None, other: float | None, times: float | None
) -> None:
    assert quotient(value, other) == times
