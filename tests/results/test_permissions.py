"""Who may what holds at every address, for everybody who may ask (S-09, S-08).

`permissions` holds the tables; an address, a method, an admin's model or action that is in no
table fails here, and so does a line whose address is gone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from results import hooks, models
from runners import benchmarks
from runners.models import Job
from tests.results import permissions as table
from tests.results import sent
from tests.results.permission_world import SOON, World, routes
from tests.results.permissions import Case

pytestmark = pytest.mark.django_db
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
PAGES, API, JOBS, ADMIN = (
    list(table.cases(one)) for one in (table.PAGES, table.API, table.JOBS, table.ADMIN)
)
LOGIN = (reverse("login"), reverse("admin:login"))


@pytest.fixture(scope="module")
def made(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    """The world, made once; each test's own transaction lies inside this one."""
    with (
        a_given_runner(),
        django_db_blocker.unblock(),
        transaction.atomic(),
    ):
        world = World.made()
        world.before = rows(STORED), rows(OF_ACME), rows(JOBS_OF_ACME)
        yield world
        transaction.set_rollback(True)


@contextmanager
def a_given_runner() -> Iterator[None]:
    """STREAM is measured by a runner whose parameters no host decides."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EXTRA_RUNNERS", "tests.runners.given")
        benchmarks.runners.cache_clear()
        yield
    benchmarks.runners.cache_clear()


@pytest.fixture
def world(made: World, db: None) -> World:
    return made


# What is stored


# All that a request might change, but when a token was last used. Plain SQL: it is asked often.
STORED = (
    "SELECT * FROM results_upload ORDER BY id",
    "SELECT id, state, reason, trust, not_ranked_because, publish_at, supersedes_id"
    " FROM results_run WHERE id IN (SELECT run_id FROM results_upload_runs) ORDER BY id",
    "SELECT id, revoked_at, scopes FROM results_token ORDER BY id",
    "SELECT id, is_active, is_staff, is_superuser, password FROM auth_user ORDER BY id",
    "SELECT (SELECT COUNT(*) FROM results_uploadfile), (SELECT COUNT(*) FROM results_artefact),"
    " (SELECT COUNT(*) FROM results_lab), (SELECT COUNT(*) FROM results_membership),"
    " (SELECT COUNT(*) FROM results_system), (SELECT COUNT(*) FROM results_processor),"
    " (SELECT COUNT(*) FROM results_summary), (SELECT COUNT(*) FROM results_auditentry)",
    "SELECT id, state, publish, cancel_requested_at, message FROM runners_job ORDER BY id",
    "SELECT id, state, stop_requested_at, message FROM runners_attempt ORDER BY id",
    "SELECT id, slug, name, is_open FROM runners_host ORDER BY id",
)
# What strangers must leave as it is, whatever they are answered.
OF_ACME = (
    "SELECT u.* FROM results_upload u JOIN results_lab l ON l.id = u.lab_id"
    " WHERE l.slug = 'acme' ORDER BY u.id",
    "SELECT r.id, r.state, r.reason, r.publish_at FROM results_run r"
    " JOIN results_lab l ON l.id = r.lab_id WHERE l.slug = 'acme' ORDER BY r.id",
)
JOBS_OF_ACME = (
    "SELECT j.id, j.state, j.cancel_requested_at FROM runners_job j"
    " JOIN results_lab l ON l.id = j.lab_id WHERE l.slug = 'acme'"
    " AND j.actor_name = 'x' ORDER BY j.id",
)


def rows(queries: Iterable[str]) -> list[Any]:
    """What the queries find."""
    found = []
    with connection.cursor() as cursor:
        for query in queries:
            cursor.execute(query)
            found.append(cursor.fetchall())
    return found


def stored() -> Any:
    """All rows that matter, and how many files are kept."""
    return [*rows(STORED), kept_files()]


def kept_files() -> int:
    """How many files are kept; those of a transaction that was undone are still there."""
    return sum(len(files) for _folder, _inner, files in os.walk(settings.ARTEFACT_ROOT))


# Asking


def form_of(world: World, case: Case) -> Mapping[str, Any]:
    """What is sent with a POST."""
    _kind, _colon, variation = case.thing.partition(":")
    form = table.FORMS.get(f"{case.route}:{variation}" if variation else case.route, {})
    later = timezone.now() + SOON
    soon = later.strftime("%Y-%m-%dT%H:%M" + ("Z" if case.route.startswith("api-") else ""))
    there = {"SOON": soon, "PUBLISHED": str(world.uploads["published"].pk)}
    there |= {"RUN": str(world.runs["published"].pk), "DRAFT": str(world.runs["draft"].pk)}
    found: dict[str, Any] = {name: there.get(value, value) for name, value in form.items()}
    if found.get("file") == table.FILE:
        found["file"] = SimpleUploadedFile("new.log", sent.stream_with_threads(3))
    return found


def outcome(answer: Any, *, unsafe: bool, changed: bool) -> str:
    """What came of a request, in the words of the tables."""
    if answer.status_code in (301, 302, 303) and answer["Location"].startswith(LOGIN):
        return "login"
    if answer.status_code >= 400:
        return str(answer.status_code)
    return "told" if unsafe and not changed else "ok"


def asked(world: World, who: str, case: Case) -> str:
    """What comes of it when `who` asks; a refusal that changed something says so."""
    address = world.address(case.route, case.thing.partition(":")[0])
    unsafe = case.method != "GET"
    form = form_of(world, case) if case.method == "POST" else {}
    with transaction.atomic():
        before = [*world.before[0], kept_files()]
        client = world.client(who)
        answer: Any = (
            client.generic(case.method, address) if not form else client.post(address, form)
        )
        if answer.streaming:
            assert list(answer.streaming_content)  # read to its end, a file is closed
        changed = unsafe and stored() != before
        found = outcome(answer, unsafe=unsafe, changed=changed)
        if changed and found != "ok":
            found += " and a change"
        if unsafe and has_changed_acmes(world, who):
            found += " and a change to another lab's"
        transaction.set_rollback(True)
    return found


def has_changed_acmes(world: World, who: str) -> bool:
    """Whether something of lab acme is other than before that `who` must leave alone."""
    strangers = ("stranger", "foreign", "foreign-run", "anon")
    if who in strangers and rows(JOBS_OF_ACME) != world.before[2]:
        return True
    return who in (*strangers, "run", "hub-run") and rows(OF_ACME) != world.before[1]


def differences(world: World, case: Case, roles: Mapping[str, Any]) -> list[str]:
    """Where the answers are others than the table says. What all may read, one of each asks for."""
    public = case.method == "GET" and case.expected["nobody"] == "ok"
    return [
        f"{case} as {who}: {found}, expected {expected}"
        for column, expected in case.expected.items()
        for who in roles[column][: 1 if public else None]
        if (found := asked(world, who, case)) != expected
    ]


# Addresses


def test_every_address_is_in_the_tables_and_every_line_has_its_address() -> None:
    listed = {case.route for case in (*PAGES, *API, *JOBS, *ADMIN)}
    models_of_admin = {name for name in routes() if is_of_model(name)}
    assert set(routes()) - models_of_admin == listed - {""}


def is_of_model(name: str) -> bool:
    """Whether it is one of the five addresses that a model has in the admin, or the old sixth."""
    endings = ("_changelist", "_add", "_history", "_delete", "_change")
    own = name.startswith("admin:") and name.endswith(endings) and "password" not in name
    return own or (name.startswith("admin/") and name.endswith("/<path:object_id>/"))


@pytest.mark.parametrize("case", PAGES, ids=str)
def test_pages_are_for_whom_the_table_says(world: World, case: Case) -> None:
    assert differences(world, case, table.PAGE_ROLES) == []


@pytest.mark.parametrize("case", API, ids=str)
def test_the_api_is_for_whom_the_table_says(world: World, case: Case) -> None:
    assert differences(world, case, table.API_ROLES) == []


@pytest.mark.parametrize("case", JOBS, ids=str)
def test_jobs_are_for_whom_the_table_says(world: World, case: Case) -> None:
    assert differences(world, case, table.JOB_ROLES) == []


@pytest.mark.parametrize("route", sorted({case.route for case in (*PAGES, *API, *JOBS)}))
def test_a_method_without_a_line_is_answered_with_405(world: World, route: str) -> None:
    listed = [case for case in (*PAGES, *API, *JOBS) if case.route == route]
    thing = listed[0].thing.partition(":")[0].partition("?")[0]
    found = []
    for method in set(METHODS) - {case.method for case in listed}:
        for who in ("anon", "staff", "revoked"):
            answer = asked(world, who, Case(route, method, thing, {}))
            # A header that opens nothing is refused whatever is asked for.
            allowed = {"405", "401"} if who == "revoked" else {"405"}
            found += [f"{method} {route} as {who}: {answer}"] if answer not in allowed else []
    assert found == []


def test_head_is_answered_as_get(world: World) -> None:
    found = []
    for case in (*PAGES, *API, *JOBS):
        if case.method != "GET":
            continue
        answer: Any = world.client("anon").head(world.address(case.route, case.thing))
        for close in answer._resource_closers:  # the file of an answer that nobody reads
            close()
        got, expected = outcome(answer, unsafe=False, changed=False), case.expected["nobody"]
        found += [f"HEAD {case.route} {case.thing}: {got}"] if got != expected else []
    assert found == []


POSTS = [case for case in (*PAGES, *API, *JOBS) if case.method == "POST"]


@pytest.mark.parametrize("case", POSTS, ids=str)
def test_what_another_site_makes_a_browser_send_is_refused(world: World, case: Case) -> None:
    """With the session of whoever may most, but without the page's token against forgery."""
    client = Client(enforce_csrf_checks=True)
    client.cookies = world.client("staff").cookies
    before = stored()
    address = world.address(case.route, case.thing.partition(":")[0])
    status = client.post(address, form_of(world, case)).status_code
    assert status == (404 if case.route == "api-nothing" else 403)
    assert stored() == before


# The admin


def admins() -> dict[str, Any]:
    """The models of the admin, by name."""
    return {str(model._meta.model_name): one for model, one in admin.site._registry.items()}


@pytest.mark.parametrize("case", ADMIN, ids=str)
def test_the_admins_own_addresses_are_for_the_staff(world: World, case: Case) -> None:
    system = models.System.objects.values_list("pk", flat=True)[0]
    kind = ContentType.objects.get_for_model(models.System).pk
    arguments: dict[str, list[Any]] = {
        "system": [kind, system],
        "user": [system],
        "results": ["results"],
    }
    if case.route.startswith("admin:"):
        address = reverse(case.route, args=arguments.get(case.thing))
    else:
        address = reverse("admin:index") + "nothing/"
    if case.route == "admin:autocomplete":
        address += "?app_label=results&model_name=system&field_name=processor"
    if case.thing == "user":
        address = reverse(case.route, args=[world.accounts["member"].pk])
    found = []
    for column, expected in case.expected.items():
        for who in table.ADMIN_ROLES[column]:
            answer = world.client(who).get(address)
            got = outcome(answer, unsafe=False, changed=False)
            found += [f"{case} as {who}: {got}, expected {expected}"] if got != expected else []
    assert found == []


LOOKED_AT = ("changelist", "history")
ROWS = [line.split() for line in table.MODELS.strip().splitlines()[1:]]


def test_every_model_of_the_admin_is_in_the_table() -> None:
    assert sorted(admins()) == sorted(row[0] for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row[0]))
def test_a_models_pages_are_for_whom_the_table_says(world: World, row: list[str]) -> None:
    model = admins()[row[0]].model
    root = dict(zip(("changelist", "add", "change", "delete"), row[1:], strict=True))
    root["history"] = "ok"
    one = row_of(world, model)
    found = []
    for page, expected in root.items():
        name = f"admin:{model._meta.app_label}_{row[0]}_{page}"
        address = reverse(name, args=[] if page in ("changelist", "add") else [one])
        looks = "ok" if page in ("changelist", "change", "history") else "403"
        # A row that nobody may change is still there to be looked at.
        roots = expected if expected == "ok" else looks
        for who, right in zip(
            ("anon", "publisher", "staff", "looker", "root"),
            ("login", "login", "403", looks, roots),
            strict=True,
        ):
            client = world.client(who)
            got = outcome(client.get(address), unsafe=False, changed=False)
            found += [f"GET {page} as {who}: {got}, expected {right}"] if got != right else []
            if page not in LOOKED_AT and (who != "root" or expected == "-"):
                found += posted(client, address, who, page)
    assert found == []


def posted(client: Client, address: str, who: str, page: str) -> list[str]:
    """What a POST changes that must change nothing."""
    with transaction.atomic():
        before = stored()
        answer = client.post(address, {"post": "yes", "state": "published", "_save": "1"})
        changed = stored() != before
        transaction.set_rollback(True)
    # Where a superuser may act on rows, their pages take a form and read nothing of it.
    refused = answer.status_code in (302, 403) or who == "root"
    return [f"POST {page} as {who}: {answer.status_code}"] if changed or not refused else []


def row_of(world: World, model: Any) -> Any:
    """The id of a row; one is made where there is none."""
    made = {"group": {"name": "editors"}}.get(model._meta.model_name)
    if made and not model.objects.exists():
        model.objects.create(**made)
    return model.objects.order_by("pk").values_list("pk", flat=True)[0]


def test_every_action_of_the_admin_is_in_the_table(rf: RequestFactory) -> None:
    found = {
        (name, action)
        for name, one in admins().items()
        for _function, action, _words in one._get_base_actions()
    }
    found |= {("run", action.__name__) for action in hooks.run_actions}
    assert found == set(table.ACTIONS)


@pytest.mark.parametrize(("model", "action"), table.ACTIONS)
def test_an_action_is_refused_without_its_permission(world: World, model: str, action: str) -> None:
    one = admins()[model].model
    address = reverse(f"admin:{one._meta.app_label}_{model}_changelist")
    chosen = [chosen_row(world, one, action)]
    form = {"action": action, "_selected_action": chosen, "apply": "1", "post": "yes"}
    form |= {"reason": "wrong clock", "select_across": "0"}
    found = []
    for who in ("anon", "publish", "publisher", "staff", "looker", "root"):
        may = who in table.ACTIONS[model, action]
        with transaction.atomic():
            before = (stored(), one.objects.count())
            world.client(who).post(address, form)
            changed = (stored(), one.objects.count()) != before
            transaction.set_rollback(True)
        found += [f"{action} of {model} as {who}: changed {changed}"] if changed != may else []
    assert found == []


def chosen_row(world: World, model: Any, action: str) -> Any:
    """A row that the action would change for whoever may."""
    if model is models.Run:
        kinds = {"publish": "draft", "let_into_ranks": "pending"}
        run = world.runs[kinds.get(action, "published")]
        kept_out = action == "let_into_ranks"
        models.Run.objects.filter(pk=run.pk).update(not_ranked_because="x" if kept_out else "")
        return run.pk
    if model is models.Token:
        return models.Token.objects.filter(revoked_at=None).values_list("pk", flat=True)[0]
    if model is Job:
        return world.jobs["waiting"].pk
    # Rows that nothing else holds.
    fresh = {
        models.Lab: {"slug": "fresh", "name": "Fresh"},
        models.Processor: {"slug": "fresh", "name": "Fresh"},
        models.System: {"slug": "fresh", "name": "Fresh"},
        models.Source: {"slug": "fresh", "title": "Fresh"},
        User: {"username": "fresh"},
    }.get(model)
    return model.objects.create(**fresh).pk if fresh else row_of(world, model)
