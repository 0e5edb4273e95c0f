"""The list of jobs: the queue and what came of those before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from results.pages.uploads import moment_words
from runners import benchmarks
from runners.models import Job
from runners.pages.jobwords import (
    benchmark_name,
    duration_words,
    last_attempt,
    percent_of,
    preset_label,
    seconds_of,
    sentence,
    state_words,
)

State = Job.State
LONGEST_MESSAGE = 160  # characters of a message in a list


@dataclass(frozen=True)
class Row:
    """A job in a list. `percent` is how far it is, None where it does not run."""

    job: Job
    benchmark: str
    preset: str
    state: str
    percent: int | None
    step: str
    asked_at: str
    asker: str
    took: str
    message: str


def rows_of(jobs: Iterable[Job], *, with_names: bool) -> list[Row]:
    """Rows of jobs; `with_names`: who asked, which only the staff reads."""
    return [_row(job, with_names=with_names) for job in jobs]


def _row(job: Job, *, with_names: bool) -> Row:
    attempt = last_attempt(job)
    running = job.state == State.RUNNING and attempt is not None
    seconds = seconds_of(attempt) if attempt else None
    return Row(
        job=job,
        benchmark=benchmark_name(job.benchmark),
        preset=preset_label(job),
        state=state_words(job),
        percent=percent_of(attempt) if running else None,
        step=attempt.step if running and attempt else "",
        asked_at=moment_words(job.created_at),
        asker=job.actor_name if with_names else "",
        took=duration_words(seconds) if job.state != State.QUEUED else "",
        message=sentence(short_message(job, with_names=with_names)[:LONGEST_MESSAGE]),
    )


def short_message(job: Job, *, with_names: bool) -> str:
    """Why it ended. Who cancelled it is for the staff to read."""
    by_name = job.cancel_requested_at is not None and job.state != State.FAILED
    return "" if by_name and not with_names else job.message


@dataclass(frozen=True)
class Wanted:
    """What a list is asked for; `wrong` are sentences about what it cannot be asked for."""

    state: str = ""
    host: str = ""
    benchmark: str = ""
    wrong: tuple[str, ...] = ()

    @property
    def filtered(self) -> bool:
        return bool(self.state or self.host or self.benchmark or self.wrong)


def wanted(query: Mapping[str, str], hosts: Mapping[str, str]) -> Wanted:
    """The filters of an address; `hosts` are those there are, names by slug."""
    known: dict[str, Iterable[str]] = {
        "state": State.values,
        "host": hosts,
        "benchmark": benchmarks.runners(),
    }
    asked = {name: query.get(name, "")[:80] for name in known}
    wrong = {name: text for name, text in asked.items() if text and text not in known[name]}
    fitting = {name: "" if name in wrong else text for name, text in asked.items()}
    return Wanted(**fitting, wrong=tuple(_wrong(*item) for item in wrong.items()))


def _wrong(name: str, text: str) -> str:
    words = {
        "state": _("No state of a job is called %(text)r."),
        "host": _("No host is called %(text)r."),
        "benchmark": _("No runner measures %(text)r."),
    }
    return words[name] % {"text": text}


def choices(hosts: Mapping[str, str]) -> dict[str, list[tuple[str, str]]]:
    """What the form offers: values and words."""
    return {
        "states": [(value, str(label)) for value, label in State.choices],
        "hosts": list(hosts.items()),
        "benchmarks": [(slug, benchmark_name(slug)) for slug in benchmarks.runners()],
    }
