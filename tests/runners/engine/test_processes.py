"""Processes as /proc tells them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from runners.engine import ending, processes
from tests.benchhub.processes import wait_for

# Its first thread ends, another works on: the kernel then calls the process a zombie.
HEADLESS = """
import ctypes, threading, time
threading.Thread(target=time.sleep, args=(1000,)).start()
ctypes.CDLL(None).pthread_exit(None)
"""


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    yield process
    process.kill()
    process.wait()


def _look(number: int) -> processes.Process:
    process = processes.look(number)
    assert process is not None
    return process


def test_a_process_is_read_as_others_read_it(sleeper: subprocess.Popen[bytes]) -> None:
    process = _look(sleeper.pid)
    assert (process.name, process.parent, process.session) == ("sleep", os.getpid(), sleeper.pid)
    assert (process.threads, process.is_kernel, process.is_over) == (1, False, False)
    since_boot_s = psutil.Process(sleeper.pid).create_time() - psutil.boot_time()
    assert process.started / processes.TICKS == pytest.approx(since_boot_s, abs=2)


def test_a_name_may_hold_brackets_and_spaces(tmp_path: Path) -> None:
    program = tmp_path / ") S 1 (x"
    program.symlink_to("/bin/sleep")
    with subprocess.Popen([str(program), "1000"]) as running:
        process = _look(running.pid)
        running.kill()
    assert (process.name, process.parent) == (") S 1 (x", os.getpid())


def test_no_process_is_none() -> None:
    assert processes.look(2**22 + 5) is None
    assert processes.started(2**22 + 5) is None
    assert processes.children(2**22 + 5) == []
    assert not processes.is_alive(2**22 + 5, 0)
    assert not processes.is_marked(2**22 + 5, "x")


def test_a_zombie_is_not_alive_and_a_recycled_id_is_another(
    sleeper: subprocess.Popen[bytes],
) -> None:
    since = _look(sleeper.pid).started
    assert processes.is_alive(sleeper.pid, since)
    assert not processes.is_alive(sleeper.pid, since - 1)
    os.kill(sleeper.pid, signal.SIGKILL)
    wait_for(lambda: _look(sleeper.pid).state == "Z")
    assert not processes.is_alive(sleeper.pid, since)
    assert processes.started(sleeper.pid) == since


def test_a_process_whose_first_thread_ended_is_alive() -> None:
    with subprocess.Popen([sys.executable, "-c", HEADLESS]) as process:
        wait_for(lambda: _look(process.pid).state == "Z")
        assert processes.is_alive(process.pid, _look(process.pid).started)
        process.kill()


def test_children_are_those_of_all_threads(sleeper: subprocess.Popen[bytes]) -> None:
    found: list[int] = []

    def start_another() -> None:
        with subprocess.Popen(["sleep", "1000"]) as process:
            found.extend(processes.children(os.getpid()))
            found.append(-process.pid)
            process.kill()

    thread = threading.Thread(target=start_another)
    thread.start()
    thread.join()
    assert {sleeper.pid, -found[-1]} <= set(found)


def test_children_are_the_same_where_the_kernel_does_not_list_them(
    sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = processes.children(os.getpid())
    monkeypatch.setattr(processes, "_are_listed", lambda: False)
    assert sleeper.pid in listed
    assert set(processes.children(os.getpid())) == set(listed)


def test_a_place_names_boot_and_namespace() -> None:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert processes.place().startswith(f"{boot} pid:[")
    assert len(processes.place()) <= 120


def test_families_are_told_by_parents() -> None:
    blank = _look(os.getpid())
    there = {
        number: replace(blank, number=number, parent=parent, session=session)
        for number, parent, session in ((1, 0, 1), (5, 1, 5), (6, 5, 5), (7, 6, 7), (8, 1, 5))
    }
    assert processes.with_descendants(there, {5}) == {5, 6, 7}
    assert processes.ancestors(there, 7) == {7, 6, 5, 1}
    assert processes.members(there, 5) == {5, 6, 8}


def test_kernel_threads_are_left_out() -> None:
    assert not any(one.is_kernel for one in processes.table().values())


@pytest.mark.parametrize("has_descriptors", [True, False])
def test_a_signal_reaches_only_the_process_that_was_meant(
    sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch, has_descriptors: bool
) -> None:
    if not has_descriptors:
        monkeypatch.setattr(os, "pidfd_open", _not_implemented)
    process = _look(sleeper.pid)
    assert not ending.send(replace(process, started=process.started - 1), signal.SIGKILL)
    assert sleeper.poll() is None
    assert ending.send(process, signal.SIGKILL)
    assert sleeper.wait() == -signal.SIGKILL
    assert not ending.send(process, signal.SIGKILL)


def _not_implemented(_: int) -> int:
    raise OSError(38, "Function not implemented")
