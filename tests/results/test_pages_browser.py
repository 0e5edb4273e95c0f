"""The pages in a real Chromium: a newcomer's path, keyboard, themes, a phone, no JavaScript."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from results.models import Run
from tests.results.made import run, store, system
from tests.results.pages import run_with_log

Open = Callable[..., Page]
PAGES = (
    "/",
    "/systems/",
    "/systems/?q=nothing-like-it",
    "/systems/nvidia-mgx-vera-c2/",
    "/systems/dell-c6525-rome/",
    "/benchmarks/",
    "/benchmarks/stream/?metric=triad.bandwidth&value=40&unit=GB/s#league",
    "/benchmarks/hammerdb/",
    "/accounts/login/",
)
# What sticks out of the page to the right, by tag and class; scroll bars are 0 px here.
WIDER = """() => [...document.querySelectorAll('body *')]
  .filter(e => e.getBoundingClientRect().right > innerWidth + 0.5)
  .filter(e => !e.closest('.vh, .skip') && getComputedStyle(e).position !== 'absolute')
  .map(e => `${e.tagName}.${e.className}`).slice(0, 5)"""


def fits(page: Page) -> list[str]:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    found: list[str] = page.evaluate(WIDER)
    return found


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (600, "light"), (1440, "light")])
def test_no_page_scrolls_sideways_or_complains(
    live_server: LiveServer, new_page: Open, width: int, scheme: str
) -> None:
    page = new_page(width=width, color_scheme=scheme)
    logged = run_with_log()
    published = Run.objects.filter(source__isnull=False).earliest("id")
    for address in (*PAGES, logged.get_absolute_url(), published.get_absolute_url()):
        page.goto(address)
        expect(page.locator("h1")).to_have_count(1)
        assert fits(page) == [], address


def test_markup_in_names_is_never_run_and_breaks_where_a_phone_ends(
    live_server: LiveServer, new_page: Open
) -> None:
    evil = '"><script>window.ran=1</script><img src=x onerror=window.ran=1>'
    box, other = system("evil-box", vendor=evil[:60], note=evil), system("plain-box")
    box["systems"][0]["name"] = box["processors"][0]["name"] = evil
    box["processors"][0]["short_name"] = "<img src=x onerror=ran=1>"
    huge = run("evil-box", "triad.bandwidth", 1e300, node=evil[:60], setup={"os": evil})
    (pk, _) = store(box, other, huge, run("plain-box", "triad.bandwidth", 1e-300))
    page = new_page(width=390)
    compared = "/compare/?system=evil-box&system=plain-box"
    for address in (compared, "/benchmarks/stream/", f"/runs/{pk}/", "/systems/evil-box/"):
        page.goto(address)
        expect(page.locator("h1")).to_have_count(1)
        assert page.evaluate("window.ran") is None
    assert fits(page) == []


def test_a_newcomer_goes_from_the_front_page_to_the_evidence(
    live_server: LiveServer, page: Page
) -> None:
    page.goto("/")
    page.get_by_role("link", name="2,073").first.click()
    expect(page.locator("h1")).to_have_text("STREAM Triad reaches 2,073 GB/s on Vera")
    page.get_by_role("link", name="source", exact=True).click()
    expect(page.locator("#evidence")).to_be_in_viewport()
    expect(page.locator("#evidence")).to_contain_text("StorageReview")
    page.get_by_role("link", name="League table").click()
    expect(page.get_by_role("heading", name="Vera leads in STREAM Triad")).to_be_visible()


def test_systems_are_found_and_taken_into_a_comparison(live_server: LiveServer, page: Page) -> None:
    page.goto("/systems/")
    page.get_by_label("Name, processor or memory").fill("PowerEdge R7725")
    page.get_by_role("button", name="Find").click()
    page.get_by_label("Compare EPYC 9965").check()
    page.get_by_label("Compare EPYC 9175F").check()
    page.get_by_role("button", name="Compare the chosen systems").click()
    page.wait_for_url("**/compare/?system=*")
    assert "system=dell-r7725-epyc-9965" in page.url
    assert "system=dell-r7725-epyc-9175f" in page.url


def test_a_line_of_evidence_is_reached_from_the_value(live_server: LiveServer, page: Page) -> None:
    page.goto(run_with_log().get_absolute_url())
    page.get_by_role("link", name="line 2").click()
    line = page.locator(".log li:target")
    expect(line).to_contain_text("Triad: 82150.6")
    expect(line).to_be_in_viewport()
    expect(page.locator(".log li.hit")).to_have_count(1)


def test_a_value_is_placed_without_leaving_the_league(live_server: LiveServer, page: Page) -> None:
    page.goto("/benchmarks/stream/")
    page.get_by_label("STREAM Triad", exact=True).fill("40000")
    page.get_by_label("Unit").select_option("MB/s")
    page.get_by_role("button", name="Place").click()
    expect(page.locator("tr.me")).to_contain_text("Your value")
    expect(page.locator("tr.me")).to_be_visible()
    assert page.url.endswith("#league")


def test_the_keyboard_skips_to_the_content_first(live_server: LiveServer, page: Page) -> None:
    page.goto("/")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("main input").first).to_be_focused()


def test_the_theme_is_the_readers_and_is_kept(live_server: LiveServer, new_page: Open) -> None:
    page = new_page(color_scheme="light")
    page.goto("/")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Dark").click()
    dark = page.evaluate(ground)
    assert dark != light
    page.goto("/systems/")
    assert page.evaluate(ground) == dark
    page.get_by_role("button", name="Light").click()
    assert page.evaluate(ground) == light


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_the_ground(
    live_server: LiveServer, new_page: Open, scheme: str
) -> None:
    page = new_page(color_scheme=scheme)
    page.goto("/benchmarks/stream/?value=40")
    assert page.evaluate(LOW_CONTRAST) == []


def test_all_is_readable_without_javascript(live_server: LiveServer, new_page: Open) -> None:
    page = new_page(java_script_enabled=False)
    page.goto("/")
    expect(page.get_by_role("heading", name="Who leads where")).to_be_visible()
    expect(page.get_by_text("2.27× ahead of Xeon 6978P")).to_be_visible()
    expect(page.locator("[data-theme-toggle]")).to_be_hidden()
    page.get_by_role("button", name="Compare the chosen systems").click()
    assert page.url.count("system=") == 6
    page.goto("/benchmarks/stream/?value=40")
    expect(page.locator("tr.me")).to_be_visible()


def test_controls_are_large_enough_for_a_finger(live_server: LiveServer, new_page: Open) -> None:
    page = new_page(width=390)
    page.goto("/systems/")
    sizes = page.locator("main button, main input:not([type=checkbox]), main select").all()
    boxes: list[Any] = [one.bounding_box() for one in sizes]
    assert min(box["height"] for box in boxes if box) >= 24


# Leaf elements with text whose colour has less than 4.5:1 on the page's ground.
LOW_CONTRAST = """() => {
  const light = (c) => c.map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const sum = (c) => { const [r, g, b] = light(c); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const read = (text) => text.match(/[\\d.]+/g).map(Number);
  const ground = (e) => {
    for (let at = e; at; at = at.parentElement) {
      const c = read(getComputedStyle(at).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const seen = [...document.querySelectorAll('body *')].filter(e => !e.closest('.vh, .skip'))
    .filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()))
    .filter(e => e.getClientRects().length);
  return [...new Set(seen.filter(e => {
    const a = sum(read(getComputedStyle(e).color).slice(0, 3)), b = sum(ground(e));
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5;
  }).map(e => `${e.tagName}.${e.className} ${e.textContent.trim().slice(0, 30)}`))].slice(0, 8);
}"""
