"""What nothing was published of: its lab and the staff know of it, nobody else, anywhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client

from results import services
from results.actors import TokenUser
from results.bundle import BundleError, read_bundle
from results.compare import CompareError, compare_systems
from results.ingest import IngestResult, ingest_bundle
from results.models import Lab, Processor, Run, System
from results.queries import visible_processors, visible_systems
from tests.results.api_data import get, make_lab, queries_of, refused, signed_in
from tests.results.asking import account, make_token, with_token
from tests.results.made import run, store, system
from tests.results.pages import read

pytestmark = pytest.mark.django_db
HIDDEN, CPU = "nova-x1", "cpu-nova-x1"
SECRET = "Nova"  # in the names of system and processor; occurs nowhere in the reference data


@pytest.fixture
def ids() -> list[int]:
    """Lab acme's draft on a machine that no one else has heard of."""
    make_lab("other")
    make_lab("acme")
    machine = described("Nova X1")
    return store(machine, run(HIDDEN, "triad.bandwidth", 77.7), lab="acme", state="draft")


def described(name: str, *, cores: int = 64, **fields: Any) -> dict[str, Any]:
    machine = system(HIDDEN, cores=cores, vendor="Novacorp", **fields)
    machine["systems"][0]["name"] = name
    machine["processors"][0] |= {"name": f"CPU {name}", "isa": "nova64", "vendor": "Novacorp"}
    return machine


def bundle_of(lab: str, *parts: dict[str, Any]) -> Any:
    raw: dict[str, Any] = {"bundle": 1, "lab": lab, "runs": []}
    for part in parts:
        if "benchmark" in part:
            raw["runs"].append(part)
        else:
            raw |= part
    return read_bundle(json.dumps(raw).encode(), name="made.json")


def sent(lab: str, *parts: dict[str, Any], **options: Any) -> IngestResult:
    """A bundle as a lab sends it, not as an operator stores it."""
    return ingest_bundle(bundle_of(lab, *parts), **options)


def stranger() -> Client:
    return signed_in(account("otto", Lab.objects.get(slug="other")))


def strange_token() -> Client:
    return with_token(make_token("publish", lab=Lab.objects.get(slug="other"))[1])


def insider() -> Client:
    return signed_in(account("mia", Lab.objects.get(slug="acme")))


def inside_token() -> Client:
    return with_token(make_token(lab=Lab.objects.get(slug="acme"))[1])


def staff_client() -> Client:
    return signed_in(account("sam", is_staff=True))


def test_what_a_draft_brings_is_not_public_until_it_is_published(ids: list[int]) -> None:
    machine = System.objects.select_related("processor").get(slug=HIDDEN)
    assert machine.processor is not None
    assert (machine.is_public, machine.processor.is_public) == (False, False)
    services.publish(runs=ids, actor=None)
    machine = System.objects.select_related("processor").get(slug=HIDDEN)
    assert machine.processor is not None
    assert (machine.is_public, machine.processor.is_public) == (True, True)
    assert "77.7 GB/s" in read(Client(), f"/systems/{HIDDEN}/")


def test_what_is_published_at_once_or_curated_is_public_at_once() -> None:
    store(system("at-once"), run("at-once", "triad.bandwidth", 5))
    assert System.objects.get(slug="at-once").is_public
    document = bundle_of("made-lab", system("own-text"))
    ingest_bundle(document, state=Run.State.PUBLISHED, curated=True)
    assert System.objects.get(slug="own-text").is_public


def test_a_published_bundle_on_a_hidden_machine_reveals_it(ids: list[int]) -> None:
    store(run(HIDDEN, "triad.bandwidth", 80.0, node="n2"), lab="acme")
    assert System.objects.get(slug=HIDDEN).is_public
    assert Processor.objects.get(slug=CPU).is_public


def test_the_members_of_a_published_group_are_public() -> None:
    member = system("part")
    group = system("whole", members=["part"])
    parts = {name: member[name] + group[name] for name in ("processors", "systems")}
    made = store(parts, run("whole", "triad.bandwidth", 5), state="draft")
    mia = account("mia", Lab.objects.get(slug="made-lab"))
    found = visible_systems(mia).filter(slug__in=["part", "whole"])
    assert {one.slug for one in found} == {"part", "whole"}
    assert not visible_systems(AnonymousUser()).filter(slug__in=["part", "whole"]).exists()
    services.publish(runs=made, actor=None)
    assert Processor.objects.get(slug="cpu-part").is_public
    assert visible_systems(AnonymousUser()).filter(slug="part").exists()


def test_a_withdrawn_machine_stays_known(ids: list[int]) -> None:
    services.publish(runs=ids, actor=None)
    services.withdraw(runs=ids, actor=None, reason="wrong clock")
    assert get(Client(), f"systems/{HIDDEN}/")["slug"] == HIDDEN


@pytest.mark.parametrize("make", [Client, stranger, strange_token])
def test_no_list_search_or_detail_shows_it_to_a_stranger(
    ids: list[int], make: Callable[[], Client]
) -> None:
    client = make()
    assert get(client, "systems/")["count"] == System.objects.filter(is_public=True).count()
    for noun in ("systems", "processors"):
        assert get(client, f"{noun}/", {"search": "nova"})["count"] == 0
        assert get(client, f"{noun}/", {"vendor": "Novacorp"})["count"] == 0
        assert get(client, f"{noun}/", {"isa": "nova64"})["count"] == 0
        assert SECRET.lower() not in str(get(client, f"{noun}/", {"page_size": 200})).lower()
    assert get(client, "systems/", {"lab": "acme"})["count"] == 0
    refused(client, f"systems/{HIDDEN}/", status=404)
    refused(client, f"processors/{CPU}/", status=404)


@pytest.mark.parametrize("make", [Client, stranger, strange_token])
def test_naming_it_is_answered_as_naming_what_is_not_there(
    ids: list[int], make: Callable[[], Client]
) -> None:
    client = make()
    for path, name, there in (
        ("runs/", "system", HIDDEN),
        ("measurements/", "system", HIDDEN),
        ("systems/", "processor", CPU),
        ("compare/", "system", HIDDEN),
    ):
        right, wrong = (
            str(refused(client, path, {name: slug})[name]).replace(slug, "…")
            for slug in (there, there.replace("nova", "noba"))
        )
        assert right == wrong
        assert "nova" not in right


@pytest.mark.parametrize("make", [insider, inside_token, staff_client])
def test_its_lab_and_the_staff_find_it(ids: list[int], make: Callable[[], Client]) -> None:
    client = make()
    assert get(client, "systems/", {"search": "nova"})["count"] == 1
    assert get(client, "systems/", {"lab": "acme"})["count"] == 1
    assert get(client, "processors/", {"vendor": "Novacorp"})["count"] == 1
    assert get(client, f"systems/{HIDDEN}/")["processor"] == CPU
    assert get(client, f"processors/{CPU}/")["cores"] == 64
    assert [one["id"] for one in get(client, "runs/", {"system": HIDDEN})["results"]] == ids


@pytest.mark.parametrize("make", [Client, stranger])
def test_no_page_shows_it_to_a_stranger(ids: list[int], make: Callable[[], Client]) -> None:
    client = make()
    assert client.get(f"/systems/{HIDDEN}/").status_code == 404
    for address in (
        "/",
        "/systems/?q=cpu",
        f"/systems/?system={HIDDEN}&q=epyc",
        "/compare/?find=n",
        "/benchmarks/stream/",
    ):
        answer = client.get(address)
        assert answer.status_code == 200
        assert SECRET not in answer.content.decode()
        assert "nova64" not in answer.content.decode()
    asked = client.get("/compare/?system=nova-x")
    assert asked.status_code == 400
    assert HIDDEN not in asked.content.decode()


@pytest.mark.parametrize("make", [insider, staff_client])
def test_its_pages_are_there_for_its_lab(ids: list[int], make: Callable[[], Client]) -> None:
    client = make()
    text = read(client, f"/systems/{HIDDEN}/")
    assert "Nova X1" in text
    assert "No figure of this system is published." in text
    assert "draft" in text
    assert "Nova X1" in read(client, "/systems/?q=nova")
    assert "Novacorp" in read(client, "/systems/")


def test_nobody_compares_it_before_it_is_public(ids: list[int]) -> None:
    with pytest.raises(CompareError):
        compare_systems(systems=[HIDDEN])
    answer = insider().get("/api/v1/compare/", {"system": HIDDEN})
    assert answer.status_code == 400


def test_another_lab_can_store_nothing_on_it_and_no_hint_names_it(ids: list[int]) -> None:
    for slug in (HIDDEN, "nova-x2"):
        with pytest.raises(BundleError) as raised:
            sent("other", run(slug, "triad.bandwidth", 5.0))
        (problem,) = raised.value.problems
        assert f"unknown system '{slug}'" in problem.message
        assert HIDDEN not in problem.message.replace(f"'{slug}'", "")
    assert (
        not visible_systems(account("otto", Lab.objects.get(slug="other")))
        .filter(slug=HIDDEN)
        .exists()
    )


def test_two_labs_describe_the_same_new_machine_and_learn_nothing_of_each_other(
    ids: list[int],
) -> None:
    theirs = (described("Theirs", cores=96), run(HIDDEN, "triad.bandwidth", 5.0))
    first = sent("other", *theirs)
    assert first.warnings == []
    made = Run.objects.select_related("system__processor").get(pk=first.created[0])
    assert (made.system.slug, made.system.name) == (f"{HIDDEN}-other", "Theirs")
    assert made.system.processor is not None
    assert (made.system.processor.slug, made.system.processor.cores) == (f"{CPU}-other", 96)
    assert System.objects.get(slug=HIDDEN).name == "Nova X1"
    again = sent("other", *theirs)
    assert (again.created, again.known) == ([], first.created)
    otto = account("otto", Lab.objects.get(slug="other"))
    assert not visible_systems(otto).filter(slug=HIDDEN).exists()
    assert not visible_processors(otto).filter(slug=CPU).exists()


def test_until_it_is_public_the_newest_description_holds(ids: list[int]) -> None:
    result = sent("acme", described("Nova X1 B", cores=80))
    assert result.warnings == []
    assert System.objects.get(slug=HIDDEN).name == "Nova X1 B"
    assert Processor.objects.get(slug=CPU).cores == 80
    services.publish(runs=ids, actor=None)
    result = sent("acme", described("Nova X1 C", cores=80))
    assert any("another name" in words for words in result.warnings)
    assert System.objects.get(slug=HIDDEN).name == "Nova X1 B"


def test_what_nothing_is_left_of_may_be_described_anew(ids: list[int]) -> None:
    Run.objects.filter(pk__in=ids).delete()
    result = sent("other", described("Theirs"), run(HIDDEN, "triad.bandwidth", 5.0))
    assert System.objects.get(runs=result.created[0]).slug == HIDDEN
    assert System.objects.get(slug=HIDDEN).name == "Theirs"


def test_a_token_writes_its_maker_and_its_name(ids: list[int]) -> None:
    token, _secret = make_token("publish", lab=Lab.objects.get(slug="acme"))
    maker = account("sam", is_staff=True)
    token.created_by = maker
    token.save()
    result = sent("acme", run(HIDDEN, "triad.bandwidth", 9.0, node="n9"), actor=TokenUser(token))
    stored = Run.objects.get(pk=result.created[0])
    assert stored.created_by == maker
    services.publish(runs=[stored.pk], actor=TokenUser(token))
    entry = stored.audit.get()
    assert (entry.actor, entry.actor_name) == (maker, "token ci of Acme")


def test_lists_ask_as_often_with_hidden_machines_as_without() -> None:
    make_lab("acme")
    client = insider()
    before = [queries_of(client, f"{noun}/") for noun in ("systems", "processors")]
    for number in range(5):
        slug = f"hidden-{number}"
        store(system(slug), run(slug, "triad.bandwidth", 5), lab="acme", state="draft")
    after = [queries_of(client, f"{noun}/") for noun in ("systems", "processors")]
    assert before == after
