"""Measured again, in a real browser, on a real hub: from the admin, a page, the front page.

Any console error or violation of the content security policy fails the test it happens in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.benchhub.processes import gone, wait_for
from tests.browser.fitting import fits
from tests.browser.rerunning import (
    END_MS,
    Place,
    kill_worker,
    place,
    start,
    title,
    visited,
)

pytestmark = pytest.mark.xdist_group("rerun")

STREAM = "benchmark=stream&preset=quick"
SIX = ("Vera", "EPYC 9965", "EPYC 9175F", "Xeon 6978P", "Xeon 6787P", "Xeon 8592+")


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Place]:
    """A hub that measures with the project's kernels, or waits where it is told to."""
    settings = {"EXTRA_RUNNERS": "tests.browser.waiting", "JOB_LEASE_S": "30"}
    with place(tmp_path_factory.mktemp("rerun"), browser, **settings) as made:
        yield made


@pytest.fixture
def here(hub: Place) -> Iterator[Place]:
    """The hub, and browsers of the test's own."""
    with visited(hub) as there:
        yield there


def progress(page: Page) -> Locator:
    """How far the job is, on its page."""
    return page.get_by_role("progressbar", name="How far it is")


def attempt(page: Page, number: int) -> Locator:
    """A row of the attempts."""
    rows = page.locator(".attempts tbody tr")
    return rows.filter(has=page.get_by_role("rowheader", name=str(number), exact=True))


# The story


def test_a_published_run_is_measured_again_published_and_stands_in_its_row(
    here: Place,
) -> None:
    page = here.page()
    _rerun_from_the_admin(page, here.triad_of_vera)
    _watch_to_the_end(page)
    job = page.url
    run = _open_the_run(page)
    page.goto(job)
    page.get_by_role("button", name="Publish the result").click()
    expect(page.get_by_text("1 run was published.")).to_be_visible()
    _see_it_in_veras_row(page)
    page.goto(run)
    _rerun_unchanged(page, run)
    _compare_from_the_front_page(page)


def _rerun_from_the_admin(page: Page, run: int) -> None:
    """Select the run, read what the host cannot do, make it short, start."""
    page.goto("/admin/results/run/?q=vera")
    name = page.get_by_role("link", name=str(run), exact=True)
    row = page.locator("#result_list tbody tr").filter(has=name)
    expect(row).to_contain_text("STREAM")
    row.get_by_role("checkbox").check()
    page.get_by_label("Action:").select_option(label="Re-run on a host…")
    page.get_by_role("button", name=re.compile("^(Go|Run)$")).click()
    expect(title(page).last).to_have_text("Re-run on a host")
    for words in ("16 GiB arrays: this host has", "2 sockets: this host has"):
        expect(page.get_by_text(words)).to_contain_text(" instead")
    expect(page.get_by_label("Array, GiB")).not_to_have_value("16")
    page.get_by_label("Preset").select_option("Quick")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("look at the values, then start")).to_be_visible()
    page.get_by_label("Array, GiB").fill("0.05")
    page.get_by_label("Passes").fill("8")
    page.get_by_label("Wait, ms").fill("4000")
    page.get_by_role("button", name="Start").click()


def _watch_to_the_end(page: Page) -> None:
    """The page of the job moves on by itself."""
    expect(page).to_have_url(re.compile(r"/jobs/\d+/$"))
    page.evaluate("window.opened = true")
    expect(progress(page)).to_have_attribute("aria-valuenow", re.compile(r"^[1-9]"))
    expect(title(page)).to_contain_text("STREAM was measured on", timeout=END_MS)
    expect(page).to_have_title(re.compile("^STREAM was measured on"))
    assert page.evaluate("window.opened") is True  # never loaded anew
    expect(attempt(page, 1)).to_contain_text("finished")
    expect(page.locator(".stood")).to_contain_text("Memory available")


def _open_the_run(page: Page) -> str:
    """The run's evidence is the very lines that its values were read from. Its address."""
    triad = page.locator(".result tr").filter(has_text="STREAM Triad").locator("td")
    value = triad.inner_text().split()[0]
    page.get_by_role("link", name="The run, with its log").click()
    expect(title(page)).to_contain_text(f"STREAM Triad reaches {value} GB/s")
    line = page.locator("#evidence li.hit").filter(has_text="triad.bandwidth")
    expect(line).to_contain_text(re.compile(r"Triad +[0-9.]+"))
    expect(page.locator("#evidence li.hit")).to_have_count(4)
    expect(page.get_by_text("Not public: draft")).to_be_visible()
    return page.url


def _see_it_in_veras_row(page: Page) -> None:
    """One row of the table has both: Vera's published triad and this machine's."""
    page.get_by_role("link", name=re.compile("Compare with Vera")).click()
    row = page.locator("tr[id^=r-]").filter(has_text="STREAM Triad").first
    expect(row.locator('td[data-s="Vera"]')).to_contain_text("2,073")
    own = row.locator('td[data-s]:not([data-s="Vera"])')
    expect(own).to_have_count(1)
    expect(own).to_contain_text("0.05 GiB array")
    expect(own.get_by_role("link").first).to_have_attribute("href", re.compile("/runs/"))


def _rerun_unchanged(page: Page, run: str) -> None:
    """From its own page, with its own parameters: a run beside it."""
    page.get_by_role("link", name="Re-run", exact=True).click()
    expect(page.get_by_label("Array, GiB")).to_have_value("0.05")
    expect(page.get_by_label("Passes")).to_have_value("8")
    expect(page.get_by_text("What this host cannot do")).to_have_count(0)
    page.get_by_role("button", name="Start", exact=True).click()
    expect(title(page)).to_contain_text("STREAM was measured on", timeout=END_MS)
    page.get_by_role("link", name="The run, with its log").click()
    expect(title(page)).to_contain_text("STREAM Triad reaches")
    assert page.url != run


def _compare_from_the_front_page(page: Page) -> None:
    """What was published of this machine stands beside the six servers."""
    page.goto("/")
    page.get_by_role("link", name="Compare it with the published systems").click()
    row = page.locator("tr[id^=r-]").filter(has_text="STREAM Triad").first
    for name in SIX:
        expect(row.locator(f'td[data-s="{name}"]')).to_contain_text(re.compile("[1-9]"))
    expect(row.locator("td[data-s]")).to_have_count(7)
    expect(row.locator("td[data-s]").last).to_contain_text("0.05 GiB array")


# Cancelled, killed


def test_a_job_is_cancelled_in_mid_run_and_nothing_of_it_is_left(here: Place) -> None:
    page = here.page()
    start(page, STREAM, wait="300000")
    expect(progress(page)).to_be_visible(timeout=END_MS)
    assert here.runs_something()
    page.get_by_role("button", name="Cancel").click()
    expect(title(page)).to_contain_text("was cancelled", timeout=END_MS)
    expect(attempt(page, 1)).to_contain_text("cancelled")
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    assert here.left_nothing()


def test_a_killed_workers_attempt_is_lost_and_the_next_one_finishes(here: Place) -> None:
    page = here.page()
    start(page, STREAM, array="0.05", wait="10000")
    expect(progress(page)).to_have_attribute("aria-valuenow", re.compile("^[1-9]"), timeout=END_MS)
    killed = kill_worker(here.hub)
    expect(attempt(page, 1)).to_contain_text("lost", timeout=END_MS)
    expect(attempt(page, 1)).to_contain_text("Its worker died.")
    expect(title(page)).to_contain_text("STREAM was measured on", timeout=END_MS)
    expect(attempt(page, 2)).to_contain_text("finished")
    expect(page.locator(".result")).to_have_count(1)
    assert wait_for(lambda: gone(killed))
    assert here.left_nothing()
    said = here.hub.log.read_text().lower()
    assert not any(word in said for word in ("celery", "kombu", "traceback"))


# This machine


def test_the_front_page_asks_for_both_kernels_and_what_waits_is_cancelled(
    here: Place,
) -> None:
    page = here.page()
    page.goto("/")
    page.get_by_role("button", name="Measure this machine").click()
    expect(page.get_by_text("3 jobs started on")).to_be_visible()
    links = page.locator("#jobs tbody th a")
    newest = [links.nth(number) for number in range(3)]
    expect(newest[0]).to_have_text("tinymembench")
    expect(newest[1]).to_have_text("tinymembench")
    expect(newest[2]).to_have_text("STREAM")
    addresses = [str(link.get_attribute("href")) for link in newest]
    page.goto("/")
    expect(page.get_by_text("It is being measured: see its jobs")).to_be_visible()
    for address in addresses:
        page.goto(address)
        page.get_by_role("button", name="Cancel").click()
        expect(title(page)).to_contain_text("was cancelled", timeout=END_MS)
    assert here.left_nothing()


# Without JavaScript, on a phone


def test_without_javascript_a_reload_shows_how_it_stands(here: Place) -> None:
    page = here.page(java_script_enabled=False)
    start(page, f"run={here.triad_of_vera}&preset=quick", array="0.02", passes="10")
    expect(page.get_by_role("link", name="Reload")).to_be_visible()

    def finished() -> bool:
        page.reload()
        return "was measured on" in title(page).inner_text()

    assert wait_for(finished)
    expect(page.locator(".result")).to_contain_text("STREAM Triad")
    expect(page.get_by_role("link", name="Reload")).to_have_count(0)
    page.goto("/jobs/")
    row = page.locator("#jobs tbody tr").first
    expect(row).to_contain_text("finished")


def test_nothing_scrolls_sideways_on_a_phone(here: Place) -> None:
    page = here.page(width=390)
    start(page, STREAM, wait="300000")
    running = page.url
    expect(progress(page)).to_be_visible(timeout=END_MS)
    for address in (running, "/jobs/", "/hosts/", "/jobs/new/", f"/jobs/new/?{STREAM}"):
        page.goto(address)
        page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        assert fits(page), address
    page.goto(running)
    page.get_by_role("button", name="Cancel").click()
    expect(title(page)).to_contain_text("was cancelled", timeout=END_MS)
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    assert fits(page), running
