"""The page of a job: how it stands, its attempts, what it printed, what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from results.models import Run
from results.pages import runpage
from results.pages.uploads import moment_words
from runners.models import Attempt, Job
from runners.models.jobs import MOST_ATTEMPTS
from runners.pages.joblist import short_message
from runners.pages.jobwords import (
    benchmark_name,
    duration_words,
    is_ending,
    last_attempt,
    seconds_of,
    sentence,
)

State = Job.State
LINES_RUNNING, LINES_OVER = 12, 200
MOST_COMPARED = 8
# What terminals are told by programs and pages are not.
CONTROLS = dict.fromkeys([*range(9), *range(11, 32), 127])


def title_of(job: Job) -> str:
    """The page's heading: what becomes of the job."""
    words = {"benchmark": benchmark_name(job.benchmark), "host": job.host}
    if is_ending(job):
        return _("%(benchmark)s on %(host)s is being cancelled") % words
    text = {
        State.QUEUED: _("%(benchmark)s waits at %(host)s"),
        State.RUNNING: _("%(benchmark)s is being measured on %(host)s"),
        State.FINISHED: _("%(benchmark)s was measured on %(host)s"),
        State.FAILED: _("%(benchmark)s failed on %(host)s"),
        State.CANCELLED: _("%(benchmark)s on %(host)s was cancelled"),
    }
    return text[State(job.state)] % words


def deck_of(job: Job, before: int, *, with_names: bool) -> str:
    """The line below: what comes next, or why it ended. `before`: jobs that come first."""
    if job.state == State.QUEUED:
        return " ".join(_queue_words(job, before))
    if is_ending(job):
        return _("What runs is being ended; its result is not taken.")
    if job.state == State.RUNNING:
        return _plan_words(job) + _again_words(job)
    if job.state == State.FINISHED:
        attempt = last_attempt(job)
        took = duration_words(seconds_of(attempt)) if attempt else ""
        return _("It took %(took)s.") % {"took": took} if took else ""
    said = short_message(job, with_names=with_names)
    return sentence(said)


def _plan_words(job: Job) -> str:
    if job.publish:
        return _("When it ends, its values are read from its output and published.")
    return _("When it ends, its values are read from its output and stored as a draft.")


def _queue_words(job: Job, before: int) -> Iterator[str]:
    if before:
        words = ngettext("%(n)d job comes first.", "%(n)d jobs come first.", before)
        yield words % {"n": before}
    else:
        yield _("It is the next one.")
    if not job.host.is_alive:
        yield _("The host's worker has not been heard lately: it begins when that runs.")
    if again := _again_words(job):
        yield again.strip()


def _again_words(job: Job) -> str:
    attempt = last_attempt(job)
    if attempt is None or attempt.number == 1:
        return ""
    words = {"number": attempt.number, "most": MOST_ATTEMPTS}
    return " " + _("Attempt %(number)d of at most %(most)d: the one before was lost.") % words


def seen_of(job: Job) -> str:
    """A key of how the job stands, without how far it is: when it differs, all is shown anew."""
    attempt = last_attempt(job)
    number = attempt.number if attempt else 0
    return f"{job.state}-{number}-{'ending' if is_ending(job) else 'on'}"


@dataclass(frozen=True)
class Tried:
    """An attempt in the table."""

    number: int
    state: str
    started: str
    took: str
    message: str


def attempts_of(job: Job) -> list[Tried]:
    """The attempts, in their order."""
    return [
        Tried(
            number=one.number,
            state=str(one.get_state_display()),
            started=moment_words(one.started_at) if one.started_at else "",
            # Of one that runs, what changes each second says it.
            took="" if one.state == Attempt.State.RUNNING else duration_words(seconds_of(one)),
            message=sentence(one.message),
        )
        for one in job.attempts.all()
    ]


def tail_of(attempt: Attempt | None, *, is_over: bool) -> list[str]:
    """The last lines that were printed, without what only a terminal understands."""
    if attempt is None:
        return []
    lines = [line.translate(CONTROLS) for line in attempt.tail.splitlines()]
    return lines[-(LINES_OVER if is_over else LINES_RUNNING) :]


def flags_of(attempt: Attempt | None) -> list[str]:
    """What speaks against the result, a sentence each."""
    flags = attempt.flags if attempt else []
    return [sentence(str(flag.get("text", ""))) for flag in flags if isinstance(flag, Mapping)]


# What came of it


@dataclass(frozen=True)
class Result:
    """A run that came of the job, its values, and the comparisons that it stands in."""

    run: Run
    rows: Sequence[runpage.Measured]
    links: Sequence[tuple[str, str]]


def results_of(runs: Sequence[Run], repeated: Run | None, columns: Sequence[str]) -> list[Result]:
    """The runs as the page shows them; `columns` are the systems of the default comparison."""
    return [Result(run, runpage.measured(run), _links(run, repeated, columns)) for run in runs]


def _links(run: Run, repeated: Run | None, columns: Sequence[str]) -> list[tuple[str, str]]:
    """Comparisons show what is published: a draft stands in none."""
    if not run.is_published:
        return []
    links = []
    if repeated is not None and repeated.is_published and repeated.system_id != run.system_id:
        address = compare_address([repeated.system.slug, run.system.slug], [run.benchmark.slug])
        words = {"system": repeated.system.short, "number": repeated.pk}
        links.append((_("Compare with %(system)s, run %(number)s") % words, address))
    if columns:
        systems = [*columns, run.system.slug]
        links.append(
            (
                _("Compare with the systems of the newest comparison"),
                compare_address(systems, [run.benchmark.slug]),
            )
        )
    return links


def compare_address(systems: Sequence[str], benchmarks: Sequence[str]) -> str:
    """A comparison of systems (column keys) over benchmarks; each once."""
    pairs = [("system", key) for key in list(dict.fromkeys(systems))[-MOST_COMPARED:]]
    pairs += [("benchmark", slug) for slug in benchmarks]
    return f"{reverse('compare')}?{urlencode(pairs)}"


def can_be_published(runs: Sequence[Run]) -> list[int]:
    """The runs (ids) that were never public."""
    waiting = (Run.State.DRAFT, Run.State.PENDING, Run.State.SCHEDULED)
    return [run.pk for run in runs if run.state in waiting]
