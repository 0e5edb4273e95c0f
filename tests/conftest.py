"""What all tests share: the reference data in the database, and a real Chromium.

* The test database holds the reference data from the start; a test that commits (live_server,
  transactional_db) gets it put back afterwards.
* `page` is a browser page on the live server; a console error or a violation of the content
  security policy fails the test that caused it.
* No connection leaves the machine.
"""

import ipaddress
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connections
from django.test import TransactionTestCase
from playwright.sync_api import Browser, ConsoleMessage, Page, ViewportSize, expect, sync_playwright
from pytest_django import DjangoDbBlocker
from pytest_django.live_server_helper import LiveServer

from tests.servers.copies import kept_copy

# Playwright's synchronous API keeps an event loop in this thread; Django's guard against
# database calls inside a loop would take it for asynchronous code.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

# Only a failing test waits this long; a busy machine draws charts slowly.
PATIENCE_MS = 30_000
expect.set_options(timeout=PATIENCE_MS)

CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
)
REPORT_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) => {
  console.error(`CSP: ${event.violatedDirective} refused ${event.blockedURI} ${event.sample}`);
});
"""


def _refuse_other_machines(event: str, args: tuple[Any, ...]) -> None:
    """An audit hook: connecting to an address that is not loopback is a failure."""
    if event != "socket.connect" or not isinstance(args[1], tuple):
        return
    host = args[1][0]
    if host in {"", "localhost"} or ipaddress.ip_address(host.split("%")[0]).is_loopback:
        return
    raise RuntimeError(f"tests may reach loopback only, not {args[1]}")


sys.addaudithook(_refuse_other_machines)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The migrated test database of this process, with the reference data loaded once.

    A test that commits gets it back from a copy: Django's own way, to empty all tables, would
    meet the database's refusal to delete audit rows, and leave no reference data.
    """
    with django_db_blocker.unblock():
        call_command("load_reference", verbosity=0)
        name = str(connections["default"].settings_dict["NAME"])
        connections.close_all()
    with kept_copy(name) as put_back, pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda case: put_back())
        yield


@pytest.fixture
def reference(db: None) -> None:
    """Names in a test's signature that it reads the reference data."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, one for each test process."""
    path = shutil.which("chromium") or "/usr/bin/chromium"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(CHROMIUM_FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture
def complaints() -> list[str]:
    """What the browser's console complained of; must be empty when the test ends."""
    return []


@pytest.fixture
def new_page(
    browser: Browser, live_server: LiveServer, complaints: list[str]
) -> Iterator[Callable[..., Page]]:
    """Open pages on the live server: `new_page(width=390, color_scheme="dark")`.

    Other keywords go to Playwright's `new_context` (`java_script_enabled=False` and so on).
    """
    with pages_on(live_server.url, browser, complaints) as open_page:
        yield open_page


@contextmanager
def pages_on(
    address: str, browser: Browser, complaints: list[str]
) -> Iterator[Callable[..., Page]]:
    """What opens pages on a server, each in a browser of its own; in the end all are closed, and
    none may have complained."""
    contexts = []

    def open_page(*, width: int = 1440, height: int = 900, **options: Any) -> Page:
        size = ViewportSize(width=width, height=height)
        options = {"locale": "en-US", "reduced_motion": "reduce", **options}
        context = browser.new_context(base_url=address, viewport=size, **options)
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        page = context.new_page()
        _listen(page, complaints)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def _listen(page: Page, complaints: list[str]) -> None:
    """Write the page's errors and policy violations down."""

    def on_console(message: ConsoleMessage) -> None:
        if message.type == "error":
            source = message.location.get("url", "")
            complaints.append(f"{message.text} {source} (on {page.url})")

    page.on("console", on_console)
    page.on("pageerror", lambda error: complaints.append(f"{error} (on {page.url})"))
    page.add_init_script(REPORT_VIOLATIONS)


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """A page of 1440 × 900 on the live server, in English, light."""
    return new_page()
