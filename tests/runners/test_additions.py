"""What hosts and jobs add to the pages of `results`, and to whom."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from results import hooks
from results.hooks import Hook
from results.models import Run
from runners import queries
from runners.engine import processes
from runners.models import Host
from tests.results.pages import read, run_with_log, source_of
from tests.runners.jobs_made import job_in, signed_in


@pytest.fixture
def staff(db: None) -> Client:
    return signed_in("sam", is_staff=True)


@pytest.fixture
def vera(reference: None) -> Run:
    return Run.objects.filter(system__slug="nvidia-mgx-vera-c2", benchmark__slug="stream")[0]


def test_jobs_and_hosts_stand_in_the_head_for_all(client: Client, db: None) -> None:
    text = source_of(client, "/jobs/")
    assert '<a href="/jobs/" aria-current="page">Jobs</a>' in text
    assert '<a href="/hosts/" >Hosts</a>' in text
    assert '<a href="/jobs/" >Jobs</a>' in source_of(client, "/systems/")


def test_a_run_is_repeated_by_the_staff_alone(client: Client, staff: Client, vera: Run) -> None:
    link = f'<a href="/jobs/new/?run={vera.pk}">Re-run</a>'
    assert link in source_of(staff, f"/runs/{vera.pk}/")
    for reader in (client, signed_in("stan")):
        assert link not in source_of(reader, f"/runs/{vera.pk}/")


def test_a_comparisons_values_are_repeated_by_the_staff_alone(
    client: Client, staff: Client, vera: Run
) -> None:
    text = source_of(staff, "/compare/?benchmark=stream")
    assert f'<span class="ad"><a href="/jobs/new/?run={vera.pk}" aria-label="re-run: run' in text
    values = text.count('<a class="v" href="/runs/')
    assert text.count('<span class="ad">') >= values > 0
    for reader in (client, signed_in("stan")):
        assert "/jobs/new/" not in source_of(reader, "/compare/?benchmark=stream")


def test_readers_get_the_comparison_byte_for_byte_as_without_the_addition(
    client: Client, reference: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_it = client.get("/compare/").content
    monkeypatch.setattr(hooks, "cell_links", Hook())
    assert client.get("/compare/").content == with_it


def test_no_query_is_added_to_a_comparison(
    client: Client, staff: Client, reference: None, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(12):
        client.get("/compare/")
    with django_assert_max_num_queries(14):  # and the session and the account
        staff.get("/compare/")


def test_the_front_page_starts_it_for_the_staff_and_tells_others_how(
    client: Client, staff: Client, reference: None
) -> None:
    text = source_of(staff, "/")
    assert 'action="/jobs/measure/"' in text
    for reader in (client, signed_in("stan")):
        text = source_of(reader, "/")
        assert "python manage.py runbench stream" in text
        assert "/jobs/measure/" not in text
        assert "csrfmiddlewaretoken" not in text.split('id="measure"')[1]


def here(host: Host) -> Host:
    """The host, told to be the machine that the test runs on."""
    host.place = processes.place()
    host.save()
    return host


def test_a_measured_machine_is_compared_with_the_default_systems(
    client: Client, host: Host, reference: None, given_runner: None
) -> None:
    here(host)
    assert "Compare this machine" not in read(client, "/")
    run = run_with_log()
    assert host.system is not None
    Run.objects.filter(pk=run.pk).update(system=host.system)
    text = source_of(client, "/")
    assert "Compare this machine with the published systems" in text
    address = text.split('id="measure"')[1].split('class="go" href="')[1].split('"')[0]
    asked = parse_qs(urlsplit(address.replace("&amp;", "&")).query)
    assert asked["system"] == [*queries.default_columns(), "given-host-system"]
    assert len(asked["system"]) == 7
    assert asked["benchmark"] == ["stream", "tinymembench"]


def test_the_staff_sees_that_the_machine_is_being_measured(
    staff: Client, host: Host, reference: None, given_runner: None
) -> None:
    here(host)
    link = 'href="/jobs/?host=given-host"'
    assert link not in source_of(staff, "/")
    job_in(host, "queued")
    assert link in source_of(staff, "/")


def test_the_front_page_takes_two_queries_more_with_it(
    client: Client, host: Host, reference: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    here(host)
    with CaptureQueriesContext(connection) as with_it:
        client.get("/")
    monkeypatch.setattr(hooks, "home_panels", Hook())
    with CaptureQueriesContext(connection) as without:
        client.get("/")
    assert len(with_it) - len(without) == 2  # nothing is published of the host: no comparison
