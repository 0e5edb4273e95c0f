"""The page of hosts: what each is and does, to whom, in how many queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from results.models import System
from runners.detect import facts_of
from runners.machine import Detail, Facts
from runners.models import Host
from runners.queries import NEWEST
from tests.results.pages import read, source_of
from tests.results.test_pages_browser import fits
from tests.runners import machines
from tests.runners.conftest import make_host
from tests.runners.jobs_made import job_in, signed_in

pytestmark = pytest.mark.usefixtures("given_runner")
HTMX = {"HX-Request": "true"}


def alive(host: Host, **fields: Any) -> Host:
    """A host whose worker was heard just now, and which was looked at."""
    now = timezone.now()
    facts = facts_of(machines.small()).as_json()
    Host.objects.filter(pk=host.pk).update(
        **{"seen_at": now, "detected_at": now, "facts": facts, **fields}
    )
    host.refresh_from_db()
    return host


def test_without_hosts_it_says_how_to_get_one(client: Client, db: None) -> None:
    text = read(client, "/hosts/")
    assert "No machine measures for this hub yet." in text
    assert "make serve" in text
    assert "python manage.py worker" in text


def test_a_host_is_named_by_its_cpu_first_and_says_what_programs_can_use(
    client: Client, host: Host
) -> None:
    alive(host)
    text = read(client, "/hosts/")
    assert "EPYC · given-host" in text
    assert "One socket, 2 cores, 2 logical CPUs, 23.5 GiB of memory" in text
    assert 'id="given-host"' in source_of(client, host.get_absolute_url())
    assert "<title>Hosts · BenchHub</title>" in source_of(client, "/hosts/")


def test_what_its_worker_does_is_said(client: Client, host: Host) -> None:
    assert "Its worker was not started yet" in read(client, "/hosts/")
    alive(host)
    assert "Free" in read(client, "/hosts/")
    assert "One host: one is free." in read(client, "/hosts/")
    job = job_in(host, "running")
    job_in(host, "queued")
    text = read(client, "/hosts/")
    assert f"Measuring job {job.pk}, one job waits" in text
    assert "One host: one measures." in text
    alive(host, seen_at=timezone.now().replace(2025, 3, 1, 4, 5))
    assert "Away since 1 March 2025, 04:05 UTC" in read(client, "/hosts/")
    alive(host, is_open=False)
    assert "Closed by the staff" in read(client, "/hosts/")


def test_a_hidden_system_is_named_to_the_staff_alone(client: Client, host: Host) -> None:
    alive(host)
    System.objects.filter(hosts=host).update(name="Secret box")
    assert "Secret box" not in client.get("/hosts/").content.decode()
    assert "given-host-system" not in client.get("/hosts/").content.decode()
    staff = signed_in("sam", is_staff=True)
    assert "Secret box (not public before a result is)" in read(staff, "/hosts/")
    System.objects.filter(hosts=host).update(is_public=True)
    assert '<a href="/systems/given-host-system/"' in source_of(client, "/hosts/")


def test_what_it_can_run_is_said_and_offered_to_who_may(client: Client, host: Host) -> None:
    alive(
        host,
        runners={
            "stream": {"ready": True, "version": "5.10", "missing": ""},
            "tinymembench": {"ready": False, "version": "", "missing": "a C compiler"},
            "gone": {"ready": True},
        },
    )
    text = read(client, "/hosts/")
    assert "ready 5.10" in text
    assert "not ready missing: a C compiler" in text
    assert "gone" not in text
    start = 'href="/jobs/new/?benchmark=stream&amp;host=given-host"'
    assert start not in source_of(client, "/hosts/")
    staff = signed_in("sam", is_staff=True)
    assert start in source_of(staff, "/hosts/")
    alive(host, is_open=False)
    assert start not in source_of(staff, "/hosts/")


def test_every_detail_stands_with_its_source(client: Client, host: Host) -> None:
    alive(host)
    text = read(client, "/hosts/")
    assert "Hypervisor KVM, full lscpu" in text
    assert "Container docker systemd-detect-virt --container" in text
    assert "Kernel 6.18.44 uname -r" in text
    assert text.index("Machine") < text.index("Software")


def test_a_detail_of_no_known_group_is_shown_all_the_same(client: Client, host: Host) -> None:
    odd = Facts(details=(Detail("gpu", "<b>GPU</b>", "<script>alert(1)</script>", "a tool"),))
    alive(host, facts=odd.as_json())
    assert "<script>alert" not in source_of(client, "/hosts/")
    assert "Further" in read(client, "/hosts/")


def test_notices_stand_with_their_level_and_meaning(client: Client, host: Host) -> None:
    alive(host)
    text = read(client, "/hosts/")
    assert "Mind Virtual machine (KVM) Others on the same hardware may slow a run" in text
    assert "Fine THP madvise Only programs that ask" in text


def test_the_newest_jobs_are_named_without_who_asked(client: Client, host: Host) -> None:
    jobs = [job_in(alive(host), "finished", actor_name="pat-secret") for _ in range(NEWEST + 1)]
    page = source_of(client, "/hosts/")
    assert "pat-secret" not in page
    assert f"/jobs/{jobs[0].pk}/" not in page
    assert all(f'href="/jobs/{job.pk}/"' in page for job in jobs[1:])
    assert "/jobs/?host=given-host" in page


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_queries_are_the_same_for_one_host_and_for_many(
    client: Client, host: Host, headers: dict[str, str], django_assert_num_queries: Any
) -> None:
    alive(host)
    job_in(host, "running")
    with django_assert_num_queries(3):
        client.get("/hosts/", headers=headers)
    for number in range(4):
        other = alive(make_host(f"other-{number}"))
        for state in ("finished", "failed", "running", "queued"):
            job_in(other, state)
    with django_assert_num_queries(3):
        client.get("/hosts/", headers=headers)


def test_htmx_gets_only_what_changes(client: Client, host: Host) -> None:
    job = job_in(alive(host), "running")
    response = client.get("/hosts/", headers=HTMX)
    part = response.content.decode()
    assert "<html" not in part
    assert f"job {job.pk}" in part
    assert "uname -r" not in part
    for name in ("standing", "notices", "jobs"):
        assert f'id="{name}-given-host" hx-swap-oob="true"' in part
    assert "HX-Request" in response["Vary"]
    assert "private" in response["Cache-Control"]
    whole = source_of(client, "/hosts/")
    assert "hx-swap-oob" not in whole


def test_it_is_only_read(client: Client, host: Host) -> None:
    assert client.post("/hosts/").status_code == 405
    assert client.head("/hosts/").status_code == 200


# In a browser

Open = Callable[..., Page]


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (900, "light"), (1440, "light")])
def test_it_fits_and_follows_what_happens(
    live_server: LiveServer, new_page: Open, host: Host, width: int, scheme: str
) -> None:
    alive(host)
    long = Facts(
        processor="X" * 90,
        details=tuple(Detail(f"cpu.{n}", "Label", "9" * 90, f"/sys/{'a' * 90}") for n in range(3)),
    )
    alive(make_host("a" * 60), facts=long.as_json())
    page = new_page(width=width, color_scheme=scheme)
    page.goto("/hosts/#given-host")
    expect(page.locator("h1")).to_have_count(1)
    found = page.locator("#given-host details")
    found.locator("summary").click()
    for details in page.locator("details").all():
        details.evaluate("one => one.open = true")
    assert fits(page) == []
    expect(page.locator("#standing-given-host")).to_have_text("Free")
    job = job_in(host, "running")
    expect(page.locator("#standing-given-host")).to_have_text(f"Measuring job {job.pk}")
    # What was opened stays open.
    assert found.evaluate("one => one.open")


def test_it_is_whole_without_javascript(
    live_server: LiveServer, new_page: Open, host: Host
) -> None:
    alive(host)
    page = new_page(java_script_enabled=False)
    page.goto("/hosts/")
    page.locator("#given-host summary").click()
    expect(page.get_by_text("Debian GNU/Linux 12 (bookworm)")).to_be_visible()
