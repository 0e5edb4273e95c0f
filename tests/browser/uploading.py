"""What the browser's tests of uploads share: people who are signed in, files, drops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import FilePayload, Page

from tests.results.sent import lscpu, stream_with_threads

PASSWORD = "correct horse battery staple"
DROP = """([zone, files]) => {
  const carried = new DataTransfer();
  for (const [name, text] of Object.entries(files)) carried.items.add(new File([text], name));
  for (const type of ["dragenter", "dragover", "drop"]) {
    const event = new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: carried });
    document.querySelector(zone).dispatchEvent(event);
  }
}"""
OUTLINE = """() => {
  const style = getComputedStyle(document.activeElement);
  return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
}"""


def log_and_machine() -> dict[str, bytes]:
    """STREAM's output on all cores of a machine of two EPYC 9965, and its lscpu."""
    return {"stream.log": stream_with_threads(384), "lscpu.json": lscpu()}


def corrected_log() -> bytes:
    """The same log with another Triad, and a shortest time that fits it."""
    log = stream_with_threads(384)
    return log.replace(b"82150.6", b"84150.6").replace(b"0.005843", b"0.005704")


def with_password(user: User) -> User:
    """An account that can sign in."""
    user.set_password(PASSWORD)
    user.save()
    return user


def enter(page: Page, user: User, host: str) -> Page:
    """The page, its browser signed in as that account without the form."""
    client = Client()
    client.force_login(user)
    key = client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": key, "url": host}])
    return page


def sign_in(page: Page, user: User) -> None:
    """Sign in by the form that is open."""
    page.get_by_label("Name", exact=True).fill(user.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.locator("form.sheet").get_by_role("button", name="Sign in").click()


def payloads(files: Mapping[str, bytes]) -> list[FilePayload]:
    """Files as a file field takes them."""
    return [
        FilePayload(name=name, mimeType="text/plain", buffer=data) for name, data in files.items()
    ]


def drop(page: Page, files: Mapping[str, bytes], zone: str = "[data-drop]") -> None:
    """Drop the files where files are dropped."""
    page.evaluate(DROP, [zone, {name: data.decode() for name, data in files.items()}])


def choose(page: Page, files: Mapping[str, bytes]) -> None:
    """Choose the files in the file field."""
    page.locator("#file").set_input_files(payloads(files))


def focus_is_seen(page: Page) -> bool:
    """Whether what has the focus is outlined."""
    return bool(page.evaluate(OUTLINE))


def focused(page: Page) -> str:
    """The id, name or first words of what has the focus."""
    found: Any = page.evaluate(
        "(at => at.id || at.name || at.textContent.trim().slice(0, 40))(document.activeElement)"
    )
    return str(found)


def heading(page: Page) -> Any:
    """The page's heading."""
    return page.get_by_role("heading", level=1)
