"""What other apps have put right beside the uploads: each by itself."""

from __future__ import annotations

import pytest
from django.db import OperationalError

from results import hooks
from results.hooks import Hook
from results.intake.service import sweep_all

pytestmark = pytest.mark.django_db


def test_every_sweep_is_done_though_one_fails(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    done: list[str] = []
    sweeps: Hook[object] = Hook()
    monkeypatch.setattr(hooks, "sweeps", sweeps)

    @sweeps.add
    def wrong() -> None:
        raise ZeroDivisionError("by nothing")

    @sweeps.add
    def locked() -> None:
        raise OperationalError("database is locked")

    @sweeps.add
    def right() -> None:
        done.append("right")

    sweep_all(strays=False)
    assert done == ["right"]
    failed, waits = caplog.records
    assert failed.exc_info is not None
    assert (waits.getMessage(), waits.exc_info) == (
        "a sweep has to wait: database is locked",
        None,
    )
