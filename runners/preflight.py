"""What stands against measuring on a host now, in words.

It is read from the host's row: the machine that shows it may be another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from results.intake.systems import contradictions
from results.wording import day_words
from runners.hosts import machine_of
from runners.machine import Detail, Facts
from runners.models import Host, Job

Level = Literal["stops", "mind", "fine"]
LEVELS: tuple[Level, ...] = ("stops", "mind", "fine")
# Detected so long ago, what can be set otherwise may have been.
OLD = timedelta(days=30)
STEADY = frozenset({"performance"})


@dataclass(frozen=True)
class Notice:
    """What was found, and what it means for a measurement.

    `level`: "stops" where nothing is measured as it is, "mind" where a result may suffer, "fine".
    """

    level: Level
    found: str
    means: str

    @property
    def text(self) -> str:
        """Both in a sentence."""
        return _("%(found)s: %(means)s") % {"found": self.found, "means": self.means}


def preflight(host: Host, *, running: int | None = -1) -> list[Notice]:
    """The notices of a host, the gravest first.

    `running` is the job (id) that is measured there, None for none; by default the database
    is asked. The host's system is read, if it has one.
    """
    job = _running(host) if running == -1 else running
    facts = Facts.of(host.facts)
    found = [
        *_of_worker(host, job),
        *_of_runners(host),
        *_of_system(host),
        *(_of_machine(facts) if host.detected_at else ()),
        *_of_age(host),
    ]
    return sorted(found, key=lambda notice: LEVELS.index(notice.level))


def _running(host: Host) -> int | None:
    return host.jobs.filter(state=Job.State.RUNNING).values_list("pk", flat=True).first()


# --- the worker and what it can run --------------------------------------------------------------


def _of_worker(host: Host, running: int | None) -> Iterator[Notice]:
    if not host.is_open:
        yield Notice("stops", _("Takes no jobs"), _("the staff has closed it."))
    if not host.is_alive:
        yield Notice("stops", _away(host), _("jobs wait until it runs."))
    if running is not None:
        found = _("Another job is running, job %(number)d") % {"number": running}
        yield Notice("mind", found, _("the next one waits until it is over."))


def _away(host: Host) -> str:
    if host.seen_at is None:
        return _("Worker not started yet")
    utc = host.seen_at.astimezone(timezone.get_default_timezone())
    words = {"day": day_words(utc), "time": f"{utc:%H:%M}"}
    return _("Worker away since %(day)s, %(time)s UTC") % words


def _of_runners(host: Host) -> Iterator[Notice]:
    missing: dict[str, list[str]] = {}
    for slug, kept in sorted(host.runners.items()):
        if not kept.get("ready"):
            missing.setdefault(str(kept.get("missing") or _("something")), []).append(slug)
    for what, slugs in missing.items():
        means = _("without it these do not run here: %(names)s.") % {"names": ", ".join(slugs)}
        yield Notice("mind", _("Missing: %(what)s") % {"what": what}, means)


def _of_system(host: Host) -> Iterator[Notice]:
    if host.detected_at is None:
        yield Notice("stops", _("Not looked at yet"), _("its worker does that when it starts."))
        return
    if host.system is None:
        found = _("No system is named")
        yield Notice(
            "stops", found, _("what is measured here belongs to none; the staff names it.")
        )
        return
    # Who may not know of the system reads this too: it is not named, nor what it has.
    names = {
        "processor": _("Processor %(here)s"),
        "sockets": _("Sockets: %(here)s"),
        "cores_per_socket": _("Cores of a socket: %(here)s"),
    }
    for against in contradictions(machine_of(host.facts), host.system):
        found = names.get(against.field, against.field) % {"here": against.told[0].value}
        means = _("the system that it measures for is described otherwise; the staff decides.")
        yield Notice("mind", found, means)


# --- the machine ---------------------------------------------------------------------------------


def _of_machine(facts: Facts) -> Iterator[Notice]:
    """Of what was detected."""
    told = {detail.name: detail for detail in facts.details}
    if facts.virtual:
        found = _("Virtual machine (%(name)s)") % {"name": facts.virtual}
        means = _("others on the same hardware may slow a run, and not all of it can be seen.")
        yield Notice("mind", found, means)
    yield from _of_share(facts, told)
    yield from _of_clocks(facts, told)
    yield from _of_memory(facts, told)
    if facts.smt == "on":
        means = _("two threads of a core share it; a run says how many of each it used.")
        yield Notice("fine", _("SMT on"), means)
    if facts.setup.get("mitigations") == "off":
        means = _("system calls are faster than on a machine that is protected.")
        yield Notice("mind", _("CPU mitigations off"), means)
    if "compiler" not in facts.setup:
        means = _("kernels of our own cannot be built here.")
        yield Notice("mind", _("No C compiler"), means)


def _of_share(facts: Facts, told: dict[str, Detail]) -> Iterator[Notice]:
    """What of the machine this host's processes get."""
    if "cpu.usable" in told:
        number = len(facts.cpus)
        found = ngettext(
            "Only one CPU may be used: %(which)s",
            "Only some CPUs may be used: %(which)s",
            number,
        ) % {"which": told["cpu.usable"].value}
        means = _("a run is of these CPUs, and others may work beside it.")
        yield Notice("mind", found, means)
    if "cpu.quota" in told:
        found = _("CPU time limited to %(share)s") % {"share": told["cpu.quota"].value}
        yield Notice("mind", found, _("a run that uses more is held back, which its record says."))
    if "memory.limit" in told:
        found = _("Memory limited to %(size)s") % {"size": told["memory.limit"].value}
        yield Notice("mind", found, _("a program that takes more is killed."))


def _of_clocks(facts: Facts, told: dict[str, Detail]) -> Iterator[Notice]:
    governor = facts.governor
    if governor and governor in STEADY:
        found = _("Governor %(name)s") % {"name": governor}
        yield Notice("fine", found, _("clocks are kept high."))
    elif governor:
        found = _("Governor %(name)s") % {"name": governor}
        yield Notice("mind", found, _("clocks rise late, and short runs come out slower."))
    elif not facts.virtual:
        found = _("Governor not known")
        yield Notice("mind", found, _("whether clocks are kept high cannot be seen."))
    clock = told.get("cpu.clock")
    if clock and clock.value not in {"tsc", "arch_sys_counter", "timebase", "riscv_clocksource"}:
        found = _("Clock source %(name)s") % {"name": clock.value}
        means = _("asking for the time is slow, which short measurements feel.")
        yield Notice("mind", found, means)


def _of_memory(facts: Facts, told: dict[str, Detail]) -> Iterator[Notice]:
    if facts.thp:
        words = {
            "always": _("large memory blocks come in pages of 2 MiB without being asked for."),
            "madvise": _("only programs that ask for them get pages of 2 MiB."),
            "never": _("no program gets pages of 2 MiB this way; random reads come out slower."),
        }
        level: Level = "mind" if facts.thp == "never" else "fine"
        means = words.get(facts.thp, _("pages of 2 MiB are given in a way that is not known."))
        yield Notice(level, _("THP %(word)s") % {"word": facts.thp}, means)
    if "memory.swap" in told:
        yield _of_swap(told["memory.swap"].value)


def _of_swap(words: str) -> Notice:
    if words == "no swap":
        means = _("nothing is moved to a disk; a program that takes too much memory is killed.")
        return Notice("fine", _("No swap"), means)
    if words.endswith(", 0 KiB used"):
        means = _("none of it was used when the host was looked at.")
        return Notice("fine", _("Swap of %(size)s") % {"size": words.partition(",")[0]}, means)
    found = _("Swap in use: %(words)s") % {"words": words}
    return Notice("mind", found, _("memory ran short; a run that waits for a disk is flagged."))


def _of_age(host: Host) -> Iterator[Notice]:
    if host.detected_at is not None and timezone.now() - host.detected_at > OLD:
        found = _("Looked at on %(day)s") % {"day": day_words(host.detected_at)}
        yield Notice(
            "mind", found, _("settings may have changed; its worker looks when it starts.")
        )
