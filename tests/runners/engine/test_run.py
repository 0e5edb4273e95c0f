"""What is taken for a result, and what the outcome says of everything else."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from runners.benchmarks.base import Step
from runners.engine import run
from runners.engine.base import Limits, Outcome
from tests.runners.engine.helpers import MARKER, QUICK, Notes, execute, python, shell


def test_a_program_that_says_it_finished_gives_its_output(tmp_path: Path) -> None:
    step = shell("echo Triad: 41; echo Solution Validates", finished=r"^Solution Validates$")
    outcome = execute(tmp_path, step)
    assert (outcome.end, outcome.message) == ("finished", "")
    assert outcome.outputs["work"].read_text() == "Triad: 41\nSolution Validates\n"


def test_the_record_holds_what_was_run_and_what_came_of_it(tmp_path: Path) -> None:
    outcome = execute(tmp_path, shell("echo right; echo wrong >&2", cpus=(0,), time_limit_s=9))
    record = json.loads(json.dumps(outcome.record))
    (step,) = record["steps"]
    assert record["marker"] == MARKER
    assert record["before"]["memory_kib"] == record["after"]["memory_kib"] > 0
    assert step["argv"] == ["sh", "-c", "echo right; echo wrong >&2"]
    assert step["env"]["BENCHHUB_ATTEMPT"] == MARKER
    assert (step["cpus"], step["time_limit_s"], step["exit_code"]) == ([0], 9, 0)
    assert step["stdout"] == {
        "file": "1-work.out",
        "bytes": 6,
        "sha256": hashlib.sha256(b"right\n").hexdigest(),
        "cut": False,
    }
    assert step["stderr"]["bytes"] == 6
    assert step["ended"] == []
    assert len(step["samples"]["at_s"]) >= 2


def told(outcome: Outcome) -> str:
    """The sentence for all, and the last words for those who may read the log."""
    return f"{outcome.message} | {outcome.said}"


def test_exit_code_0_without_the_finished_sign_is_a_failure(tmp_path: Path) -> None:
    outcome = execute(tmp_path, shell("echo Failed Validation", finished="^Solution Validates"))
    assert outcome.end == "failed"
    assert told(outcome) == (
        "work ended with exit code 0, but did not say that it finished: expected a line that "
        "matches '^Solution Validates' | Failed Validation"
    )
    assert outcome.outputs == {}


def test_the_finished_sign_does_not_excuse_an_exit_code(tmp_path: Path) -> None:
    outcome = execute(tmp_path, shell("echo done; echo no memory >&2; exit 3", finished="^done"))
    assert outcome.end == "failed"
    assert told(outcome) == "work ended with exit code 3 | no memory"


def test_the_finished_sign_may_stand_in_the_errors(tmp_path: Path) -> None:
    assert execute(tmp_path, shell("echo done >&2", finished="^done$")).end == "finished"


def test_a_signal_is_named(tmp_path: Path) -> None:
    outcome = execute(tmp_path, shell("kill -SEGV $$"))
    assert told(outcome) == "work was ended by signal 11 (SIGSEGV) | "


def test_hostile_bytes_in_the_message_are_replaced(tmp_path: Path) -> None:
    code = r"printf '\033[31mred\000\377\342\200\256 end\n' >&2; exit 1"
    outcome = execute(tmp_path, shell(code))
    assert told(outcome) == ("work ended with exit code 1 | \ufffd[31mred\ufffd\ufffd\ufffd end")


def test_a_message_stays_short(tmp_path: Path) -> None:
    code = "for n in 1 2 3 4 5; do head -c 5000 /dev/zero | tr '\\0' $n; echo; done >&2; exit 1"
    outcome = execute(tmp_path, shell(code))
    assert outcome.message == "work ended with exit code 1"
    assert len(outcome.said) < 700
    assert "…" in outcome.said


def test_a_step_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    outcome = execute(tmp_path, shell("echo done; sleep 1000", time_limit_s=0.2, finished="done"))
    assert outcome.end == "failed"
    assert told(outcome) == "work took longer than 0.2 s | done"
    assert outcome.outputs == {}


def test_steps_run_in_their_order_until_one_fails(tmp_path: Path) -> None:
    outcome = execute(
        tmp_path,
        shell("echo one > file", name="first"),
        shell("cat file; exit 1", name="second"),
        shell("touch third", name="third"),
    )
    assert told(outcome) == "second ended with exit code 1 | one"
    assert [step["name"] for step in outcome.record["steps"]] == ["first", "second"]
    assert not (tmp_path / "third").exists()


def test_every_step_of_a_good_run_gives_its_output(tmp_path: Path) -> None:
    outcome = execute(tmp_path, shell("echo 1", name="a b/c"), shell("echo 2", name="second"))
    assert {name: path.read_text() for name, path in outcome.outputs.items()} == {
        "a b/c": "1\n",
        "second": "2\n",
    }
    assert {path.parent for path in outcome.outputs.values()} == {tmp_path / "output"}


def test_a_program_that_replaces_its_output_file_gives_none(tmp_path: Path) -> None:
    outcome = execute(tmp_path, shell("rm output/1-work.out; ln -s /etc/passwd output/1-work.out"))
    assert outcome.end == "failed"
    assert outcome.message == "work removed or replaced the file that its output went to"


def test_two_steps_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="found 'work' more than once"):
        execute(tmp_path, shell("true"), shell("true"))
    with pytest.raises(ValueError, match="steps: found none"):
        execute(tmp_path)


def test_progress_only_rises_and_ends_at_1(tmp_path: Path) -> None:
    watch = Notes()
    parts = iter([0.5, 0.25, None, 7.0, float("nan")])
    slow = shell(
        "echo half; sleep 0.6", name="slow", weight=3, progress=lambda _: next(parts, None)
    )
    outcome = execute(tmp_path, shell("true", name="quick"), slow, watch=watch)
    assert outcome.end == "finished"
    shares = [progress.share for progress in watch.seen]
    assert shares == sorted(shares)
    assert shares[:2] == [0.0, 0.25]
    assert 0.25 + 0.5 * 0.75 in shares
    assert shares[-1] == 1.0
    assert watch.seen[-1].step == "slow"
    assert watch.seen[-1].tail == "half\n"


def test_the_watch_hears_of_each_session(tmp_path: Path) -> None:
    watch = Notes()
    show = "import os; print(os.getsid(0), open('/proc/self/stat').read().split()[21])"
    outcome = execute(tmp_path, python(show, name="a"), python(show, name="b"), watch=watch)
    printed = [path.read_text().split() for path in outcome.outputs.values()]
    assert [tuple(map(int, words)) for words in printed] == watch.sessions


def test_the_tail_is_bounded(tmp_path: Path) -> None:
    watch = Notes()
    execute(tmp_path, shell("seq 100000"), watch=watch, limits=Limits(tail_bytes=12))
    assert watch.seen[-1].tail == "99999\n100000\n"[-12:]


def test_a_short_measurement_is_flagged_and_a_preparing_step_is_not(tmp_path: Path) -> None:
    steps = (shell("true", name="build", measures=False), shell("echo 1", name="measure"))
    outcome = run(steps, tmp_path, watch=Notes(), marker=MARKER, limits=QUICK, shortest_s=3600)
    assert outcome.end == "finished"
    assert [flag.word for flag in outcome.flags] == ["short"]
    assert outcome.flags[0].text.endswith("too short to measure: expected 3600 s")
    build, measure = outcome.record["steps"]
    assert build["samples"] == {}
    assert len(measure["samples"]["at_s"]) == 2


def test_flags_of_several_measuring_steps_say_which_they_mean(tmp_path: Path) -> None:
    steps = (Step("load", ("true",)), Step("query", ("true",)))
    outcome = run(steps, tmp_path, watch=Notes(), marker=MARKER, shortest_s=3600)
    short = [flag.text.partition(":")[0] for flag in outcome.flags if flag.word == "short"]
    assert short == ["load", "query"]
