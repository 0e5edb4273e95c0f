"""The front page, the frame that all pages share, and the error pages."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client, RequestFactory
from django.urls import reverse
from django.views.defaults import bad_request, server_error

from results.models import AuditEntry, Comparison, Measurement, Run, Summary, System
from tests.results.made import run, store, system
from tests.results.pages import read, source_of, staff

pytestmark = pytest.mark.django_db
PAGES = ("/", "/systems/", "/benchmarks/", "/benchmarks/stream/", "/accounts/login/")


def test_the_front_page_counts_what_is_published(client: Client, reference: None) -> None:
    text = read(client, "/")
    assert "32 systems with results" in text
    assert "16 benchmarks" in text
    assert "215 values and 26 reported ranges" in text
    assert "4 labs and lists" in text


def test_the_six_servers_are_chosen_and_the_button_leads_to_their_comparison(
    client: Client, reference: None
) -> None:
    page = source_of(client, "/")
    chosen = re.findall(r'name="system" value="([^"]+)" checked', page)
    assert len(chosen) == 6
    assert chosen[0] == "nvidia-mgx-vera-c2"
    assert f'action="{reverse("compare")}" method="get"' in page
    assert "59 figures" in page


def test_triad_per_core_and_nopm_by_engine_are_one_click_away(
    client: Client, reference: None
) -> None:
    page = source_of(client, "/")
    for address in (
        "/compare/?benchmark=stream/triad&amp;per=core",
        "/compare/?benchmark=hammerdb/tproc-c&amp;factor=engine",
    ):
        assert f'href="{address}"' in page
        assert client.get(address.replace("&amp;", "&")).status_code == 200


def test_leads_come_from_the_comparison(client: Client, reference: None) -> None:
    text = read(client, "/")
    assert "STREAM Triad system · own memory · SMT off Vera 2,073 GB/s" in text
    assert "2.27× ahead of Xeon 6978P 6 systems" in text
    assert "HammerDB TPROC-C one socket · PostgreSQL 18.6 Vera 3.31 M NOPM" in text


def test_each_bar_of_the_front_page_leads_to_a_run(client: Client, reference: None) -> None:
    page = source_of(client, "/")
    runs = re.findall(r'class="bn" href="([^"]+)"', page)
    assert len(runs) == 6
    assert all(client.get(address).status_code == 200 for address in runs)


def test_labs_are_listed_with_their_figures(client: Client, reference: None) -> None:
    text = read(client, "/")
    assert "StorageReview 6 15 222" in text
    assert "STREAM published list 23 1 30" in text


def forget_everything() -> None:
    """Take all results away, as on a hub that has none yet."""
    Comparison.objects.all().delete()
    Summary.objects.all().delete()
    Measurement.objects.all().delete()


def test_without_results_the_front_page_says_so(client: Client) -> None:
    forget_everything()
    text = read(client, "/")
    assert "0 systems with results" in text
    assert "Nothing is published yet." in text
    assert "No comparison is stored yet." in text


def test_a_stored_comparison_of_a_lost_system_does_not_break_the_front_page(
    client: Client, reference: None
) -> None:
    Comparison.objects.filter(is_default=True).update(columns=["gone"])
    assert "No comparison is stored yet." in read(client, "/")


@pytest.mark.parametrize("address", PAGES)
def test_only_links_that_work_are_offered(client: Client, reference: None, address: str) -> None:
    links = re.findall(r'<a[^>]* href="(/[^"#]*)', source_of(client, address))
    local = {link.replace("&amp;", "&") for link in links}
    assert local
    assert {link for link in local if client.get(link).status_code != 200} == set()


def test_no_page_has_inline_scripts_or_event_handlers(client: Client, reference: None) -> None:
    run_page = Run.objects.filter(state="published").latest("id").get_absolute_url()
    some_system = System.objects.earliest("id").get_absolute_url()
    for address in (*PAGES, run_page, some_system):
        page = source_of(client, address)
        assert re.findall(r"\son[a-z]+=", page) == []
        assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", page))


def test_the_page_names_its_language(client: Client) -> None:
    assert '<html lang="en">' in source_of(client, "/")
    assert '<html lang="ja">' in source_of(client, "/?lang=ja")


def test_a_visitor_signs_in_and_out_again(client: Client) -> None:
    User.objects.create_user("mia", password="correct horse")
    wrong = client.post("/accounts/login/", {"username": "mia", "password": "x"})
    assert "do not fit together" in wrong.content.decode()
    answer = client.post(
        "/accounts/login/", {"username": "mia", "password": "correct horse", "next": "/systems/"}
    )
    assert answer["Location"] == "/systems/"
    assert "Sign out" in read(client, "/")
    assert client.get("/accounts/logout/").status_code == 405
    assert client.post("/accounts/logout/")["Location"] == "/"
    assert "Sign in" in read(client, "/")


def test_the_sign_in_page_leads_to_no_other_site(client: Client) -> None:
    User.objects.create_user("mia", password="correct horse")
    sent = {"username": "mia", "password": "correct horse", "next": "https://example.org/"}
    assert client.post("/accounts/login/", sent)["Location"] == "/"


def test_an_unknown_address_suggests_a_search(client: Client) -> None:
    text = read(client, "/no/such/page/", status=404)
    assert "There is nothing at this address" in text
    assert "Look for a system" in text


def test_a_form_without_its_token_is_told_what_to_do() -> None:
    strict = Client(enforce_csrf_checks=True)
    answer = strict.post("/accounts/login/", {"username": "a", "password": "b"})
    assert answer.status_code == 403
    assert "This form is out of date" in answer.content.decode()


def test_the_error_page_stands_without_database_and_context() -> None:
    request = RequestFactory().get("/")
    broken = server_error(request)
    assert broken.status_code == 500
    assert "Something broke on our side" in broken.content.decode()
    assert "static" not in broken.content.decode()
    assert "was not understood" in bad_request(request, Exception()).content.decode()


def queries_of(address: str, client: Client, count: Any) -> int:
    with count() as seen:
        assert client.get(address).status_code == 200
    return len(seen.captured_queries)


def test_the_pages_ask_as_often_with_a_thousand_runs_as_with_ten(
    client: Client, django_capture_queries: Any
) -> None:
    forget_everything()
    made = [system(f"s{n}") for n in range(10)]
    store(*made, *(run(f"s{n}", "triad.bandwidth", n + 1.0) for n in range(10)))
    keys = [f"s{n}" for n in range(6)]
    Comparison.objects.create(slug="made", title="Made", columns=keys, is_default=True)
    addresses = ["/", "/systems/", "/systems/s3/", "/benchmarks/", "/benchmarks/stream/"]
    addresses += [Run.objects.filter(system__slug="s3").latest("id").get_absolute_url()]
    few = {address: queries_of(address, client, django_capture_queries) for address in addresses}
    more = [
        run(f"s{n % 10}", "triad.bandwidth", 1.0 + n, setup={"os": f"OS {n % 97}"}, node=f"n{n}")
        for n in range(990)
    ]
    store(*more)
    many = {address: queries_of(address, client, django_capture_queries) for address in addresses}
    assert many == few
    assert max(many.values()) <= 12


@pytest.fixture
def django_capture_queries() -> Any:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    return lambda: CaptureQueriesContext(connection)


def test_reference_data_loaded_again_changes_no_page(client: Client, reference: None) -> None:
    before = read(client, "/")
    call_command("load_reference", verbosity=0)
    assert read(client, "/") == before
    assert AuditEntry.objects.filter(action="withdraw").count() == 0


def test_the_staff_finds_the_admin(reference: None) -> None:
    assert 'href="/admin/"' in source_of(staff(), "/")
