"""Cancel, stop, gone: in every state, whatever the program does, nothing runs on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runners.engine import run
from runners.engine.base import Order, Progress
from tests.runners.engine.helpers import (
    MARKER,
    QUICK,
    TELL,
    Notes,
    execute,
    once_there,
    python,
    shell,
    told,
    without_a_trace,
)

STUBBORN = TELL + "signal.signal(signal.SIGTERM, signal.SIG_IGN); tell('there'); time.sleep(1000)"
# As hackbench does: ended early it looks as if it had finished.
POLITE = (
    TELL
    + """
def leave(*_):
    print("done", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, leave)
tell("there")
time.sleep(1000)
"""
)


@pytest.mark.parametrize(
    ("order", "end", "message"),
    [
        ("cancel", "cancelled", "cancelled"),
        ("stop", "stopped", "the worker was stopped"),
        ("gone", "gone", "another worker has taken this over"),
    ],
)
def test_an_order_ends_what_runs(tmp_path: Path, order: Order, end: str, message: str) -> None:
    watch = Notes(once_there(tmp_path / "there", order))
    outcome = execute(tmp_path, python(STUBBORN), watch=watch)
    assert (outcome.end, outcome.message, outcome.outputs) == (end, message, {})
    assert without_a_trace(told(tmp_path, "there"))
    assert outcome.record["steps"][0]["ended"][0]["killed"] is True


def test_an_order_before_the_first_step_starts_nothing(tmp_path: Path) -> None:
    watch = Notes(lambda _: "cancel")
    outcome = execute(tmp_path, shell("touch ran"), watch=watch)
    assert outcome.end == "cancelled"
    assert watch.sessions == []
    assert not (tmp_path / "ran").exists()


def test_an_order_between_two_steps_starts_no_other(tmp_path: Path) -> None:
    def order(progress: Progress) -> Order:
        return "cancel" if progress.step == "second" else "go on"

    outcome = execute(
        tmp_path,
        shell("true", name="first"),
        shell("touch ran", name="second"),
        watch=Notes(order),
    )
    assert outcome.end == "cancelled"
    assert not (tmp_path / "ran").exists()


def test_an_order_in_the_last_moment_takes_no_result(tmp_path: Path) -> None:
    def order(progress: Progress) -> Order:
        return "cancel" if progress.share == 1 else "go on"

    outcome = execute(tmp_path, shell("echo done", finished="done"), watch=Notes(order))
    assert (outcome.end, outcome.outputs) == ("cancelled", {})


def test_a_cancelled_program_that_claims_to_have_finished_gives_no_result(tmp_path: Path) -> None:
    watch = Notes(once_there(tmp_path / "there", "cancel"))
    outcome = execute(tmp_path, python(POLITE, finished="^done$"), watch=watch)
    assert (outcome.end, outcome.outputs) == ("cancelled", {})
    assert (tmp_path / "output" / "1-work.out").read_text() == "done\n"
    assert outcome.record["steps"][0]["exit_code"] == 0


def test_a_stopped_program_is_ended_too(tmp_path: Path) -> None:
    code = TELL + "tell('there'); os.kill(os.getpid(), signal.SIGSTOP)"
    watch = Notes(once_there(tmp_path / "there", "cancel"))
    outcome = execute(tmp_path, python(code), watch=watch)
    assert outcome.end == "cancelled"
    assert without_a_trace(told(tmp_path, "there"))


def test_an_error_of_the_watch_ends_everything_and_is_raised(tmp_path: Path) -> None:
    def order(_: Progress) -> Order:
        if (tmp_path / "there").exists():
            raise RuntimeError("the database is away")
        return "go on"

    with pytest.raises(RuntimeError, match="the database is away"):
        run([python(STUBBORN)], tmp_path, watch=Notes(order), marker=MARKER, limits=QUICK)
    assert without_a_trace(told(tmp_path, "there"))


@pytest.mark.parametrize("order", ["cancel", "go on"])
def test_a_kernel_without_process_descriptors_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: Order
) -> None:
    def not_implemented(_: int) -> int:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(os, "pidfd_open", not_implemented)
    code = TELL + "tell('there'); time.sleep(0.5 if sys.argv[1] == 'go on' else 1000)"
    watch = Notes(once_there(tmp_path / "there", order))
    outcome = execute(tmp_path, python(code, order), watch=watch)
    assert outcome.end == ("cancelled" if order == "cancel" else "finished")
    assert without_a_trace(told(tmp_path, "there"))
