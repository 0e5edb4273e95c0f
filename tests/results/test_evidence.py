"""The lines of a stored log that a run's page shows."""

from __future__ import annotations

import pytest

from results import artefacts
from results.models import Artefact
from results.pages import evidence
from results.pages.evidence import Log, read_log
from tests.results.pages import LOG, run_with_log

pytestmark = pytest.mark.django_db


def log_of(data: bytes, *, lines: tuple[int, int] = (2, 2)) -> Log:
    run = run_with_log(data, lines=lines)
    return read_log(run.artefacts.get(), run.measurements.select_related("metric"))


def test_a_small_log_is_shown_whole_with_its_evidence_marked() -> None:
    log = log_of(LOG)
    assert log.whole
    assert [line.number for line in log.lines] == [1, 2, 3, 4]
    assert [line.hit for line in log.lines] == [False, True, False, False]
    assert log.lines[1].notes == ("triad.bandwidth = 82.1506 GB/s",)


def test_of_a_large_log_only_what_is_around_the_evidence_is_shown() -> None:
    data = b"".join(b"line %d of a long log\n" % n for n in range(1, 40_001))
    log = log_of(data, lines=(20_000, 20_001))
    numbers = [line.number for line in log.lines]
    assert not log.whole
    assert numbers == list(range(20_000 - evidence.AROUND, 20_002 + evidence.AROUND))
    assert log.lines[0].gap == 20_000 - evidence.AROUND - 1


def test_a_line_without_end_is_cut_and_the_next_keeps_its_number() -> None:
    log = log_of(b"x" * 3_000_000 + b"\nTriad: 82150.6\n")
    assert log.lines[0].cut
    assert len(log.lines[0].text) == evidence.LONGEST_LINE
    assert (log.lines[1].number, log.lines[1].text) == (2, "Triad: 82150.6")


def test_a_binary_file_is_not_shown() -> None:
    log = log_of(b"\0\1\2\nTriad\n")
    assert (log.problem, log.lines, log.can_be_fetched) == ("binary", [], True)


def test_signs_that_pose_as_others_are_replaced() -> None:
    log = log_of("a\u202eb\x1b[31m\n Triad\n".encode() + b"\xff\n")
    assert log.lines[0].text == "a\ufffdb\ufffd[31m"
    assert log.lines[2].text == "\ufffd"


def test_a_file_known_by_its_digest_only_says_so() -> None:
    artefact = Artefact.objects.create(sha256="ab" * 32, name="gone.log", size=5)
    log = read_log(artefact, [])
    assert (log.problem, log.can_be_fetched) == ("absent", False)


def test_a_file_that_was_lost_from_the_disk_is_no_error() -> None:
    run = run_with_log()
    artefacts.path_of(run.artefacts.get().sha256).unlink()
    assert read_log(run.artefacts.get(), []).problem == "absent"
