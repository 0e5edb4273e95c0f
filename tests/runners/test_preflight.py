"""What stands against measuring on a host, in words."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from results.models import Processor, System
from runners.detect import facts_of
from runners.machine import Detail, Facts
from runners.models import Host
from runners.preflight import LEVELS, preflight
from tests.runners import machines
from tests.runners.conftest import FACTS
from tests.runners.jobs_made import job_in

READY = replace(FACTS, setup={"compiler": "GCC 12.2.0"}, governor="performance")


def ready(host: Host, facts: Facts = READY, **more: Any) -> Host:
    """The host as its worker would have written it just now."""
    host.facts = {**facts.as_json(), **more}
    host.seen_at = host.detected_at = timezone.now()
    host.save()
    return host


def said(host: Host) -> dict[str, str]:
    """Levels by what was found."""
    return {notice.found: notice.level for notice in preflight(host)}


def detail(name: str, value: str) -> Facts:
    return replace(READY, details=(Detail(name, name, value, "x"),))


def test_nothing_stands_against_a_host_that_is_set_well(host: Host) -> None:
    assert set(said(ready(host)).values()) <= {"fine"}


def test_the_gravest_comes_first_and_each_is_a_sentence(host: Host) -> None:
    ready(host, facts_of(machines.large()))
    Host.objects.update(is_open=False)
    host.refresh_from_db()
    notices = preflight(host)
    ranks = [LEVELS.index(notice.level) for notice in notices]
    assert ranks == sorted(ranks)
    assert notices[0].text == "Takes no jobs: the staff has closed it."
    assert all(notice.text.endswith(".") and notice.means for notice in notices)


def test_a_worker_that_is_away_stops_all(host: Host) -> None:
    ready(host)
    assert "Worker not started yet" not in said(host)
    host.seen_at = timezone.now().replace(2026, 11, 30, 9, 5) - timedelta(days=365)
    assert said(host)["Worker away since 30 November 2025, 09:05 UTC"] == "stops"
    host.seen_at = None
    assert said(host)["Worker not started yet"] == "stops"


def test_another_job_is_named(host: Host) -> None:
    job = job_in(ready(host), "running")
    assert said(host)[f"Another job is running, job {job.pk}"] == "mind"
    assert not [one for one in preflight(host, running=None) if "job" in one.found]


def test_what_is_missing_is_said_once_with_what_it_stops(host: Host) -> None:
    missing = {"ready": False, "missing": "a C compiler"}
    host.runners = {"stream": missing, "tinymembench": missing, "x": {"ready": True}}
    (notice,) = [one for one in preflight(ready(host)) if one.found.startswith("Missing")]
    assert notice.text == (
        "Missing: a C compiler: without it these do not run here: stream, tinymembench."
    )


def test_a_host_that_was_not_looked_at_says_only_that(host: Host) -> None:
    host.seen_at = timezone.now()
    assert said(host) == {"Not looked at yet": "stops"}


def test_a_host_without_a_system_cannot_keep_results(host: Host) -> None:
    host.system = None
    assert said(ready(host))["No system is named"] == "stops"


def test_a_machine_that_is_not_its_system_any_more_is_told_of_without_naming_it(
    host: Host,
) -> None:
    machine = {"processor": "EPYC 9999", "sockets": 2, "cores_per_socket": 2}
    System.objects.filter(hosts=host).update(sockets=1, name="Secret box")
    Processor.objects.filter(systems__hosts=host).update(name="Secret chip", short_name="")
    host = ready(Host.objects.get(pk=host.pk), machine=machine)
    found = said(host)
    assert found["Processor EPYC 9999"] == "mind"
    assert found["Sockets: 2"] == "mind"
    assert "Secret" not in " ".join(notice.text for notice in preflight(host))


@pytest.mark.parametrize(
    ("facts", "found", "level"),
    [
        (replace(READY, virtual="KVM"), "Virtual machine (KVM)", "mind"),
        (replace(READY, governor="powersave"), "Governor powersave", "mind"),
        (replace(READY, governor="performance"), "Governor performance", "fine"),
        (replace(READY, governor=""), "Governor not known", "mind"),
        (replace(READY, thp="madvise"), "THP madvise", "fine"),
        (replace(READY, thp="never"), "THP never", "mind"),
        (replace(READY, smt="on"), "SMT on", "fine"),
        (replace(READY, setup={}), "No C compiler", "mind"),
        (
            replace(READY, setup={"compiler": "x", "mitigations": "off"}),
            "CPU mitigations off",
            "mind",
        ),
        (
            detail("cpu.usable", "2 of 64 (0-1)"),
            "Only some CPUs may be used: 2 of 64 (0-1)",
            "mind",
        ),
        (
            detail("cpu.quota", "that of 1.5 CPUs"),
            "CPU time limited to that of 1.5 CPUs",
            "mind",
        ),
        (detail("memory.limit", "2 GiB"), "Memory limited to 2 GiB", "mind"),
        (detail("memory.swap", "no swap"), "No swap", "fine"),
        (detail("memory.swap", "8 GiB, 0 KiB used"), "Swap of 8 GiB", "fine"),
        (
            detail("memory.swap", "8 GiB, 1 GiB used"),
            "Swap in use: 8 GiB, 1 GiB used",
            "mind",
        ),
        (detail("cpu.clock", "hpet"), "Clock source hpet", "mind"),
    ],
)
def test_each_setting_is_judged(host: Host, facts: Facts, found: str, level: str) -> None:
    assert said(ready(host, facts))[found] == level


def test_what_a_virtual_machine_cannot_show_is_not_held_against_it(host: Host) -> None:
    assert "Governor not known" not in said(ready(host, replace(READY, governor="", virtual="KVM")))
    assert "Clock source tsc" not in said(ready(host, detail("cpu.clock", "tsc")))


def test_settings_seen_long_ago_are_said_to_be_old(host: Host) -> None:
    ready(host)
    host.detected_at = timezone.now().replace(2026, 1, 2) - timedelta(days=365)
    assert said(host)["Looked at on 2 January 2025"] == "mind"


def test_the_words_read_of_a_machine_are_those_that_are_judged(host: Host) -> None:
    looked = machines.large()
    looked["/proc/self/status"] = "Cpus_allowed_list:\t0\n"
    looked["/proc/meminfo"] = "MemTotal: 9000 kB\nMemFree: 1 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n"
    found = said(ready(host, facts_of(looked)))
    assert found["Only one CPU may be used: 1 of 128 (0)"] == "mind"
    assert found["No swap"] == "fine"
    looked["/proc/meminfo"] = "MemTotal: 9000 kB\nMemFree: 1 kB\nSwapTotal: 4 kB\nSwapFree: 4 kB\n"
    assert said(ready(host, facts_of(looked)))["Swap of 4 KiB"] == "fine"
