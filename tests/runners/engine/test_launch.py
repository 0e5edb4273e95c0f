"""What a program is started with: its arguments, its environment, its CPUs, and nothing else."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from runners.benchmarks.base import Step
from runners.engine.base import Limits
from tests.runners.engine.helpers import MARKER, PRINT_ARGUMENTS, execute, python, shell

HOSTILE = (
    "-x",
    "--help",
    ";",
    "; touch owned",
    "$(touch owned)",
    "`touch owned`",
    "a\nb",
    "",
    " ",
    "*",
    "'\"\\",
    "–x",
    "x" * 100_000,
    "{}",
    "{other}",
    "%s",
    "é漢\u202e",
)


def _program(folder: Path, name: str, code: str) -> str:
    path = folder / name
    path.write_text(f"#!{sys.executable}\n{code}")
    path.chmod(0o755)
    return str(path)


def test_arguments_arrive_as_they_are(tmp_path: Path) -> None:
    program = _program(tmp_path, "fake", PRINT_ARGUMENTS)
    outcome = execute(tmp_path, Step("work", (program, *HOSTILE)))
    assert json.loads(outcome.outputs["work"].read_text()) == list(HOSTILE)
    assert not (tmp_path / "owned").exists()
    assert outcome.record["steps"][0]["argv"] == [program, *HOSTILE]


def test_the_scratch_folder_is_filled_in(tmp_path: Path) -> None:
    step = python(PRINT_ARGUMENTS + "print(os.environ['DATA'])", "--dir={scratch}/data")
    step = Step(step.name, step.argv, env={"DATA": "{scratch}/data"})
    printed = execute(tmp_path, step).outputs["work"].read_text().splitlines()
    assert json.loads(printed[0]) == [f"--dir={tmp_path}/data"]
    assert printed[1] == f"{tmp_path}/data"


def test_nothing_of_the_worker_is_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENBLAS_CORETYPE", "DATABASE_URL", "SECRET_KEY", "LD_PRELOAD_X", "LANGUAGE"):
        monkeypatch.setenv(name, "leaked")
    show = "import json, os; print(json.dumps(dict(os.environ)))"
    step = python(show, env={"OMP_NUM_THREADS": "2", "TZ": "Asia/Tokyo"})
    outcome = execute(tmp_path, step)
    expected = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "Asia/Tokyo",
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path / "tmp"),
        "TERM": "dumb",
        "OMP_NUM_THREADS": "2",
        "BENCHHUB_ATTEMPT": MARKER,
    }
    assert json.loads(outcome.outputs["work"].read_text()) == expected
    assert outcome.record["steps"][0]["env"] == expected


def test_a_step_cannot_take_another_mark(tmp_path: Path) -> None:
    step = shell("echo $BENCHHUB_ATTEMPT", env={"BENCHHUB_ATTEMPT": "other"})
    assert execute(tmp_path, step).outputs["work"].read_text() == f"{MARKER}\n"


def test_the_program_has_a_session_no_input_and_no_other_files(tmp_path: Path) -> None:
    kept = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(kept, True)  # noqa: FBT003
    try:
        code = "ls /proc/self/fd | wc -l; cat; pwd; umask; cut -d' ' -f6 /proc/$$/stat; echo $$"
        outcome = execute(tmp_path, shell(code))
    finally:
        os.close(kept)
    # 0, 1, 2 and the listing's own.
    files, folder, mask, session, number = outcome.outputs["work"].read_text().split()
    assert (files, folder, mask) == ("4", str(tmp_path), "0077")
    assert session == number


def test_signals_that_the_worker_ignores_or_blocks_reach_the_program(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    try:
        outcome = execute(tmp_path, shell("grep -E 'Sig(Blk|Ign)' /proc/self/status"))
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        signal.signal(signal.SIGINT, before)
    masks = [line.split()[1] for line in outcome.outputs["work"].read_text().splitlines()]
    # 32 and 33 are the C library's own: no program can set them, and whoever started the tests
    # may have left them ignored.
    own = 0b11 << 31
    assert [int(mask, 16) & ~own for mask in masks] == [0, 0]


@pytest.mark.parametrize("cpus", [(0,), tuple(sorted(os.sched_getaffinity(0)))])
def test_the_program_is_bound_to_its_cpus(tmp_path: Path, cpus: tuple[int, ...]) -> None:
    before = os.sched_getaffinity(0)
    show = "import os; print(*sorted(os.sched_getaffinity(0)))"
    outcome = execute(tmp_path, python(show, cpus=cpus))
    assert outcome.outputs["work"].read_text().split() == [str(cpu) for cpu in cpus]
    assert os.sched_getaffinity(0) == before


@pytest.mark.parametrize(("cpus", "named"), [((0, 4095), "4095"), ((), "none")])
def test_a_missing_cpu_is_an_error_in_words(
    tmp_path: Path, cpus: tuple[int, ...], named: str
) -> None:
    outcome = execute(tmp_path, shell("touch ran", cpus=cpus))
    known = ", ".join(map(str, sorted(os.sched_getaffinity(0))))
    assert outcome.end == "failed"
    assert outcome.message == f"work was to be bound to CPU {named}, expected some of {known}"
    assert not (tmp_path / "ran").exists()


def test_a_program_that_cannot_start_is_named(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("text")
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF, but not really")
    broken.chmod(0o755)
    cases = {
        ("no-such-stream", "1"): "there is no program 'no-such-stream', or not the interpreter",
        (str(plain),): f"{str(plain)!r} is not executable for this user",
        (str(broken),): f"{str(broken)!r}: Exec format error",
        ("true", "x" * 1_000_000): "'true': Argument list too long",
        ("true", "a\0b"): "embedded null byte",
    }
    for place, (argv, words) in enumerate(cases.items()):
        scratch = tmp_path / str(place)
        scratch.mkdir()
        outcome = execute(scratch, Step("measure", argv))
        assert outcome.end == "failed"
        assert outcome.message.startswith(f"measure cannot be started: {words}"), outcome.message
        json.dumps(outcome.record)
        assert "\0" not in str(outcome.record)


def test_a_file_of_the_program_may_be_longer_than_its_output(tmp_path: Path) -> None:
    limits = Limits(output_bytes=1000)
    outcome = execute(tmp_path, shell("head -c 100000 /dev/zero > data"), limits=limits)
    assert outcome.end == "finished"
    assert (tmp_path / "data").stat().st_size == 100_000


def test_but_not_longer_than_the_limit_of_files(tmp_path: Path) -> None:
    limits = Limits(file_bytes=50_000)
    outcome = execute(tmp_path, shell("exec head -c 100000 /dev/zero > data"), limits=limits)
    assert outcome.end == "failed"
    assert "signal 25 (SIGXFSZ)" in outcome.message
    assert (tmp_path / "data").stat().st_size == 50_000


def test_the_program_goes_before_the_worker_where_memory_runs_out(tmp_path: Path) -> None:
    outcome = execute(tmp_path, shell("cat /proc/self/oom_score_adj; ulimit -c"))
    assert outcome.outputs["work"].read_text() == "500\n0\n"
