"""The page of hosts: what each is, how it stands, what it can run, what was detected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from results.intake.machine import display_name
from results.models import System
from results.pages.uploads import moment_words
from runners import benchmarks
from runners.machine import Detail, Facts, gib_words
from runners.models import Host, Job
from runners.pages.joblist import Row, rows_of
from runners.pages.jobwords import benchmark_name
from runners.preflight import Notice, preflight

# By the beginning of a detail's name, in the order shown.
GROUPS = {
    "machine": gettext_lazy("Machine"),
    "cpu": gettext_lazy("Processor"),
    "numa": gettext_lazy("NUMA nodes"),
    "memory": gettext_lazy("Memory"),
    "os": gettext_lazy("Software"),
}
FURTHER = gettext_lazy("Further")
LEVELS = {
    "stops": gettext_lazy("Stops"),
    "mind": gettext_lazy("Mind"),
    "fine": gettext_lazy("Fine"),
}


@dataclass(frozen=True)
class Standing:
    """What a host is doing, and what waits. `word` is "free", "busy", "away" or "closed"."""

    word: str
    text: str
    waits: str = ""


@dataclass(frozen=True)
class Runs:
    """A benchmark, and whether the host can run it: `version`, or what to install.

    `address` is where a reader who may starts it.
    """

    name: str
    ready: bool
    words: str
    address: str = ""


@dataclass(frozen=True)
class Shown:
    """A host on the page. `system`: the one that it is, where the reader may know of it."""

    host: Host
    title: str
    line: str
    system: System | None
    standing: Standing
    running: int | None
    notices: Sequence[tuple[str, Notice]]
    runs: Sequence[Runs]
    jobs: Sequence[Row]
    groups: Sequence[tuple[str, Sequence[Detail]]]
    looked_at: str


def shown_of(
    hosts: Iterable[Any], newest: Mapping[int, Sequence[Job]], *, starts: bool
) -> list[Shown]:
    """What the page says of hosts as `queries.hosts_shown` gives them.

    `newest`: their newest jobs by the host's id. `starts`: whether the reader starts jobs.
    """
    return [_shown(host, newest.get(host.pk, ()), starts=starts) for host in hosts]


def _shown(host: Any, newest: Sequence[Job], *, starts: bool) -> Shown:
    facts = Facts.of(host.facts)
    return Shown(
        host=host,
        title=_title(host, facts),
        line=line_of(facts),
        system=host.system if host.is_system_seen else None,
        standing=standing_of(host, host.running, host.waiting),
        running=host.running,
        notices=[(str(LEVELS[one.level]), one) for one in preflight(host, running=host.running)],
        runs=list(_runs(host, starts=starts)),
        jobs=rows_of(newest, with_names=False),
        groups=groups_of(facts.details),
        looked_at=moment_words(host.detected_at) if host.detected_at else "",
    )


def _title(host: Host, facts: Facts) -> str:
    """The CPU first, as systems are named."""
    return f"{display_name(facts.processor)} · {host}" if facts.processor else str(host)


def line_of(facts: Facts) -> str:
    """'2 sockets, 128 cores, 256 logical CPUs, 1,511 GiB of memory': what programs can use."""
    parts = []
    if facts.cpus:
        cores, cpus = facts.cores, facts.threads
        parts.append(ngettext("one socket", "%(n)d sockets", facts.sockets))
        parts.append(ngettext("one core", "%(n)d cores", cores))
        parts.append(ngettext("one logical CPU", "%(n)d logical CPUs", cpus))
        counts = (facts.sockets, cores, cpus)
        parts = [text % {"n": count} for text, count in zip(parts, counts, strict=True)]
    if facts.memory_gib:
        parts.append(_("%(size)s of memory") % {"size": gib_words(facts.memory_gib)})
    text = ", ".join(parts)
    return f"{text[:1].upper()}{text[1:]}"


def standing_of(host: Host, running: int | None, waiting: int) -> Standing:
    """What a host is doing, in words; a job that runs is named beside."""
    if not host.is_open:
        return Standing("closed", _("closed by the staff"))
    if not host.is_alive:
        if host.seen_at is None:
            return Standing("away", _("its worker was not started yet"))
        return Standing("away", _("away since %(when)s") % {"when": moment_words(host.seen_at)})
    waits = ngettext("one job waits", "%(n)d jobs wait", waiting) % {"n": waiting}
    if running:
        return Standing("busy", _("measuring"), waits if waiting else "")
    return Standing("free", _("free"), waits if waiting else "")


def summary_of(shown: Sequence[Shown]) -> str:
    """'3 hosts: one is free, one measures, one is away.'"""
    words = {
        "free": lambda n: ngettext("one is free", "%(n)d are free", n),
        "busy": lambda n: ngettext("one measures", "%(n)d measure", n),
        "away": lambda n: ngettext("one is away", "%(n)d are away", n),
        "closed": lambda n: ngettext("one is closed", "%(n)d are closed", n),
    }
    counts = {word: sum(one.standing.word == word for one in shown) for word in words}
    parts = [words[word](n) % {"n": n} for word, n in counts.items() if n]
    hosts = ngettext("One host", "%(n)d hosts", len(shown)) % {"n": len(shown)}
    return _("%(hosts)s: %(parts)s.") % {"hosts": hosts, "parts": ", ".join(parts)}


def _runs(host: Host, *, starts: bool) -> Iterable[Runs]:
    for slug, kept in sorted(host.runners.items()):
        # One that this hub has not any more is not offered.
        if benchmarks.get(slug) is None:
            continue
        ready = bool(kept.get("ready"))
        words = kept.get("version") if ready else kept.get("missing")
        query = urlencode({"benchmark": slug, "host": host.slug})
        address = f"{reverse('job-new')}?{query}" if starts and ready and host.is_open else ""
        yield Runs(benchmark_name(slug), ready, str(words or ""), address)


def groups_of(details: Iterable[Detail]) -> list[tuple[str, list[Detail]]]:
    """What was detected, by what it is about."""
    found: dict[str, list[Detail]] = {}
    for detail in details:
        group = detail.name.partition(".")[0]
        found.setdefault(group if group in GROUPS else "", []).append(detail)
    titles = {**GROUPS, "": FURTHER}
    return [(str(title), found[group]) for group, title in titles.items() if group in found]
