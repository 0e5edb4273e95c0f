"""The tests' own instruments: the browser notices what is wrong, and nothing leaves the machine."""

import socket

import pytest
from django.contrib.auth import get_user_model
from playwright.sync_api import Page


def test_the_admin_can_be_entered_in_a_browser(page: Page) -> None:
    get_user_model().objects.create_superuser("root", password="a long password")
    page.goto("/admin/")
    page.fill("#id_username", "root")
    page.fill("#id_password", "a long password")
    page.click("input[type=submit]")
    assert page.locator("#user-tools").inner_text().upper().startswith("WELCOME")


def test_a_foreign_script_is_refused_and_noticed(page: Page, complaints: list[str]) -> None:
    page.goto("/admin/login/")
    page.evaluate(
        """() => new Promise((resolve) => {
            const script = document.createElement("script");
            script.onerror = resolve;
            script.src = "https://cdn.example/x.js";
            document.head.append(script);
        })"""
    )
    assert any("CSP: script-src" in complaint for complaint in complaints)
    complaints.clear()


def test_an_error_in_a_page_is_noticed(page: Page, complaints: list[str]) -> None:
    page.goto("/admin/login/")
    page.evaluate("() => console.error('broken')")
    assert any("broken" in complaint for complaint in complaints)
    complaints.clear()


def test_no_test_reaches_another_machine() -> None:
    with (
        socket.socket() as outside,
        pytest.raises(RuntimeError, match="loopback only"),
    ):
        outside.connect(("192.0.2.1", 80))
