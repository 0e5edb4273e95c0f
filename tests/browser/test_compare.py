"""The comparison page in a real browser: a newcomer's way, the controls, charts, small screens.

Any console error or violation of the content security policy fails the test it happens in.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.fitting import fits

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("live_server")]

NewPage = Callable[..., Page]
expect.set_options(timeout=20_000)  # a busy machine draws slowly; nothing here waits that long
VERA = "nvidia-mgx-vera-c2"


def line(page: Page, title: str, words: str) -> Locator:
    """The table's line of that workload, measured on that."""
    return page.locator("tr[id^=r-]").filter(has_text=title).filter(has_text=words).first


def cell(page: Page, title: str, words: str, system: str) -> Locator:
    return line(page, title, words).locator(f'td[data-s="{system}"]')


def baseline(page: Page) -> Locator:
    """The select of the baseline."""
    return page.locator("select[name=baseline]")


def draw_all(page: Page) -> int:
    """Scroll to each figure, wait until the last one is drawn; the number of charts."""
    hosts = page.locator("[data-figure]")
    count = hosts.count()
    for at in range(count):
        hosts.nth(at).scroll_into_view_if_needed()
    expect(page.locator(".drawn .main-svg").first).to_be_visible()
    expect(page.locator(".drawn")).to_have_count(count)
    expect(page.locator(".js-plotly-plot .main-svg").last).to_be_attached()
    return count


def test_a_newcomer_reaches_triad_per_core_and_hammerdb_by_engine(page: Page) -> None:
    page.goto("/")
    page.get_by_role("link", name="Triad per core").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "Per core, EPYC 9175F leads in STREAM Triad by 1.73×"
    )
    expect(cell(page, "STREAM Triad", "own memory", "Vera")).to_contain_text("11.78")
    page.goto("/")
    page.get_by_role("link", name=re.compile("HammerDB.*engine")).first.click()
    expect(cell(page, "HammerDB TPROC-C", "one socket", "Vera · PostgreSQL 18.6")).to_contain_text(
        "3.31"
    )
    expect(page.locator("figure h3")).to_contain_text("Vera · PostgreSQL 18.6 leads")


def test_baseline_changes_and_back_and_reload_keep_the_state(page: Page) -> None:
    page.goto("/compare/?benchmark=stream")
    triad = cell(page, "STREAM Triad", "own memory", "Vera")
    expect(triad.locator(".r")).to_have_text("3.27×")
    baseline(page).select_option(label="Xeon 6978P")
    page.get_by_role("button", name="Apply").click()
    expect(triad.locator(".r")).to_have_text("2.27×")
    page.reload()
    expect(triad.locator(".r")).to_have_text("2.27×")
    expect(baseline(page).locator("option:checked")).to_have_text("Xeon 6978P")
    page.get_by_role("link", name="per core").click()
    expect(triad.locator(".r")).to_have_text("3.09×")
    page.go_back()
    expect(triad.locator(".r")).to_have_text("2.27×")
    page.go_back()
    expect(triad.locator(".r")).to_have_text("3.27×")


def test_a_column_is_set_as_baseline_from_its_head(page: Page) -> None:
    page.goto("/compare/")
    head = page.locator("thead th", has_text="Xeon 6787P")
    head.hover()
    head.get_by_role("link", name="set as baseline").click()
    expect(head.locator(".isbase")).to_be_visible()
    expect(cell(page, "STREAM Triad", "own memory", "Xeon 6787P").locator(".r")).to_have_text("1")


@pytest.mark.parametrize(
    ("factor", "title", "column", "value"),
    [
        ("smt", "GROMACS benchPEP", "Vera · SMT on", "2.07"),
        ("engine", "HammerDB TPROC-C", "EPYC 9965 · VillageSQL 0.0.7", "3.00"),
        ("sockets", "STREAM Triad", "Vera · one socket", "1,055"),
        ("placement", "STREAM Triad", "Vera · remote", "677"),
    ],
)
def test_factor_splits_systems_into_columns(
    page: Page, factor: str, title: str, column: str, value: str
) -> None:
    page.goto("/compare/?benchmark=stream&benchmark=gromacs&benchmark=hammerdb/tproc-c")
    page.locator("select[name=factor]").select_option(factor)
    page.get_by_role("button", name="Apply").click()
    expect(page).to_have_url(re.compile(f"factor={factor}"))
    expect(cell(page, title, "", column)).to_contain_text(value)
    assert fits(page)
    draw_all(page)


def test_a_pinned_column_stands_beside_another(page: Page) -> None:
    page.goto(f"/compare/?system={VERA}@smt=off&system={VERA}@smt=on")
    expect(cell(page, "GROMACS benchPEP", "system", "Vera · SMT on").locator(".r")).to_have_text(
        "1.17×"
    )
    expect(page.locator(".chip")).to_have_count(2)
    draw_all(page)


def test_a_parameter_filters_rows(page: Page) -> None:
    page.goto("/compare/")
    page.locator(".set", has_text="SMT").get_by_role("link", name="on", exact=True).click()
    expect(page).to_have_url(re.compile(r"param\.smt=on"))
    expect(line(page, "GROMACS benchPEP", "SMT on")).to_be_visible()
    expect(line(page, "GROMACS benchPEP", "SMT off")).to_have_count(0)


def test_a_system_is_searched_added_and_removed(page: Page) -> None:
    page.goto("/compare/")
    page.get_by_text("Add a system").click()
    page.get_by_label("Search systems").fill("x5570")
    shown = page.locator("#systems > li:visible")
    expect(shown).to_have_count(1)
    shown.get_by_role("checkbox").check()
    page.get_by_role("button", name="Add to the comparison").click()
    expect(page.locator(".chip")).to_have_count(7)
    expect(page.locator("thead th b", has_text="Xeon X5570")).to_be_visible()
    page.get_by_role("link", name="Remove Vera").click()
    expect(page.locator(".chip")).to_have_count(6)
    expect(page.locator("thead th b", has_text="Vera")).to_have_count(0)
    colour = page.locator("thead th", has_text="EPYC 9965").locator(".sw")
    expect(colour).to_have_class(re.compile(r"\bs2\b"))


def test_benchmarks_are_chosen_from_the_list(page: Page) -> None:
    page.goto("/compare/")
    page.locator("#choose-benchmarks > summary").click()
    page.get_by_label("OpenFOAM").check()
    page.get_by_role("button", name="Show these").click()
    expect(page).to_have_url(re.compile("benchmark=openfoam"))
    expect(page.locator("tr[id^=r-]")).to_have_count(2)
    expect(page.locator("figure")).to_have_count(1)


def test_charts_are_drawn_over_the_bars_in_the_colours_of_the_theme(page: Page) -> None:
    page.goto("/compare/?benchmark=hammerdb&benchmark=openfoam")
    assert draw_all(page) == 4
    expect(page.locator("div.bars:visible")).to_have_count(0)
    assert _colours(page) == {"#005433", "#cd5501", "#05658b", "#c46fb8", "#4468e0", "#807c72"}
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert _colours(page) == {"#008244", "#f08e04", "#9ae1ff", "#bf6db1", "#418dfe", "#adaaa5"}
    assert page.locator("[data-title*='Share']").count() == 0


def _colours(page: Page) -> set[str]:
    """The colours of all filled bars of drawn charts."""
    found = page.evaluate(
        "[...document.querySelectorAll('.js-plotly-plot')].flatMap((plot) => plot.data)"
        ".filter((trace) => !trace.meta.hollow).flatMap((trace) => trace.marker.color)"
    )
    return set(found)


def test_a_bar_leads_to_its_run(page: Page) -> None:
    page.goto("/compare/?benchmark=openfoam/driverFastback-medium")
    draw_all(page)
    page.locator(".js-plotly-plot .point > path").first.dispatch_event("click")
    box = page.locator(".js-plotly-plot .point").first.bounding_box()
    assert box
    page.mouse.move(box["x"] + 20, box["y"] + box["height"] / 2)
    page.mouse.click(box["x"] + 20, box["y"] + box["height"] / 2)
    expect(page).to_have_url(re.compile(r"/runs/\d+/$"))


@pytest.mark.parametrize("query", ["", "?factor=engine", "?per=core&benchmark=stream"])
def test_nothing_scrolls_sideways(page: Page, query: str) -> None:
    page.goto(f"/compare/{query}")
    for width in (1440, 1200, 1199, 768, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.locator("figure").last.scroll_into_view_if_needed()
        expect(page.locator(".drawn").last).to_be_attached()
        assert fits(page), width


def test_on_a_phone_a_row_is_a_block_and_controls_and_categories_fold(new_page: NewPage) -> None:
    page = new_page(width=390)
    page.goto("/compare/")
    expect(baseline(page)).to_be_hidden()
    page.get_by_text("Systems and settings").click()
    expect(baseline(page)).to_be_visible()
    page.get_by_text("Add a system").click()
    page.locator("#choose-benchmarks > summary").click()
    page.locator("#filters > summary").click()
    assert fits(page)
    expect(cell(page, "STREAM Triad", "own memory", "Vera")).to_be_visible()
    expect(cell(page, "OpenFOAM large", "system", "Vera")).to_be_hidden()
    page.locator("#t-hpc [data-fold]").click()
    expect(cell(page, "OpenFOAM large", "system", "Vera")).to_be_visible()


@pytest.mark.parametrize("width", [390, 1440])
def test_without_script_everything_can_be_read_and_chosen(new_page: NewPage, width: int) -> None:
    page = new_page(width=width, java_script_enabled=False)
    page.goto("/compare/?benchmark=openfoam&benchmark=hammerdb/tproc-c")
    expect(cell(page, "OpenFOAM large", "system", "Vera")).to_contain_text("1,854")
    expect(page.locator(".bars .bn", has_text="1,854")).to_be_visible()
    expect(page.locator(".vb-chart").first).to_be_visible()
    page.locator("select[name=factor]").select_option("engine")
    page.get_by_role("button", name="Apply").click()
    expect(page).to_have_url(re.compile("factor=engine"))
    page.get_by_text("Add a system").click()
    page.get_by_label("Search systems").fill("sx-7")
    page.get_by_role("button", name="Search").click()
    page.locator("#systems input").check()
    page.get_by_role("button", name="Add to the comparison").click()
    expect(page.locator(".chip")).to_have_count(7)


def test_the_servers_bars_stay_where_the_library_cannot_be_loaded(
    page: Page, complaints: list[str]
) -> None:
    page.route("**/vendor/plotly*", lambda route: route.abort())
    with page.expect_event("requestfailed"):
        page.goto("/compare/?benchmark=openfoam")
        page.locator("figure").last.scroll_into_view_if_needed()
    expect(page.locator("div.bars .bn", has_text="1,854")).to_be_visible()
    expect(page.locator(".drawn")).to_have_count(0)
    assert all("plotly" in complaint or "ERR_FAILED" in complaint for complaint in complaints)
    complaints.clear()


def test_the_keyboard_reaches_content_controls_and_numbers(page: Page) -> None:
    page.goto("/compare/?benchmark=openfoam")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Remove Vera")).to_be_focused()
    page.locator("figure .nums > summary").focus()
    page.keyboard.press("Enter")
    expect(page.locator("figure .nt")).to_be_visible()


def test_a_remembered_theme_is_there_before_the_first_paint(page: Page) -> None:
    page.emulate_media(color_scheme="light")
    page.goto("/")
    page.locator("[data-theme-toggle]").click()
    without_it = {"body": "", "content_type": "text/javascript"}
    page.route("**/theme*.js", lambda route: route.fulfill(**without_it))
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
