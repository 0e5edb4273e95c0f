"""Uploads in a real browser: a lab's way from a log to the comparison, and back by a correction.

Any console error or violation of the content security policy fails the test it happens in.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from results.models import Run, Trust
from tests.browser.fitting import fits
from tests.browser.uploading import (
    choose,
    corrected_log,
    drop,
    enter,
    focus_is_seen,
    focused,
    heading,
    log_and_machine,
    payloads,
    sign_in,
    with_password,
)
from tests.results.sent import (
    VERA,
    bundle_of,
    lab_of,
    lscpu,
    member,
    publisher,
    sent,
    staff,
    stream_log,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("live_server")]

NewPage = Callable[..., Page]
NEW_SYSTEM = re.compile(r"A new system: 2 × AMD EPYC 9965")
WHY = "Threads were not bound to their cores"


@dataclass
class Way:
    """How a story is gone: with or without JavaScript, on which screen."""

    new_page: NewPage
    width: int
    script: bool
    host: str

    def open(self, user: User | None = None) -> Page:
        """A browser of its own, signed in if an account is given."""
        page = self.new_page(width=self.width, java_script_enabled=self.script)
        return enter(page, user, self.host) if user else page

    def give(self, page: Page, files: dict[str, bytes]) -> None:
        """Drop the files, or choose them where nothing can be dropped."""
        if self.script and self.width > 600:
            drop(page, files)
        else:
            choose(page, files)

    def holds(self, page: Page) -> None:
        """Nothing sticks out; without JavaScript nobody can ask."""
        if self.script:
            assert fits(page), page.url


@pytest.fixture(
    params=[(1440, True), (1440, False), (390, True)],
    ids=["with JavaScript", "without JavaScript", "on a phone"],
)
def way(request: pytest.FixtureRequest, new_page: NewPage, live_server: LiveServer) -> Way:
    width, script = request.param
    return Way(new_page, width, script, live_server.url)


@pytest.fixture
def desk(new_page: NewPage, live_server: LiveServer) -> Callable[..., Page]:
    """A browser signed in as an account: `desk(user, width=390)`."""
    return lambda user, **options: enter(new_page(**options), user, live_server.url)


def value_of(page: Page, name: str) -> Locator:
    """The preview's line of a value, by the words of its metric."""
    return page.locator(".pv-value").filter(has_text=name)


def lines_of(page: Page) -> Locator:
    """The evidence in the preview."""
    return page.locator(".preview .log li.hit")


# The story


def test_a_log_goes_from_the_lab_to_the_comparison_and_is_corrected(way: Way) -> None:
    mia = with_password(member(lab_of()))
    pia = publisher(lab_of())
    page = way.open()
    address = _upload(way, page, mia)
    _answer(way, page)
    _send(way, page)
    _publish(way, way.open(pia), address)
    reader = way.open()
    run = _find_beside_vera(way, reader)
    _correct(way, page, address)
    _read_why(reader, run, successor=False)
    _publish(way, way.open(pia), page.url)
    _read_why(reader, run, successor=True)
    _follow_to_the_correction(way, reader)


def _upload(way: Way, page: Page, mia: User) -> str:
    """Sign in and send a log and the machine's lscpu. The upload's address."""
    page.goto("/upload/")
    page.get_by_role("link", name="Sign in to upload").click()
    sign_in(page, mia)
    expect(heading(page)).to_have_text("Upload results")
    way.give(page, log_and_machine())
    page.get_by_role("button", name="Upload and check").click()
    expect(heading(page)).to_have_text("1 question is open")
    way.holds(page)
    return page.url


def _answer(way: Way, page: Page) -> None:
    """The open question, and what is seen once it is answered."""
    expect(page.get_by_text("The files describe this machine: 2 × AMD EPYC 9965")).to_be_visible()
    page.get_by_label(NEW_SYSTEM).check()
    page.get_by_role("button", name="Answer and read again").click()
    expect(heading(page)).to_have_text("1 run understood, not public yet")
    triad = value_of(page, "STREAM Triad")
    expect(triad).to_contain_text("82.2 GB/s")
    expect(triad).to_contain_text("0.04 times the best, Vera · NVIDIA MGX Vera C2")
    line = lines_of(page).filter(has_text="Triad:")
    expect(line).to_have_attribute("value", "30")
    expect(line).to_contain_text("82150.6")
    expect(line).to_contain_text("stream.log · as printed: 82150.6 MB/s")
    way.holds(page)


def _send(way: Way, page: Page) -> None:
    """Send for review; nobody else sees anything of it yet."""
    page.get_by_role("button", name="Send for review").click()
    expect(heading(page)).to_have_text("1 run in review")
    run = Run.objects.latest("pk")
    stranger = way.open()
    assert stranger.request.get(run.get_absolute_url()).status == 404
    assert stranger.request.get(page.url).status == 404
    assert stranger.request.get(run.system.get_absolute_url()).status == 404


def _publish(way: Way, page: Page, address: str) -> None:
    """A publisher finds the upload in the list, and publishes it."""
    page.goto("/uploads/?state=review")
    page.get_by_role("link", name=f"Upload {address.rstrip('/').rpartition('/')[2]}").click()
    way.holds(page)
    page.get_by_role("button", name="Publish now").first.click()
    expect(heading(page)).to_have_text("1 run published")


def _find_beside_vera(way: Way, reader: Page) -> str:
    """Anybody finds it beside Vera and sees the line that it was read from. The run's address."""
    system = Run.objects.latest("pk").system.slug
    reader.goto(f"/compare/?system={system}&system={VERA}&benchmark=stream")
    row = reader.locator("tr[id^=r-]").filter(has_text="STREAM Triad").first
    expect(row.locator('td[data-s="Vera"]')).to_contain_text("2,073")
    row.locator('td[data-s="EPYC 9965"]').get_by_role("link", name="82.2").click()
    expect(heading(reader)).to_have_text("STREAM Triad reaches 82.2 GB/s on EPYC 9965")
    reader.get_by_role("link", name="line 30", exact=True).click()
    line = reader.locator("#evidence li.hit").filter(has_text="82150.6")
    expect(line).to_contain_text("triad.bandwidth = 82.1506 GB/s")
    expect(line).to_be_in_viewport()
    way.holds(reader)
    return reader.url.partition("#")[0]


def _correct(way: Way, page: Page, address: str) -> None:
    """The member sends another log, with the reason; the system is the one from before."""
    page.goto(address)
    page.get_by_role("link", name="Correct it").click()
    expect(page.locator("#system")).to_have_value(Run.objects.latest("pk").system.slug)
    page.get_by_label("Reason, shown to readers of the old runs").fill(WHY)
    way.give(page, {"bound.log": corrected_log(), "lscpu.json": lscpu()})
    page.get_by_role("button", name="Upload the correction").click()
    expect(heading(page)).to_have_text("1 run understood, not public yet")
    expect(page.get_by_text(WHY)).to_be_visible()
    page.get_by_role("button", name="Send for review").click()
    expect(heading(page)).to_have_text("1 run in review")
    way.holds(page)


def _read_why(reader: Page, run: str, *, successor: bool) -> None:
    """The old address says why, struck through; it leads on once there is something public."""
    reader.goto(run)
    expect(reader.get_by_text(WHY)).to_be_visible()
    struck = "el => getComputedStyle(el).textDecorationLine"
    value = reader.locator(".struck td.big").first
    expect(value).to_contain_text("82.2")
    assert value.evaluate(struck) == "line-through"
    leads = reader.get_by_role("link", name=re.compile("See the correction"))
    expect(leads).to_have_count(1 if successor else 0)


def _follow_to_the_correction(way: Way, reader: Page) -> None:
    reader.get_by_role("link", name=re.compile("See the correction")).click()
    expect(heading(reader)).to_have_text("STREAM Triad reaches 84.2 GB/s on EPYC 9965")
    expect(reader.get_by_text("This run corrects run")).to_be_visible()
    way.holds(reader)


# Ways to give files


def test_text_is_pasted_instead_of_a_file(desk: Callable[..., Page]) -> None:
    page = desk(member(lab_of()))
    page.goto("/upload/")
    page.get_by_text("Paste text instead").click()
    page.get_by_label("What the tool printed").fill(stream_log().decode())
    page.get_by_label("Under the file name").fill("stream of last night.txt")
    page.locator("#system").fill(VERA)
    page.get_by_role("button", name="Upload and check").click()
    expect(page.locator(".kick")).to_contain_text("Acme")
    expect(value_of(page, "STREAM Triad")).to_contain_text("82.2 GB/s")
    expect(page.locator("#files")).to_contain_text("stream of last night.txt")


def test_dropped_files_are_listed_added_to_and_taken_out(
    page: Page, live_server: LiveServer
) -> None:
    enter(page, member(lab_of()), live_server.url)
    page.goto("/upload/")
    chosen = page.locator("[data-chosen] li")
    drop(page, {"a.log": stream_log(), "b.log": stream_log("gcc_1t.txt")})
    expect(chosen).to_have_count(2)
    drop(page, {"lscpu.json": lscpu()})
    expect(chosen).to_have_count(3)
    page.get_by_role("button", name="Remove: b.log").click()
    expect(chosen).to_contain_text(["a.log", "lscpu.json"])
    page.get_by_role("button", name="Upload and check").click()
    names = page.locator("#files tbody th a")
    expect(names).to_have_text(["a.log", "lscpu.json"])


def test_more_than_twenty_files_are_told_before_they_are_sent(desk: Callable[..., Page]) -> None:
    page = desk(member(lab_of()))
    page.goto("/upload/")
    choose(page, {f"{n}.log": stream_log() for n in range(21)})
    expect(page.locator("[data-warning]")).to_have_text("At most 20 files at a time are taken.")
    page.get_by_role("button", name="Remove: 20.log").click()
    expect(page.locator("[data-warning]")).to_be_hidden()


def test_everything_is_reached_by_keyboard_in_order_and_seen(desk: Callable[..., Page]) -> None:
    page = desk(member(lab_of()))
    page.goto("/upload/")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert _tab(page) == "file"
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Space")
    chooser.value.set_files(payloads(log_and_machine()))
    assert [_tab(page) for _ in range(6)] == [
        *("Remove", "Remove", "Paste text instead", "system", "node", "Upload and check")
    ]
    page.keyboard.press("Enter")
    expect(heading(page)).to_have_text("1 question is open")
    page.get_by_role("radio").first.focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label(NEW_SYSTEM)).to_be_checked()
    assert [_tab(page) for _ in range(3)] == [
        *("system_other", "set.placement", "Answer and read again")
    ]
    page.keyboard.press("Enter")
    expect(heading(page)).to_have_text("1 run understood, not public yet")


def _tab(page: Page) -> str:
    """Go on by one; where that is, once it is outlined."""
    page.keyboard.press("Tab")
    assert focus_is_seen(page), focused(page)
    return focused(page)


# What is wrong, and what is asked


def test_a_refused_file_names_line_what_was_found_and_what_is_expected(
    desk: Callable[..., Page],
) -> None:
    page = desk(member(lab_of()))
    page.goto("/upload/")
    head = b"system;benchmark;scope;metric;value;unit\n"
    rows = b"nvidia-mgx-vera-c2;stream;system;triad.bandwidth;2073,5;GB/week\n"
    choose(page, {"tabelle.csv": head + rows})
    page.get_by_role("button", name="Upload and check").click()
    expect(heading(page)).to_have_text("Refused: 1 problem")
    trouble = page.locator(".problems li")
    expect(trouble).to_contain_text("tabelle.csv, line 2")
    expect(trouble.locator("dd").first).to_have_text("'GB/week'")
    expect(trouble.locator("dd").last).to_contain_text("GB/s")
    expect(trouble.locator("pre")).to_contain_text("2073,5;GB/week")
    drop(
        page, {"tabelle.csv": head + rows.replace(b"GB/week", b"GB/s")}, zone="#replace [data-drop]"
    )
    page.get_by_role("button", name="Replace and read again").click()
    expect(heading(page)).to_have_text("1 run understood, not public yet")
    expect(value_of(page, "STREAM Triad")).to_contain_text("2,074 GB/s")
    expect(page.get_by_text("Numbers are read with a decimal comma")).to_be_visible()


def test_an_answer_that_cannot_be_meant_is_told_and_can_be_changed(
    desk: Callable[..., Page], complaints: list[str]
) -> None:
    page = desk(member(lab_of()))
    page.goto("/upload/")
    choose(page, log_and_machine())
    page.get_by_role("button", name="Upload and check").click()
    page.get_by_role("button", name="Answer and read again").click()
    expect(page.get_by_text("This needs an answer")).to_be_visible()
    page.get_by_label("or another system:").fill("the box below the desk")
    page.get_by_role("button", name="Answer and read again").click()
    expect(page.get_by_text("No system here is called the box below the desk")).to_be_visible()
    assert all("400" in complaint for complaint in complaints)  # said so by the status, too
    complaints.clear()
    page.get_by_label("or another system:").fill(VERA)
    page.get_by_role("button", name="Answer and read again").click()
    expect(page.locator("#contradictions")).to_contain_text("AMD EPYC 9965 192-Core Processor")
    expect(heading(page)).to_have_text("1 question is open")


def test_what_was_said_of_the_system_is_taken_back_later(desk: Callable[..., Page]) -> None:
    page = desk(member(lab_of()))
    page.goto("/upload/")
    choose(page, {"stream.log": stream_log()})
    page.locator("#system").fill("no-such-system")
    page.get_by_role("button", name="Upload and check").click()
    expect(heading(page)).to_have_text("Refused: 1 problem")
    page.get_by_role("link", name="Change what was said beside them").click()
    page.get_by_label("System; empty: as the files say").fill("")
    page.get_by_role("button", name="Take it and read again").click()
    expect(heading(page)).to_have_text("1 question is open")


# Review, dates, links


def test_the_staff_returns_labels_and_publishes(desk: Callable[..., Page]) -> None:
    upload = sent(actor=member(lab_of()))
    page, judge = desk(member(lab_of())), desk(staff())
    page.goto(upload.get_absolute_url())
    page.get_by_role("button", name="Send for review").click()
    judge.goto("/review/")
    expect(heading(judge)).to_have_text("1 upload is in review")
    judge.get_by_role("link", name=f"Upload {upload.pk}").click()
    judge.get_by_label("What is to be mended").fill("Which node was it?")
    judge.get_by_role("button", name="Return with this note").click()
    page.reload()
    expect(heading(page)).to_have_text("Returned, to be mended")
    expect(page.get_by_text("Which node was it?").first).to_be_visible()
    page.get_by_text("Change or add what the files do not say").click()
    page.locator("#set").fill("node=n7")
    page.get_by_role("button", name="Take it and read again").click()
    page.get_by_role("button", name="Send for review").click()
    judge.reload()
    judge.get_by_label("Who stands behind the values").select_option(str(Trust.VERIFIED))
    judge.get_by_label("Not ranked because").fill("a shared machine")
    judge.locator("#standing").get_by_role("button", name="Label").click()
    judge.get_by_role("button", name="Publish now").first.click()
    expect(heading(judge)).to_have_text("1 run published")
    judge.get_by_role("link", name=re.compile("STREAM, run")).click()
    for words in ("n7", "a shared machine", "label", "return"):
        expect(judge.get_by_text(words).first).to_be_visible()


def test_a_wished_date_is_set_and_taken_back(desk: Callable[..., Page]) -> None:
    upload = sent(actor=member(lab_of()))
    page, boss = desk(member(lab_of())), desk(publisher(lab_of()))
    page.goto(upload.get_absolute_url())
    page.get_by_label("to be public from").fill("2028-05-01T10:30")
    page.get_by_role("button", name="Send for review").click()
    expect(heading(page)).to_have_text("1 run in review")
    boss.goto(upload.get_absolute_url())
    expect(boss.locator("#publish_at")).to_have_value("2028-05-01T10:30")
    boss.get_by_role("button", name="Publish at that moment").click()
    expect(heading(boss)).to_have_text("To be published on 1 May 2028, 10:30 UTC")
    page.goto("/uploads/")
    expect(page.get_by_text("public from 1 May 2028, 10:30 UTC")).to_be_visible()
    boss.get_by_role("button", name="Take the date back").click()
    expect(heading(boss)).to_have_text("1 run in review")


def test_a_link_opens_the_preview_to_a_stranger_until_it_is_closed(
    desk: Callable[..., Page], new_page: NewPage
) -> None:
    files = {"runs.json": bundle_of(lab_of())}
    page = desk(member(lab_of()))
    page.goto(sent(files, actor=member(lab_of())).get_absolute_url())
    page.get_by_text("Show it to somebody without an account").click()
    page.get_by_role("button", name="Make a link").click()
    link = page.locator("a.address").get_attribute("href") or ""
    stranger = new_page()
    stranger.goto(link)
    expect(stranger.locator(".kick")).to_contain_text("not public")
    expect(stranger.locator(".preview")).to_contain_text("STREAM Triad")
    expect(stranger.locator("a[download]")).to_have_count(0)
    page.get_by_text("Show it to somebody without an account").click()
    page.get_by_role("button", name="Close all links").click()
    expect(page.locator("a.address")).to_have_count(0)
    assert stranger.request.get(link).status == 404


# Small screens


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_scrolls_sideways_on_a_phone(desk: Callable[..., Page], scheme: str) -> None:
    long = "ein sehr langer Name " * 5 + "x" * 60 + ".log"
    open_one = sent({**log_and_machine(), long: stream_log("gcc_1t.txt")})
    refused = sent({long: b"system,benchmark\n" + b"y" * 300})
    ready = sent(actor=member(lab_of()))
    page = desk(staff(), width=390, color_scheme=scheme)
    uploads = [one.get_absolute_url() for one in (open_one, refused, ready)]
    for address in ("/upload/", "/uploads/", "/review/", *uploads):
        page.goto(address)
        page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        assert fits(page), address
