"""What the log says of requests that are refused."""

import logging

import pytest
from django.test import Client

from benchhub.logs import without_traceback


def test_a_refused_request_is_one_line(client: Client, capfd: pytest.CaptureFixture[str]) -> None:
    assert client.get("/", headers={"host": "evil.example"}).status_code == 400
    printed = capfd.readouterr().err
    assert "evil.example" in printed
    assert "Traceback" not in printed


def test_the_line_itself_stays() -> None:
    record = logging.LogRecord("django.security", 40, "", 0, "why", None, (None, None, None))
    assert without_traceback(record)
    assert (record.getMessage(), record.exc_info) == ("why", None)
