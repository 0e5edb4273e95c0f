"""Hosts through the API: what they are, what they can run, and nothing of a hidden system."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from results.models import System
from runners.machine import Detail, Facts
from runners.models import Host
from tests.results.api_data import get, refused, signed_in
from tests.runners.conftest import FACTS, asked

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("given_runner")]


def test_a_host_tells_what_it_is_and_what_waits_there(client: Client, host: Host) -> None:
    first = asked(host)
    second = asked(host)
    first.attempts.update(state="running", owner="o", lease_until="2099-01-01T00:00:00Z")
    type(first).objects.filter(pk=first.pk).update(state="running")
    Host.objects.update(seen_at=timezone.now(), node="n1")
    (found,) = get(client, "hosts/")["results"]
    assert (found["slug"], found["name"], found["node"]) == ("given-host", "given-host", "n1")
    assert (found["alive"], found["open"]) == (True, True)
    assert (found["running"], found["waiting"], found["newest_job"]) == (first.pk, 1, second.pk)
    assert found["runners"] == {"stream": {"ready": True, "version": "5.10", "missing": ""}}
    assert "key" not in found
    assert "place" not in found


def test_a_host_that_nobody_may_know_the_system_of_names_none(client: Client, host: Host) -> None:
    staff = signed_in(User.objects.create_user("sam", is_staff=True))
    for path in ("hosts/given-host/", "hosts/"):
        assert b"given-host-system" not in client.get(f"/api/v1/{path}").content
    assert get(client, "hosts/given-host/")["system"] is None
    assert get(staff, "hosts/given-host/")["system"] == "given-host-system"
    System.objects.filter(hosts=host).update(is_public=True)
    assert get(client, "hosts/given-host/")["system"] == "given-host-system"


def test_a_host_tells_what_can_be_chosen(client: Client, host: Host) -> None:
    found: dict[str, Any] = get(client, "hosts/given-host/")["runners"]["stream"]
    assert (found["ready"], found["preset"]) == (True, "standard")
    assert found["presets"] == [
        {
            "name": "standard",
            "label": "Standard",
            "note": "takes a tenth of a second",
            "values": {},
        }
    ]
    by_name = {one["name"]: one for one in found["parameters"]}
    assert list(by_name) == ["ms", "way", "serial"]
    assert (by_name["ms"]["type"], by_name["ms"]["default"]) == ("integer", 100)
    assert (by_name["ms"]["minimum"], by_name["ms"]["maximum"]) == (0, 600_000)
    assert by_name["way"]["choices"][0] == "well"
    assert by_name["way"]["minimum"] is None


def test_a_host_tells_what_was_detected_and_where(client: Client, host: Host) -> None:
    details = (Detail("kernel", "Kernel", "6.18", "uname"),)
    host.facts = {**FACTS.as_json(), **Facts(details=details, virtual="kvm").as_json()}
    host.detected_at = timezone.now()
    host.save()
    found = get(client, "hosts/given-host/")
    assert found["facts"] == [
        {"name": "kernel", "label": "Kernel", "value": "6.18", "source": "uname"}
    ]
    assert found["notices"]
    assert {tuple(notice) for notice in found["notices"]} == {("level", "text")}
    assert [one for one in found["notices"] if "virtual" in one["text"].lower()]


def test_a_runner_that_the_hub_has_not_any_more_offers_nothing(client: Client, host: Host) -> None:
    Host.objects.update(runners={"gone": {"ready": True}})
    found = get(client, "hosts/given-host/")["runners"]
    assert found == {
        "gone": {
            "ready": True,
            "version": "",
            "missing": "",
            "preset": "",
            "presets": [],
            "parameters": [],
        }
    }


def test_a_host_that_was_not_looked_at_yet_is_told(client: Client, db: None) -> None:
    Host.objects.create(slug="bare", name="Bare", key="k")
    found = get(client, "hosts/bare/")
    assert (found["system"], found["alive"], found["facts"], found["runners"]) == (
        None,
        False,
        [],
        {},
    )


def test_hosts_that_are_not_there_are_404(client: Client, db: None) -> None:
    for path in ("hosts/x/", "hosts/%00/", "hosts/..%2f/"):
        assert refused(client, path, status=404) == {}
