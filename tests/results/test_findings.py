"""Sentences over charts: names and figures come from the rows and change with them."""

from __future__ import annotations

from typing import Any

import pytest

from results.compare import Table, compare_systems
from results.wording import decks, findings
from tests.results.made import run, store, system
from tests.results.test_charts import EPYC, SIX, VERA

pytestmark = pytest.mark.django_db


def table(*systems: str, **question: Any) -> Table:
    return compare_systems(systems=systems or SIX, **question)


def heading(*systems: str, **question: Any) -> str:
    found = table(*systems, **question)
    return findings.figure(found, [row for row in found.rows if len(row.cells) > 1])


def pair(left: float, right: float, metric: str = "triad.bandwidth") -> None:
    day = f"2026-10-01T00:00:{len(metric):02}Z"
    store(run("a", metric, left, started_at=day), run("b", metric, right, started_at=day))


@pytest.fixture
def two_systems() -> None:
    store(system("a"), system("b"))


def test_the_title_names_the_leaders_of_the_rows_that_all_have() -> None:
    assert findings.headline(table()) == (
        "Vera leads in STREAM Triad by 2.27×, EPYC 9965 in GROMACS benchPEP by 1.41×"
    )


def test_the_title_follows_the_normalisation() -> None:
    assert findings.headline(table(per="core", benchmarks=["stream/triad"])) == (
        "Per core, EPYC 9175F leads in STREAM Triad by 1.73×"
    )
    assert findings.headline(table(per="peak")) == (
        "Vera reaches 86 % of its peak in STREAM Triad, EPYC 9965 52 %"
    )


def test_the_title_says_what_a_factor_does_to_a_system() -> None:
    assert findings.headline(table(VERA, factor="engine", benchmarks=["hammerdb/tproc-c"])) == (
        "On Vera, HammerDB TPROC-C is 1.63× better with PostgreSQL 18.6 than with MySQL 26.7.0"
    )


def test_the_deck_counts_rows_leads_and_runs() -> None:
    sentences = decks.deck(table(), {"storagereview": "StorageReview"})
    assert sentences == [
        "Six two-socket systems side by side: 63 rows of 15 benchmarks, measured by StorageReview.",
        "Of the seven rows that all six have, Vera leads three, EPYC 9965 leads three "
        "and EPYC 9175F leads one.",
        "Every figure is a single published one (n = 1): differences are shown, "
        "none is called significant.",
    ]


def deck(*systems: str, **question: Any) -> str:
    return " ".join(decks.deck(table(*systems, **question), {"storagereview": "StorageReview"}))


def test_the_deck_of_one_row_and_of_one_system_says_no_more_than_they_hold() -> None:
    assert deck(per="core", benchmarks=["stream/triad"]).startswith(
        "Six two-socket systems side by side: four rows of one benchmark, measured by "
        "StorageReview. In the one row read per core that all six have, EPYC 9175F leads."
    )
    assert deck(VERA) == (
        "One two-socket system: 59 rows of 15 benchmarks, measured by StorageReview. "
        "Every figure is a single published one (n = 1)."
    )


def test_the_deck_says_what_is_not_divided_and_of_whom_the_divisor_is_unknown() -> None:
    said = deck(per="watt")
    assert "that all six have" not in said
    assert "rows keep their totals: their metrics are not read that way." in said
    assert "The divisor is not known for EPYC 9175F, Xeon 6978P, Xeon 6787P and Xeon 8592+." in said
    assert "In the one row read as a share of the peak that all six have, Vera leads." in deck(
        per="peak"
    )


def test_the_deck_says_that_a_factor_splits_nothing() -> None:
    said = "Each system has one value of the factor only: it splits none of them."
    assert said in deck(factor="kernel")
    assert said not in deck(factor="smt")
    assert said not in deck()


def test_a_heading_names_where_each_is_ahead() -> None:
    assert heading(benchmarks=["openfoam"]) == "Vera is ahead in large, EPYC 9965 in medium"
    assert heading(benchmarks=["pyperformance"]) == (
        "Vera is ahead in go and regex_compile, EPYC 9175F in nbody"
    )
    assert heading(benchmarks=["hammerdb/tproc-c"]) == (
        "Vera is ahead with MariaDB and PostgreSQL, EPYC 9965 with MySQL and VillageSQL"
    )


def test_a_heading_of_one_row_names_both_and_the_lead() -> None:
    found = heading(VERA, EPYC, benchmarks=["openfoam/driverFastback-medium"])
    assert found == "EPYC 9965 leads Vera in OpenFOAM medium by 1.12×"


@pytest.mark.usefixtures("two_systems")
@pytest.mark.parametrize(
    ("left", "right", "said"),
    [
        (200.0, 100.0, "CPU a leads CPU b in STREAM Triad by 2.00×"),
        (100.0, 400.0, "CPU b leads CPU a in STREAM Triad by 4.00×"),
        (100.2, 100.0, "CPU a leads CPU b in STREAM Triad by 1.002×"),
        (100.0, 100.0, "STREAM Triad: the first are level"),
    ],
)
def test_a_heading_changes_with_its_data(left: float, right: float, said: str) -> None:
    pair(left, right)
    assert heading("a", "b") == said


@pytest.mark.usefixtures("two_systems")
def test_one_leader_of_all_rows_has_the_span_of_its_leads() -> None:
    pair(200.0, 100.0)
    pair(300.0, 100.0, "copy.bandwidth")
    assert heading("a", "b") == "CPU a is ahead in both rows, by 2.00× to 3.00×"


@pytest.mark.usefixtures("two_systems")
def test_a_range_leads_nothing() -> None:
    store(run("a", "triad.bandwidth", (100.0, 900.0)), run("b", "triad.bandwidth", 100.0))
    assert heading("a", "b") == (
        "STREAM Triad: reported ranges, and too few values to set side by side"
    )


def test_different_work_has_no_leader() -> None:
    found = heading(VERA, EPYC, benchmarks=["kernel_build"])
    assert found == "Kernel build: the columns did different work, so nobody is ahead"


@pytest.mark.usefixtures("two_systems")
def test_without_a_leader_the_title_says_what_stands_side_by_side() -> None:
    store(run("a", "triad.bandwidth", 1.0), run("b", "copy.bandwidth", 1.0))
    assert findings.headline(table("a", "b")) == "CPU a and CPU b side by side"
    assert findings.nobody_shares(table("a", "b"))
    assert findings.headline(table("a")) == "CPU a"
