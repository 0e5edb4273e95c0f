"""Words that lists of jobs and the page of a job share."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from results import catalogue
from results.wording import unit_words
from runners import benchmarks
from runners.benchmarks.base import Parameter, Value
from runners.models import Attempt, Job


def benchmark_name(slug: str) -> str:
    """The benchmark's name in the catalogue; its slug where the catalogue has none."""
    entry = catalogue.get(slug)
    return entry.name if entry else slug


def preset_label(job: Job) -> str:
    """The preset as the runner calls it."""
    runner = benchmarks.get(job.benchmark)
    preset = runner.preset(job.preset) if runner else None
    return _(preset.label) if preset else job.preset


def is_ending(job: Job) -> bool:
    """Whether somebody has cancelled it, and it has not come to its end yet."""
    return job.cancel_requested_at is not None and not job.is_over


def state_words(job: Job) -> str:
    """The state in a word or two."""
    return _("being cancelled") if is_ending(job) else str(job.get_state_display())


def last_attempt(job: Job) -> Attempt | None:
    """The newest of a job's attempts, which are fetched in their order."""
    attempts = list(job.attempts.all())
    return attempts[-1] if attempts else None


def percent_of(attempt: Attempt | None) -> int:
    """How far it is, 0 to 100; rounded down, so that 100 is the end."""
    return int(attempt.progress * 100) if attempt else 0


def seconds_of(attempt: Attempt, now: datetime | None = None) -> float | None:
    """How long it took, or has been running for; None before it began."""
    if attempt.started_at is None:
        return None
    end = attempt.finished_at or now or timezone.now()
    return max(0.0, (end - attempt.started_at).total_seconds())


def duration_words(seconds: float | None) -> str:
    """'0.4 s', '12 s', '2 min 5 s', '1 h 3 min'; empty for None."""
    if seconds is None:
        return ""
    if seconds < 10:
        return _("%(n)s s") % {"n": f"{seconds:.1f}"}
    whole = timedelta(seconds=round(seconds))
    hours, rest = divmod(int(whole.total_seconds()), 3600)
    minutes, left = divmod(rest, 60)
    if hours:
        return _("%(hours)d h %(minutes)d min") % {"hours": hours, "minutes": minutes}
    if minutes:
        return _("%(minutes)d min %(seconds)d s") % {"minutes": minutes, "seconds": left}
    return _("%(n)s s") % {"n": left}


def sentence(said: str) -> str:
    """What a program said of itself, as a sentence: a capital at its head, a stop at its end."""
    text = said.strip()
    return f"{text[:1].upper()}{text[1:].rstrip('.')}." if text else ""


def jobs_words(count: int) -> str:
    """'3 jobs'."""
    return ngettext("%(n)d job", "%(n)d jobs", count) % {"n": count}


def parameters_of(job: Job) -> list[tuple[str, str]]:
    """The job's parameters under the names that the runner has for them, in its order."""
    runner = benchmarks.get(job.benchmark)
    known = {one.name: one for one in runner.parameters} if runner else {}
    names = [name for name in known if name in job.parameters]
    names += [name for name in job.parameters if name not in known]
    return [_parameter(name, job.parameters[name], known.get(name)) for name in names]


def _parameter(name: str, value: Value, known: Parameter | None) -> tuple[str, str]:
    text = number_text(value)
    if known is None:
        return name, text
    words = _(known.words[text]) if text in known.words else text
    unit = f" {unit_words(known.unit)}" if known.unit else ""
    return _(known.label), f"{words}{unit}"


def number_text(value: Value) -> str:
    """A value as a form takes it: '4', '0.5', 'local'."""
    return f"{value:.12g}" if isinstance(value, float) else str(value)
