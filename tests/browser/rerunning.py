"""What the browser's tests of jobs share: a hub of its own with its worker, and what is on it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Browser, Locator, Page, expect

from tests.benchhub.processes import wait_for
from tests.conftest import pages_on
from tests.reliability.desk import left_of
from tests.reliability.hub import Hub, running

VERA = "nvidia-mgx-vera-c2"
# Jobs wait for each other on a busy machine; only a failing test waits so long.
END_MS = 120_000
TRIAD_OF_VERA = """
SELECT run.id FROM results_run run
JOIN results_system system ON system.id = run.system_id
JOIN results_benchmark benchmark ON benchmark.id = run.benchmark_id
WHERE system.slug = ? AND benchmark.slug = 'stream' AND run.scope = 'system'
ORDER BY run.id
"""


@dataclass
class Place:
    """A hub with a worker, and browsers whose reader is its first account, the admin."""

    hub: Hub
    browser: Browser
    complaints: list[str] = field(default_factory=list)
    state: Any = None
    open: Callable[..., Page] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.hub.port}"

    @property
    def triad_of_vera(self) -> int:
        """The id of the review's STREAM run on both sockets of Vera."""
        return int(self.hub.rows(TRIAD_OF_VERA, VERA)[0][0])

    def page(self, **options: Any) -> Page:
        """A page of the admin, who signs in by the form once."""
        assert self.open is not None
        if self.state is None:
            page = self.open()
            sign_in(page, self.hub.var)
            self.state = page.context.storage_state()
        return self.open(storage_state=self.state, **options)

    def runs_something(self) -> bool:
        """Whether a process of an attempt is there, soon."""
        return wait_for(lambda: left_of(self.hub) > 0)

    def left_nothing(self) -> bool:
        """Whether no process of any attempt is left, soon."""
        return wait_for(lambda: left_of(self.hub) == 0)


@contextmanager
def place(folder: Path, browser: Browser, **settings: str) -> Iterator[Place]:
    """A hub on a port and a VAR of its own, whose worker has looked around."""
    with running(folder, **settings) as hub:
        wait_for(lambda: hub.rows("SELECT id FROM runners_host WHERE seen_at IS NOT NULL"))
        yield Place(hub, browser)


@contextmanager
def visited(place: Place) -> Iterator[Place]:
    """A test's own browsers there; an error in their consoles fails it."""
    place.complaints = []
    with pages_on(place.address, place.browser, place.complaints) as place.open:
        yield place


def sign_in(page: Page, var: Path) -> None:
    """As the first account, with the password that stands in the hub's folder."""
    page.goto("/accounts/login/")
    page.get_by_label("Name", exact=True).fill("admin")
    page.get_by_label("Password").fill((var / "initial-admin-password").read_text().strip())
    page.locator("form.sheet").get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("link", name="Admin")).to_be_visible()


def title(page: Page) -> Locator:
    """The page's heading."""
    return page.get_by_role("heading", level=1)


def start(page: Page, query: str, **values: str) -> None:
    """Fill the form of a new job, labels written with `_`, and start it."""
    page.goto(f"/jobs/new/?{query}")
    for name, text in values.items():
        page.get_by_label(re.compile(f"^{name}", re.IGNORECASE)).fill(text)
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page).to_have_url(re.compile(r"/jobs/\d+/$"))


def kill_worker(hub: Hub) -> list[int]:
    """Kill the keeper of the host's worker with all that is below it, by their ids."""
    [keeper] = hub.find("keeper")
    struck = [keeper, *keeper.children(recursive=True)]
    for process in struck:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    return [process.pid for process in struck]
