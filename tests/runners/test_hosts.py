"""This machine's row: made once, matched with a system, looked at anew, heard of."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from results import sync
from results.intake.sweep import forget_systems
from results.models import Lab, Processor, Run, System
from results.queries import systems_free_for
from runners import benchmarks, detect, hosts
from runners.engine import processes
from runners.execute import execute_next
from runners.hosts import beat, machine_key, this_host
from runners.machine import Facts
from runners.models import Host
from tests.results.api_data import make_lab
from tests.runners import given, machines
from tests.runners.conftest import asked, make_host

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("given_runner", "folder")]
Is = Callable[..., None]


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> None:
    settings.VAR = tmp_path
    settings.ARTEFACT_ROOT = tmp_path / "artefacts"
    settings.HOST_NAME = "bench.one"


@pytest.fixture
def this_is(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Is:
    """Let this machine say what another one said, under a name."""

    def become(looked: dict[str, str], name: str = "bench.one") -> None:
        monkeypatch.setattr(detect, "gather", lambda: looked)
        settings.HOST_NAME = name

    return become


def hidden() -> list[System]:
    """What machines were made into; what is public is the hub's own text."""
    return list(System.objects.filter(is_public=False))


def stored_twin(**fields: Any) -> System:
    """A public system that `machines.large` is."""
    processor = Processor.objects.create(
        slug="epyc-9354", name="AMD EPYC 9354", short_name="EPYC 9354", cores=32
    )
    values = {"sockets": 2, "memory_gb": 768, **fields}
    return System.objects.create(slug="twin", name="Rack 2", processor=processor, **values)


# The row


def test_a_machine_is_one_host_however_often_it_starts() -> None:
    first = this_host()
    assert (first.slug, first.name) == ("bench-one", "bench.one")
    assert first.queue == "host-bench-one"
    again = this_host(refresh=True)
    assert (again.pk, again.system_id) == (first.pk, first.system_id)
    assert (Host.objects.count(), len(hidden())) == (1, 1)


def test_a_known_machine_costs_one_query(django_assert_num_queries: Any) -> None:
    this_host()
    with django_assert_num_queries(1):
        assert this_host().system is not None


def test_the_key_tells_machines_apart_and_nothing_of_them(settings: Any) -> None:
    key = machine_key()
    assert len(key) == 64
    assert machine_key() == key
    settings.HOST_NAME = "bench.two"
    assert machine_key() != key


def test_a_second_machine_of_the_same_name_gets_a_number(this_is: Is) -> None:
    Host.objects.create(slug="bench-one", name="bench.one", key="other")
    Host.objects.create(slug="bench-one-2", name="bench.one", key="another")
    this_is(machines.small())
    assert this_host().slug == "bench-one-3"


@pytest.mark.parametrize(
    ("own", "name"),
    [
        ("node7.rack.example", "node7"),
        ("ip-10-1-2-3.internal", "host"),
        ("10.1.2.3", "host"),
        ("", "host"),
    ],
)
def test_a_machines_own_name_is_short_and_no_address(
    own: str, name: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.HOST_NAME = ""
    monkeypatch.setattr("socket.gethostname", lambda: own)
    assert hosts.host_name() == name


def test_a_name_without_letters_has_an_address_all_the_same(this_is: Is) -> None:
    this_is(machines.small(), "測定")
    host = this_host()
    assert (host.slug, host.name) == ("host", "測定")


def test_a_machine_without_an_id_makes_one_and_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosts, "IDS", ())
    key = machine_key()
    assert machine_key() == key
    kept = tmp_path / "host-id"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["host-id"]
    kept.unlink()
    assert machine_key() != key


@pytest.mark.django_db(transaction=True)
def test_workers_that_start_at_once_make_one_host(this_is: Is) -> None:
    this_is(machines.small())
    found: list[int] = []
    start = threading.Barrier(4)

    def begin() -> None:
        start.wait()
        try:
            found.append(this_host(refresh=True).pk)
        finally:
            connection.close()

    threads = [threading.Thread(target=begin) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert (Host.objects.count(), len(hidden())) == (1, 1)
    assert Processor.objects.filter(is_public=False).count() == 1


def test_a_beat_is_of_the_databases_clock_and_says_where() -> None:
    host = this_host()
    assert not host.is_alive
    beat(host)
    host.refresh_from_db()
    assert host.is_alive
    assert host.place == processes.place()


# What was found


def test_facts_and_runners_are_kept(this_is: Is) -> None:
    this_is(machines.small())
    host = this_host()
    assert Facts.of(host.facts).processor == "AMD EPYC"
    assert host.runners["stream"] == {"ready": True, "version": "5.10", "missing": ""}
    assert set(host.runners) == set(benchmarks.runners())
    assert host.detected_at is not None


def test_a_refresh_takes_what_changed(this_is: Is) -> None:
    this_is(machines.small())
    this_host()
    thp = "/sys/kernel/mm/transparent_hugepage/enabled"
    this_is({**machines.small(), thp: "[always] madvise never"})
    assert Facts.of(this_host().facts).thp == "madvise"
    assert Facts.of(this_host(refresh=True).facts).thp == "always"


def test_nobody_looks_while_something_is_measured(this_is: Is) -> None:
    this_is(machines.small())
    job = asked(this_host())
    job.attempts.update(state="running", owner="o", lease_until=timezone.now())
    this_is(machines.large())
    assert Facts.of(this_host(refresh=True).facts).processor == "AMD EPYC"


def test_a_runner_whose_look_fails_is_not_ready(
    this_is: Is,
) -> None:
    def fails(facts: Facts) -> Any:
        raise ZeroDivisionError("no tool")

    kept = hosts.checked(replace(given.RUNNER, check=fails), Facts())
    assert kept["ready"] is False
    assert "no tool" in kept["missing"]


# The system


def test_a_new_machine_is_a_new_hidden_system_with_its_processor(this_is: Is) -> None:
    this_is(machines.small())
    system = this_host().system
    assert system is not None
    assert system.processor is not None
    assert (system.slug, system.sockets, system.memory_gb) == ("amd-epyc-2-vcpus", 1, 23.5)
    assert (system.processor.name, system.processor.cores) == ("AMD EPYC (2 vCPUs)", 2)
    assert system.extra == {"virtual": "KVM"}
    assert not system.is_public
    assert not system.processor.is_public
    assert Lab.objects.get(slug="local").kind == Lab.Kind.LOCAL


def test_its_system_is_public_once_something_measured_on_it_is(this_is: Is) -> None:
    this_is(machines.small())
    host = this_host()
    job = asked(host, ms=0)
    job.publish = True
    job.save()
    execute_next(host)
    run = Run.objects.get(jobs=job)
    assert (run.lab.slug, run.is_published) == ("local", True)
    host.refresh_from_db()
    assert host.system is not None
    assert host.system.is_public


def test_a_stored_system_that_it_surely_is_is_taken(this_is: Is) -> None:
    twin = stored_twin()
    this_is(machines.large())
    assert this_host().system == twin
    assert hidden() == []


def test_a_stored_system_of_other_memory_is_not(this_is: Is) -> None:
    twin = stored_twin(memory_gb=384)
    this_is(machines.large())
    found = this_host().system
    assert found not in {None, twin}
    assert found is not None
    assert found.processor == twin.processor


def test_a_group_of_systems_is_no_machine(this_is: Is) -> None:
    group = stored_twin()
    group.members.add(System.objects.create(slug="member", name="Member"))
    this_is(machines.large())
    assert this_host().system != group


def test_equal_machines_share_a_system_and_others_do_not(this_is: Is) -> None:
    this_is(machines.large(), "a")
    first = this_host()
    this_is(machines.large(), "b")
    assert this_host().system == first.system
    other = {**machines.large(), "dmidecode": machines.DMIDECODE.replace("384 GB", "768 GB")}
    other["/proc/meminfo"] = "MemTotal: 1582000000 kB\nMemFree: 1 kB\n"
    this_is(other, "c")
    third = this_host().system
    assert third is not None
    assert third != first.system
    assert (third.memory_gb, third.processor) == (1536, first.system and first.system.processor)
    first.refresh_from_db()
    assert first.system is not None
    assert first.system.memory_gb == 768


def test_virtual_machines_of_other_sizes_are_other_systems(this_is: Is) -> None:
    this_is(machines.small(), "a")
    first = this_host()
    larger = {
        "lscpu": machines.LSCPU.replace("AMD EPYC 9354 32-Core Processor", "AMD EPYC")
        .replace("2 MiB (64 instances)", "48 KiB (1 instance)")
        .replace("Core(s) per socket:      32", "Core(s) per socket:      1")
        .replace("Socket(s):               2", "Socket(s):               1")
        + "Hypervisor vendor:       KVM\n",
        "/proc/meminfo": machines.small()["/proc/meminfo"],
    }
    this_is(larger, "b")
    assert this_host().system != first.system


def test_it_keeps_its_system_when_memory_grows(this_is: Is) -> None:
    this_is(machines.small())
    first = this_host()
    meminfo = "MemTotal: 9000000 kB\nMemFree: 1 kB\n"
    this_is({**machines.small(), "/proc/meminfo": meminfo})
    again = this_host(refresh=True)
    assert again.system == first.system
    assert Facts.of(again.facts).memory_gib == 8.58
    assert hidden() == [first.system]


def test_the_staffs_choice_of_a_system_stays(this_is: Is) -> None:
    this_is(machines.small())
    host = this_host()
    host.system = stored_twin()
    host.save()
    assert this_host(refresh=True).system == host.system


def test_a_machine_that_says_nothing_is_a_system_by_its_name(this_is: Is) -> None:
    this_is({})
    system = this_host().system
    assert system is not None
    assert (system.slug, system.name, system.processor) == ("host-bench-one", "bench.one", None)


def test_a_machine_that_cannot_be_described_still_becomes_a_host(this_is: Is) -> None:
    odd = machines.LSCPU.replace("AMD EPYC 9354 32-Core Processor", "é" * 120)
    this_is({"lscpu": odd, "/sys/class/dmi/id/product_name": "m" * 200})
    assert this_host().system is not None


def test_the_system_of_a_host_is_not_swept_away(this_is: Is) -> None:
    this_is(machines.small())
    system = this_host().system
    System.objects.create(slug="forgotten", name="Forgotten", is_public=False)
    assert forget_systems() == 1
    assert hidden() == [system]


def test_the_lab_of_the_hub_is_made_again(this_is: Is) -> None:
    Lab.objects.filter(slug="local").delete()
    this_is(machines.small())
    assert this_host().system is not None
    assert Lab.objects.filter(slug="local", kind=Lab.Kind.LOCAL).exists()


def test_a_host_that_measured_nothing_yet_is_nobody_elses_system() -> None:
    sync.ensure()
    make_lab("acme")
    system = make_host("fresh").system
    assert system is not None
    assert system in systems_free_for("local")
    assert system not in systems_free_for("acme")
    Host.objects.all().delete()
    assert system in systems_free_for("acme")
