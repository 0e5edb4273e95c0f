"""The admin of hosts: what may be edited, and that hosts with jobs stay."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from results.models import System
from runners.detect import facts_of
from runners.models import Host
from tests.runners import machines
from tests.runners.conftest import make_host
from tests.runners.jobs_made import job_in, signed_in


@pytest.fixture
def root(db: None) -> Client:
    return signed_in("root", is_staff=True, is_superuser=True)


def change(host: Host) -> str:
    return f"/admin/runners/host/{host.pk}/change/"


def delete(host: Host) -> str:
    return f"/admin/runners/host/{host.pk}/delete/"


def test_a_host_is_named_given_a_system_and_closed(root: Client, host: Host) -> None:
    other = System.objects.create(slug="other", name="Other box")
    Host.objects.update(facts=facts_of(machines.small()).as_json())
    page = root.get(change(host)).content.decode()
    assert "Kernel: 6.18.44 (uname -r)" in page
    sent = {"name": "Renamed", "system": other.pk, "node": "n7", "slug": "new", "facts": "{}"}
    assert root.post(change(host), sent).status_code == 302
    host.refresh_from_db()
    assert (host.name, host.system, host.node, host.is_open) == ("Renamed", other, "n7", False)
    assert host.slug == "given-host"
    assert host.facts["processor"] == "AMD EPYC"


def test_hosts_are_listed_with_what_they_do(root: Client, host: Host) -> None:
    job_in(host, "running")
    page = root.get("/admin/runners/host/").content.decode()
    assert "given-host" in page
    assert "its worker was not started yet" in page
    assert root.get("/admin/runners/host/?q=given").status_code == 200


def test_the_list_costs_the_same_for_many(root: Client, host: Host) -> None:
    with CaptureQueriesContext(connection) as first:
        root.get("/admin/runners/host/")
    for number in range(5):
        make_host(f"more-{number}")
    with CaptureQueriesContext(connection) as second:
        root.get("/admin/runners/host/")
    assert len(second) == len(first)


def test_none_is_added_by_hand(root: Client) -> None:
    assert root.get("/admin/runners/host/add/").status_code == 403


def test_a_host_with_jobs_stays_and_one_without_may_go(root: Client, host: Host) -> None:
    job_in(host, "finished")
    assert root.post(delete(host), {"post": "yes"}).status_code == 403
    other = make_host("lonely")
    assert root.post(delete(other), {"post": "yes"}).status_code == 302
    assert list(Host.objects.all()) == [host]


def test_many_are_not_deleted_at_once(root: Client, host: Host) -> None:
    sent = {"action": "delete_selected", "_selected_action": [host.pk], "post": "yes"}
    root.post("/admin/runners/host/", sent)
    assert Host.objects.filter(pk=host.pk).exists()


def test_only_who_has_the_permission_may_look_or_change(host: Host) -> None:
    staff = signed_in("sam", is_staff=True)
    assert staff.get("/admin/runners/host/").status_code == 403
    user = User.objects.get(username="sam")
    user.user_permissions.add(Permission.objects.get(codename="view_host"))
    assert staff.get(change(host)).status_code == 200
    assert staff.post(change(host), {"name": "X"}).status_code == 403
    host.refresh_from_db()
    assert host.name == "given-host"
