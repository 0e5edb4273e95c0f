"""What the log says of requests that are refused."""

import logging

import pytest
from django.test import Client

from benchhub.logs import without_traceback


def test_a_refused_request_is_one_line(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    assert client.get("/", headers={"host": "evil.example"}).status_code == 400
    assert "evil.example" in caplog.text
    assert "Traceback" not in caplog.text


def test_the_line_itself_stays() -> None:
    record = logging.LogRecord("django.security", 40, "", 0, "why", None, (None, None, None))
    assert without_traceback(record)
    assert (record.getMessage(), record.exc_info) == ("why", None)
