"""What the engine noted of an execution, made fit to be read: each step, and the host around it.

The whole of it, with the samples taken meanwhile, is stored beside the run's log. Nothing here
relies on its shape: what is not there, or is not what it should be, is not shown.
"""

from __future__ import annotations

import shlex
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from runners.detect.words import kib_words, spans
from runners.pages.jobwords import duration_words

LONGEST_TEXT = 4_000  # characters of a command or an environment
MOST_STEPS = 20
Pair = tuple[str, str]


@dataclass(frozen=True)
class Step:
    """A program that was started. `env` has a variable a line."""

    name: str
    outcome: str
    command: str
    env: str
    rows: Sequence[Pair]


@dataclass(frozen=True)
class Stand:
    """A line on the host: how it stood before and after; for a counter, how far it rose."""

    name: str
    before: str = ""
    after: str = ""
    rose: str = ""


@dataclass(frozen=True)
class Record:
    """The record as the page shows it."""

    steps: Sequence[Step]
    host: Sequence[Stand]

    def __bool__(self) -> bool:
        return bool(self.steps or self.host)


def record_of(noted: Any) -> Record:
    """The record of an attempt, as it was stored."""
    known = _mapping(noted)
    steps = [_step(one) for one in _list(known.get("steps"))[:MOST_STEPS] if _mapping(one)]
    before, after = _mapping(known.get("before")), _mapping(known.get("after"))
    return Record(steps, [*_levels(before, after), *_counters(before, after)])


# Steps


def _step(noted: Mapping[str, Any]) -> Step:
    env = _mapping(noted.get("env"))
    return Step(
        name=str(noted.get("name") or ""),
        outcome=_outcome(noted),
        command=shlex.join(str(one) for one in _list(noted.get("argv")))[:LONGEST_TEXT],
        env="\n".join(f"{name}={value}" for name, value in env.items())[:LONGEST_TEXT],
        rows=list(_step_rows(noted)),
    )


def _outcome(noted: Mapping[str, Any]) -> str:
    """'finished after 1.8 s': which way it ended, and when."""
    words = {
        "finished": _("finished"),
        "failed": _("failed"),
        "cancelled": _("cancelled"),
        "stopped": _("stopped"),
    }
    end = words.get(str(noted.get("end")), _("ended"))
    took = duration_words(_number(noted.get("elapsed_s")))
    return _("%(end)s after %(took)s") % {"end": end, "took": took} if took else end


def _step_rows(noted: Mapping[str, Any]) -> Iterator[Pair]:
    if cpus := [one for one in _list(noted.get("cpus")) if isinstance(one, int)]:
        yield _("Bound to CPUs"), spans(cpus)
    limit = duration_words(_number(noted.get("time_limit_s")))
    if limit:
        yield _("Time limit"), limit
    if isinstance(code := noted.get("exit_code"), int):
        yield (_("Exit code"), str(code)) if code >= 0 else (_("Ended by signal"), _signal(-code))
    yield from _used(_mapping(noted.get("used")))
    for name, label in (("stdout", _("Standard output")), ("stderr", _("Standard error"))):
        if words := _printed(_mapping(noted.get(name))):
            yield label, words
    if left := [_mapping(one) for one in _list(noted.get("ended"))]:
        yield _("Ended by BenchHub"), ", ".join(filter(None, map(_ended, left)))


def _signal(number: int) -> str:
    with suppress(ValueError):
        return f"{number} ({signal.Signals(number).name})"
    return str(number)


def _used(used: Mapping[str, Any]) -> Iterator[Pair]:
    user, system = _number(used.get("user_s")), _number(used.get("system_s"))
    if user is not None and system is not None:
        words = {"user": f"{user:,.1f}", "system": f"{system:,.1f}"}
        yield _("CPU time"), _("%(user)s s in programs, %(system)s s in the kernel") % words
    if (peak := _number(used.get("peak_kib"))) is not None:
        yield _("Largest process"), kib_words(peak)


def _printed(stream: Mapping[str, Any]) -> str:
    count = _number(stream.get("bytes"))
    if count is None:
        return ""
    if not count:
        return _("nothing")
    words = ngettext("%(n)s byte", "%(n)s bytes", int(count)) % {"n": f"{count:,.0f}"}
    return _("%(bytes)s, cut") % {"bytes": words} if stream.get("cut") is True else words


def _ended(one: Mapping[str, Any]) -> str:
    words = {"name": one.get("name", ""), "process": one.get("process", "")}
    if one.get("killed"):
        return _("%(name)s (process %(process)s), killed") % words
    return _("%(name)s (process %(process)s)") % words if one else ""


# The host


def _levels(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Stand]:
    """What has a height at each moment."""
    names = {
        "load": _("Load over 1, 5 and 15 min"),
        "cpu": _("Tasks waited for a CPU, last 10 s"),
        "memory": _("Tasks waited for memory, last 10 s"),
        "io": _("Tasks waited for disks, last 10 s"),
        "available": _("Memory available"),
        "clocks": _("Clocks: lowest, median, highest"),
        "governors": _("Governor"),
    }
    first, last = _heights(before), _heights(after)
    for key, name in names.items():
        if key in first or key in last:
            yield Stand(name, first.get(key, ""), last.get(key, ""))


def _heights(moment: Mapping[str, Any]) -> dict[str, str]:
    """What one moment's record says, in words with units; nothing that it does not say."""
    load = [number for one in _list(moment.get("load")) if (number := _number(one)) is not None]
    clocks = _mapping(moment.get("frequency_mhz"))
    speeds = [_number(clocks.get(name)) for name in ("lowest", "median", "highest")]
    governors = _mapping(moment.get("governors"))
    found = {
        "load": " · ".join(f"{one:.2f}" for one in load),
        "available": _available(moment),
        "clocks": " · ".join(f"{one:,.0f}" for one in speeds if one is not None),
        "governors": ", ".join(f"{name} (× {count})" for name, count in governors.items()),
    }
    if found["clocks"]:
        found["clocks"] += " MHz"
    for name in ("cpu", "memory", "io"):
        share = _number(moment.get(f"{name}_pressure_percent"))
        found[name] = "" if share is None else f"{share:.3g} %"
    return {name: words for name, words in found.items() if words}


def _available(moment: Mapping[str, Any]) -> str:
    there, whole = _number(moment.get("memory_available_kib")), _number(moment.get("memory_kib"))
    if there is None:
        return ""
    if whole is None:
        return kib_words(there)
    return _("%(there)s of %(whole)s") % {"there": kib_words(there), "whole": kib_words(whole)}


def _counters(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Stand]:
    """What is counted since the host was started: only how far it rose says something."""

    def rise(name: str) -> float | None:
        first, last = _number(before.get(name)), _number(after.get(name))
        return None if first is None or last is None else last - first

    if (busy := rise("cpu_busy_s")) is not None:
        words = {"busy": f"{busy:,.1f}", "total": f"{rise('cpu_total_s') or 0.0:,.1f}"}
        yield Stand(_("CPUs busy"), rose=_("%(busy)s s of %(total)s s, all CPUs") % words)
    for name, label in (
        ("cpu_steal_s", _("Taken by the hypervisor")),
        ("held_back_s", _("Held back by a CPU quota")),
    ):
        if (seconds := rise(name)) is not None:
            yield Stand(label, rose=_("%(n)s s") % {"n": f"{seconds:,.2f}"})
    if (times := rise("throttles")) is not None:
        words = {"n": f"{times:,.0f}"}
        yield Stand(
            _("Held down for heat"), rose=ngettext("%(n)s time", "%(n)s times", int(times)) % words
        )
    if (pages := rise("swapped_pages")) is not None:
        words = {"n": f"{pages:,.0f}"}
        yield Stand(_("Swapped"), rose=ngettext("%(n)s page", "%(n)s pages", int(pages)) % words)


# Any JSON may stand there


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else []


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 2**63 else None
