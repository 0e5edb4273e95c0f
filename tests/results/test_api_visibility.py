"""Who sees what: published runs all, others their lab and the staff, in every answer."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from results.models import Run
from tests.results.api_data import (
    get,
    make_lab,
    make_member,
    make_run,
    make_system,
    refused,
    signed_in,
)

pytestmark = pytest.mark.django_db
HIDDEN = ("draft", "pending", "scheduled", "withdrawn")


def seen(client: Client, **query: str) -> set[int]:
    return {run["id"] for run in get(client, "runs/", query)["results"]}


@pytest.fixture
def runs() -> dict[str, Run]:
    """A run of lab acme in each state; the embargo of the scheduled one is over, unswept."""
    embargo = timezone.now() - timedelta(days=1)
    dates: dict[str, Any] = {"scheduled": {"publish_at": embargo}}
    return {
        state: make_run(state=state, **dates.get(state, {})) for state in ("published", *HIDDEN)
    }


def askers(runs: dict[str, Run]) -> dict[str, Client]:
    make_lab("other")
    return {
        "anonymous": Client(),
        "stranger": signed_in(make_member(make_lab("other"), "otto")),
        "member": signed_in(make_member(make_lab("acme"), "mia")),
        "staff": signed_in(User.objects.create_user("sam", is_staff=True)),
    }


@pytest.mark.parametrize("who", ["anonymous", "stranger"])
@pytest.mark.parametrize("state", HIDDEN)
def test_what_is_not_published_shows_to_no_stranger_anywhere(
    runs: dict[str, Run], who: str, state: str
) -> None:
    client, run = askers(runs)[who], runs[state]
    reading = run.measurements.get()
    assert seen(client, lab="acme") == {runs["published"].pk}
    assert seen(client, lab="acme", state=state) == set()
    refused(client, f"runs/{run.pk}/", status=404)
    refused(client, f"measurements/{reading.pk}/", status=404)
    assert get(client, "measurements/", {"run": run.pk})["results"] == []


@pytest.mark.parametrize("who", ["member", "staff"])
@pytest.mark.parametrize("state", HIDDEN)
def test_a_lab_and_the_staff_see_all_of_it(runs: dict[str, Run], who: str, state: str) -> None:
    client, run = askers(runs)[who], runs[state]
    assert seen(client, lab="acme") == {one.pk for one in runs.values()}
    assert seen(client, lab="acme", state=state) == {run.pk}
    assert get(client, f"runs/{run.pk}/")["state"] == state
    assert len(get(client, "measurements/", {"run": run.pk})["results"]) == 1


def test_an_account_that_was_closed_sees_what_all_see(runs: dict[str, Run]) -> None:
    member = make_member(make_lab("acme"))
    client = signed_in(member)
    member.is_active = False
    member.save()
    assert seen(client, lab="acme") == {runs["published"].pk}


def test_a_lab_does_not_lead_to_systems_of_its_hidden_runs() -> None:
    make_run(state="pending", system=make_system("acme-secret"))
    query = {"lab": "acme"}
    assert get(Client(), "systems/", query)["count"] == 0
    member = signed_in(make_member(make_lab("acme")))
    assert get(member, "systems/", query)["count"] == 1


def test_a_correction_under_embargo_is_not_named_by_what_it_corrects() -> None:
    old = make_run()
    new = make_run(state="pending", supersedes=old)
    assert get(Client(), f"runs/{old.pk}/")["superseded_by"] is None
    member = signed_in(make_member(make_lab("acme")))
    assert get(member, f"runs/{old.pk}/")["superseded_by"] == new.pk
    assert get(member, f"runs/{new.pk}/")["supersedes"] == old.pk


def test_a_withdrawn_run_is_not_named_by_its_correction() -> None:
    new = make_run(supersedes=make_run(state="withdrawn"))
    assert get(Client(), f"runs/{new.pk}/")["supersedes"] is None


def test_answers_that_depend_on_the_asker_say_so_to_caches(client: Client) -> None:
    assert "Cookie" in client.get("/api/v1/runs/")["Vary"]
    assert "Cookie" not in client.get("/api/v1/compare/").get("Vary", "")


def test_no_answer_names_an_account(runs: dict[str, Run]) -> None:
    make_member(make_lab("acme"), "mia-the-member")
    for path in ("labs/acme/", f"runs/{runs['published'].pk}/", "labs/", "runs/"):
        assert "mia-the-member" not in str(get(Client(), path))
