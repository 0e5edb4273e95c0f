"""The admin: found, filtered, published and withdrawn; numbers are not edited by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from results import models, tokens
from results.models import (
    Artefact,
    AuditEntry,
    Comparison,
    Lab,
    Run,
    Summary,
    System,
    Token,
    Upload,
    UploadFile,
)
from results.services import withdraw
from tests.results.made import run, store, system
from tests.results.pages import member, staff

pytestmark = pytest.mark.django_db
MODELS = [model for model in admin.site._registry if model.__module__.startswith(models.__name__)]
RUNS = "/admin/results/run/"


def act(client: Client, action: str, ids: list[int], **more: Any) -> Any:
    """Choose runs in the list and apply an action to them."""
    return client.post(
        RUNS, {"action": action, "_selected_action": ids, "select_across": 0, **more}, follow=True
    )


def made(*values: float, state: str = "draft") -> list[int]:
    """Runs of STREAM Triad on a system each."""
    slugs = [f"s{n}" for n in range(len(values))]
    runs = [run(slug, "triad.bandwidth", v) for slug, v in zip(slugs, values, strict=True)]
    return store(*map(system, slugs), *runs, state=state)


def test_every_stored_noun_has_its_admin() -> None:
    nouns = {getattr(models, name) for name in models.__all__}
    stored = {noun for noun in nouns if hasattr(noun, "_meta")}
    shown_with_others = {models.Membership, models.ListEntry, models.UploadFile}
    assert stored - set(MODELS) <= {*shown_with_others, models.Stamp}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_lists_can_be_searched_and_open_their_rows(model: Any, reference: None) -> None:
    client = staff()
    name = f"admin:results_{model._meta.model_name}"
    assert client.get(reverse(f"{name}_changelist"), {"q": "e"}).status_code == 200
    assert admin.site._registry[model].search_fields
    first = model.objects.order_by("pk").first()
    if first is not None:
        assert client.get(reverse(f"{name}_change", args=[first.pk])).status_code == 200


def queries_of(client: Client, address: str) -> int:
    client.get(address)  # what Django keeps in memory (content types) is asked for now
    with CaptureQueriesContext(connection) as seen:
        assert client.get(address).status_code == 200
    return len(seen.captured_queries)


@pytest.mark.parametrize("noun", ["run", "measurement", "system", "summary", "processor"])
def test_a_list_asks_as_often_for_many_rows_as_for_few(noun: str) -> None:
    client = staff()
    made(1.0, 2.0, state="published")
    address = f"/admin/results/{noun}/?q=s"
    few = queries_of(client, address)
    more = [f"more-s{n}" for n in range(30)]
    store(*map(system, more), *(run(slug, "triad.bandwidth", 5) for slug in more))
    assert queries_of(client, address) == few


def test_a_run_with_many_measurements_asks_no_more_for_them() -> None:
    client = staff()
    metrics = [{"metric": f"{k}.bandwidth", "unit": "GB/s", "value": 5} for k in ("triad", "add")]
    one, two = (
        {**run("a", "triad.bandwidth", 5), "measurements": metrics[:count]} for count in (1, 2)
    )
    first, second = store(system("a"), one, {**two, "version": "5.10"})
    assert queries_of(client, f"{RUNS}{first}/change/") == queries_of(
        client, f"{RUNS}{second}/change/"
    )


def test_runs_are_published_by_an_action_that_leaves_an_audit_row() -> None:
    client, ids = staff(), made(5.0, 6.0)
    answer = act(client, "publish", ids)
    assert "2 runs were changed." in answer.content.decode()
    assert set(Run.objects.values_list("state", flat=True).filter(pk__in=ids)) == {"published"}
    entries = AuditEntry.objects.filter(run__in=ids, action="publish", actor_name="root")
    assert entries.count() == 2
    assert Summary.objects.filter(best_run__in=ids).count() == 2


def test_withdrawing_asks_for_a_reason_first() -> None:
    client, ids = staff(), made(5.0, state="published")
    asked = act(client, "withdraw", ids).content.decode()
    assert "Reason, shown to readers" in asked
    assert f"Run {ids[0]}" in asked
    empty = act(client, "withdraw", ids, apply="1", reason="  ").content.decode()
    assert "Reason, shown to readers" in empty
    assert Run.objects.get(pk=ids[0]).state == "published"
    done = act(client, "withdraw", ids, apply="1", reason="wrong <clock>").content.decode()
    assert "1 run was changed." in done
    withdrawn = Run.objects.get(pk=ids[0])
    assert (withdrawn.state, withdrawn.reason) == ("withdrawn", "wrong <clock>")
    assert not Summary.objects.filter(best_run__in=ids).exists()
    page = client.get(withdrawn.get_absolute_url()).content.decode()
    assert "wrong &lt;clock&gt;" in page


def test_a_run_is_kept_out_of_ranks_and_let_in_again() -> None:
    client, ids = staff(), made(5.0, state="published")
    act(client, "keep_out_of_ranks", ids, apply="1", reason="a shared machine")
    assert Run.objects.get(pk=ids[0]).not_ranked_because == "a shared machine"
    cell = Summary.objects.get(best_run=ids[0])
    assert (cell.ranked, cell.n) == (False, 1)
    act(client, "let_into_ranks", ids)
    assert Run.objects.get(pk=ids[0]).not_ranked_because == ""
    assert Summary.objects.get(best_run=ids[0]).ranked


def test_what_may_not_be_done_is_said_and_not_done() -> None:
    client, ids = staff(), made(5.0, state="published")
    from results.services import supersede

    new = store(run("s0", "triad.bandwidth", 7, version="5.10"), state="draft")
    supersede(old=ids[0], new=new[0], actor=None, reason="MiB")
    answer = act(client, "publish", ids).content.decode()
    assert "has been replaced by a correction" in answer
    assert Run.objects.get(pk=ids[0]).state == "withdrawn"


def test_a_runs_numbers_are_not_changed_by_hand() -> None:
    client, ids = staff(), made(5.0, state="published")
    address = f"{RUNS}{ids[0]}/change/"
    page = client.get(address).content.decode()
    assert "_save" not in page
    client.post(address, {"state": "draft", "measurements-0-value": "99", "version": "9"})
    kept = Run.objects.get(pk=ids[0])
    assert (kept.state, kept.version, kept.measurements.get().value) == ("published", "", 5.0)


def test_nothing_is_added_or_deleted_where_only_bundles_write() -> None:
    client, ids = staff(), made(5.0)
    for noun in ("run", "measurement", "summary", "auditentry", "artefact", "metric"):
        assert client.get(f"/admin/results/{noun}/add/").status_code == 403
    assert client.post(f"{RUNS}{ids[0]}/delete/", {"post": "yes"}).status_code == 403


def test_the_audit_trail_is_read_only() -> None:
    client, ids = staff(), made(5.0, state="published")
    withdraw(runs=ids, actor=None, reason="wrong clock")
    entry = AuditEntry.objects.filter(run_id=ids[0]).latest("id")
    address = f"/admin/results/auditentry/{entry.pk}/"
    assert "wrong clock" in client.get(f"{address}change/").content.decode()
    assert client.post(f"{address}change/", {"reason": "other"}).status_code == 403
    assert client.post(f"{address}delete/", {"post": "yes"}).status_code == 403


def test_a_members_place_is_given_on_the_labs_page() -> None:
    client = staff()
    made(5.0)
    lab, mia = Lab.objects.get(slug="made-lab"), User.objects.create_user("mia")
    client.post(
        f"/admin/results/lab/{lab.pk}/change/",
        {
            **{name: getattr(lab, name) for name in ("slug", "name", "kind", "homepage")},
            "memberships-TOTAL_FORMS": 1,
            "memberships-INITIAL_FORMS": 0,
            "memberships-0-user": mia.pk,
            "memberships-0-role": "publisher",
            "tokens-TOTAL_FORMS": 0,
            "tokens-INITIAL_FORMS": 0,
        },
    )
    assert lab.memberships.get().user == mia


def test_a_changed_system_changes_its_cells() -> None:
    client, ids = staff(), made(5.0, state="published")
    machine = System.objects.get(slug="s0")
    before = Summary.objects.get(best_run=ids[0]).tracked
    form: dict[str, Any] = {
        field.name: getattr(machine, field.name) or ""
        for field in System._meta.fields
        if field.name not in ("id", "processor", "source", "extra", "inferred")
    }
    form |= {"processor": machine.processor_id, "extra": "{}", "inferred": "{}"}
    answer = client.post(
        f"/admin/results/system/{machine.pk}/change/", {**form, "firmware": "9.9"}, follow=True
    )
    assert "was changed successfully" in answer.content.decode()
    after = Summary.objects.get(best_run=ids[0]).tracked
    assert "bios.version" not in before
    assert after["bios.version"] == "9.9"


def comparison_form(**changes: str) -> dict[str, str]:
    return {
        "title": "Made",
        "slug": "made",
        "columns": json.dumps(["s0", "s1"]),
        "benchmarks": "[]",
        "factor": "system",
        "per": "total",
        **changes,
    }


def test_only_a_comparison_that_can_be_made_is_stored() -> None:
    client = staff()
    made(5.0, 6.0, state="published")
    address = "/admin/results/comparison/add/"
    refused = client.post(address, comparison_form(columns='["s0", "gone"]', per="hour"))
    assert "gone" in refused.content.decode()
    assert not Comparison.objects.filter(slug="made").exists()
    client.post(address, comparison_form())
    assert Comparison.objects.get(slug="made").columns == ["s0", "s1"]


def test_the_admin_is_for_the_staff_only(client: Client) -> None:
    made(5.0)
    for visitor in (client, member()):
        assert "/admin/login/" in visitor.get(RUNS)["Location"]
        assert "/admin/login/" in visitor.post(RUNS, {"action": "publish"})["Location"]
    assert Run.objects.filter(lab__slug="made-lab", state="draft").exists()


def test_a_token_is_made_on_a_page_that_shows_its_secret_once() -> None:
    client, lab = staff(), Lab.objects.create(slug="acme", name="Acme")
    form = {"lab": lab.pk, "name": "ci", "scopes": ["upload", "run"]}
    answer = client.post("/admin/results/token/add/", form)
    made_token = Token.objects.get()
    assert (made_token.name, made_token.scopes) == ("ci", ["upload", "run"])
    assert made_token.created_by == User.objects.get(username="root")
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]
    page = answer.content.decode()
    assert page.count(f"bh_{made_token.prefix}_") == 2
    assert made_token.digest not in page
    assert "bh_" not in str(client.cookies) + str(dict(client.session))
    listed = client.get("/admin/results/token/").content.decode()
    assert made_token.prefix in listed
    assert "upload, run" in listed
    assert f"bh_{made_token.prefix}_" not in listed


def test_a_token_without_scope_or_with_a_past_end_is_refused() -> None:
    client, lab = staff(), Lab.objects.create(slug="acme", name="Acme")
    form = {"lab": lab.pk, "scopes": ["upload"], "expires_at_0": "2020-01-01", "expires_at_1": "0"}
    page = client.post("/admin/results/token/add/", {**form, "expires_at_1": "00:00"})
    assert "a moment in the future" in page.content.decode()
    client.post("/admin/results/token/add/", {"lab": lab.pk, "scopes": []})
    assert not Token.objects.exists()


def test_a_token_is_revoked_with_a_reason_and_changed_in_no_other_way() -> None:
    client, lab = staff(), Lab.objects.create(slug="acme", name="Acme")
    token, _secret = tokens.make(lab=lab, scopes=["upload"], name="ci", actor=None)
    address = f"/admin/results/token/{token.pk}/"
    client.post(f"{address}change/", {"name": "other", "scopes": ["publish"]})
    assert client.get(f"{address}delete/").status_code == 403
    stored = Token.objects.get()
    assert (stored.name, stored.scopes) == ("ci", ["upload"])
    chosen = {"action": "revoke", "_selected_action": [token.pk], "select_across": 0}
    asked = client.post("/admin/results/token/", chosen).content.decode()
    assert "kept in the audit trail" in asked
    assert Token.objects.get().is_live
    done = client.post(
        "/admin/results/token/", {**chosen, "apply": "1", "reason": "leaked"}, follow=True
    )
    assert "1 token was revoked." in done.content.decode()
    assert not Token.objects.get().is_live
    entry = AuditEntry.objects.get(action="revoke token")
    assert (entry.actor_name, entry.reason) == ("root", "leaked")
    lab_page = client.get(f"/admin/results/lab/{lab.pk}/change/").content.decode()
    assert token.prefix in lab_page
    assert "revoked" in lab_page


def test_who_may_only_look_at_tokens_makes_and_revokes_none() -> None:
    lab = Lab.objects.create(slug="acme", name="Acme")
    token, _secret = tokens.make(lab=lab, scopes=["upload"], name="ci", actor=None)
    looker = User.objects.create_user("lou", is_staff=True)
    looker.user_permissions.add(Permission.objects.get(codename="view_token"))
    client = Client()
    client.force_login(looker)
    page = client.get("/admin/results/token/").content.decode()
    assert token.prefix in page
    assert 'value="revoke"' not in page
    form = {"lab": lab.pk, "scopes": ["upload"]}
    assert client.post("/admin/results/token/add/", form).status_code == 403
    chosen = {"action": "revoke", "_selected_action": [token.pk], "apply": "1", "reason": "x"}
    client.post("/admin/results/token/", chosen)
    assert Token.objects.get().is_live


def test_uploads_are_looked_at_and_named_by_their_audit_rows() -> None:
    client, lab = staff(), Lab.objects.create(slug="acme", name="Acme")
    artefact = Artefact.objects.create(sha256="a" * 64, name="stream.log", size=1234)
    upload = Upload.objects.create(identity="b" * 64, lab=lab, preview_key="k" * 32)
    UploadFile.objects.create(upload=upload, artefact=artefact, name="stream.log", position=0)
    AuditEntry.objects.create(actor_name="mia", action="upload", upload=upload)
    page = client.get(f"/admin/results/upload/{upload.pk}/change/").content.decode()
    assert "stream.log" in page
    assert upload.get_absolute_url() in page
    assert upload.preview_key not in page
    assert "Acme" in client.get("/admin/results/upload/?q=stream").content.decode()
    for path in ("add/", f"{upload.pk}/delete/"):
        assert client.get(f"/admin/results/upload/{path}").status_code == 403
    rows = client.get("/admin/results/auditentry/").content.decode()
    assert f"/admin/results/upload/{upload.pk}/change/" in rows


def test_what_is_public_is_not_set_by_hand() -> None:
    client = staff()
    made(5.0)
    machine = System.objects.select_related("processor").get(slug="s0")
    assert machine.processor is not None
    form = {"slug": "cpu-s0", "name": "X", "extra": "{}", "inferred": "{}", "is_public": "on"}
    client.post(f"/admin/results/processor/{machine.processor_id}/change/", form)
    machine.processor.refresh_from_db()
    assert (machine.processor.name, machine.processor.is_public) == ("X", False)
