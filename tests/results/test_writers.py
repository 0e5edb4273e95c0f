"""Several writers at once: on SQLite they take turns, on PostgreSQL they meet in the rows."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction
from django.db.models import Sum

from results import passing, services
from results.models import Measurement, Run, Summary, System, Trust
from results.passing import retried
from results.summaries import rebuild
from tests.results.made import run, store, system

pytestmark = pytest.mark.xdist_group("writers")
committing = pytest.mark.django_db(transaction=True)
TIMES = 6


def at_once(*jobs: Callable[[], object]) -> None:
    """Do all of it in threads that begin together; the first error is raised."""
    gate = threading.Barrier(len(jobs))

    def begin(job: Callable[[], object]) -> None:
        try:
            gate.wait(timeout=60)
            job()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(jobs)) as pool:
        for done in [pool.submit(begin, job) for job in jobs]:
            done.result()


def cells() -> list[tuple[object, ...]]:
    names = ("key", "n", "median", "low", "high", "trust", "ranked", "fingerprint")
    return list(Summary.objects.filter(system__slug="a").order_by("key").values_list(*names))


@committing
def test_the_same_new_parts_made_by_four_at_once_are_there_once() -> None:
    def bring(number: int) -> Callable[[], object]:
        value = run("a", "triad.bandwidth", 100.0 + number, setup={"os": "Debian 12"})
        return lambda: store(system("a"), value | {"ordinal": number + 1})

    at_once(*(bring(number) for number in range(4)))
    assert System.objects.filter(slug="a").count() == 1
    assert Run.objects.filter(system__slug="a").count() == 4
    assert [cell[1] for cell in cells()] == [4]


@committing
def test_writers_that_meet_in_the_same_cells_lose_nothing() -> None:
    ids = store(
        system("a"),
        *(
            run("a", f"{name}.bandwidth", 100.0 + n, ordinal=4 * n + place)
            for n in range(TIMES)
            for place, name in enumerate(("triad", "copy", "add", "scale"), start=1)
        ),
    )
    evens, odds = ids[::2], ids[1::2]

    def withdraw_and_return(runs: list[int]) -> Callable[[], object]:
        def turn() -> None:
            for _ in range(TIMES):
                services.withdraw(runs=runs, actor=None, reason="a try")
                services.publish(runs=runs, actor=None)

        return turn

    def judge() -> None:
        for level in (Trust.VERIFIED, Trust.COMMUNITY) * (TIMES // 2):
            services.set_trust(runs=ids, trust=level, actor=None)

    def edit() -> None:
        for number in range(TIMES):
            edited(f"note {number}")

    at_once(withdraw_and_return(evens), withdraw_and_return(odds), judge, edit)
    assert Run.objects.filter(pk__in=ids, state=Run.State.PUBLISHED).count() == len(ids)
    kept = cells()
    assert Summary.objects.filter(system__slug="a").aggregate(all=Sum("n"))["all"] == len(ids)
    assert Measurement.objects.filter(run__in=ids, summary__isnull=True).count() == 0
    with transaction.atomic():
        rebuild(systems=list(System.objects.filter(slug="a").values_list("pk", flat=True)))
    assert cells() == kept


@retried
def edited(note: str) -> None:
    """What the admin does: a system is saved, then its cells are worked out anew."""
    box = System.objects.get(slug="a")
    box.note = note
    box.save()
    rebuild(systems=[box.pk])


class Stopped(Exception):  # noqa: N818
    """Carries a code, as what psycopg raises does."""

    def __init__(self, code: str | None) -> None:
        super().__init__(code)
        self.sqlstate = code


def failing(kind: type[Exception], code: str | None, seen: list[int]) -> Callable[[], None]:
    @retried
    def change() -> None:
        seen.append(1)
        if len(seen) < 3:
            raise kind("stopped") from Stopped(code)

    return change


@committing
@pytest.mark.parametrize(("kind", "code"), [(OperationalError, "40P01"), (IntegrityError, "23505")])
def test_a_change_begins_anew_where_another_was_in_the_way(
    kind: type[Exception], code: str
) -> None:
    seen: list[int] = []
    failing(kind, code, seen)()
    assert len(seen) == 3


@committing
@pytest.mark.parametrize(
    ("kind", "code"),
    [(OperationalError, "57P01"), (OperationalError, None), (IntegrityError, "23503")],
)
def test_a_change_that_failed_otherwise_is_not_repeated(
    kind: type[Exception], code: str | None
) -> None:
    seen: list[int] = []
    with pytest.raises(kind):
        failing(kind, code, seen)()
    assert len(seen) == 1


@pytest.mark.django_db
def test_within_another_transaction_a_change_is_done_once() -> None:
    seen: list[int] = []
    with pytest.raises(OperationalError), transaction.atomic():
        failing(OperationalError, "40P01", seen)()
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("code", "away", "is_passing"),
    [
        (None, True, True),
        ("57P01", True, True),
        ("57P03", True, True),
        ("08006", True, True),
        ("53300", True, True),
        ("53100", False, True),
        ("57014", False, True),
        ("40P01", False, True),
        ("25006", False, True),
        ("42P01", False, False),
        ("28P01", False, False),
    ],
)
def test_what_passes_is_known_by_its_code(code: str | None, away: bool, is_passing: bool) -> None:
    error = OperationalError("in the server's own language")
    error.__cause__ = Stopped(code)
    assert passing.database_is_away(error) is away
    assert passing.passes(error) is is_passing
