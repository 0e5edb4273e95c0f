"""Who may what: an account or a token, asked in one way."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from results import actors, services, tokens
from results.actors import TokenUser
from results.models import AuditEntry, Lab, Membership, Run
from tests.results.api_data import make_lab, make_run
from tests.results.asking import PUBLISHER, account, make_token

pytestmark = pytest.mark.django_db


def token_user(*scopes: str, lab: Lab | None = None) -> TokenUser:
    return TokenUser(make_token(*scopes, lab=lab)[0])


def closed(user: Any) -> Any:
    user.is_active = False
    user.save()
    return user


def revoked(user: TokenUser) -> TokenUser:
    tokens.revoke(token=user.token, actor=None, reason="lost")
    return user


def expired(user: TokenUser) -> TokenUser:
    user.token.expires_at = timezone.now() - timedelta(seconds=1)
    user.token.save()
    return user


# Who of lab acme (or not) may: upload for it, publish for it, read it, review what all sent.
Row = tuple[str, Callable[[Lab], Any], tuple[bool, bool, bool, bool]]
TABLE: tuple[Row, ...] = (
    ("nobody", lambda lab: AnonymousUser(), (False, False, False, False)),
    ("stranger", lambda lab: account("otto", make_lab("other")), (False,) * 4),
    ("member", lambda lab: account("mia", lab), (True, False, True, False)),
    ("publisher", lambda lab: account("pia", lab, role=PUBLISHER), (True, True, True, False)),
    ("staff", lambda lab: account("sam", is_staff=True), (True, True, True, True)),
    ("upload token", lambda lab: token_user("upload"), (True, False, True, False)),
    ("publish token", lambda lab: token_user("publish"), (True, True, True, False)),
    ("run token", lambda lab: token_user("run"), (False, False, False, False)),
    (
        "token of another lab",
        lambda lab: token_user("upload", "publish", "run", lab=make_lab("other")),
        (False,) * 4,
    ),
    ("closed member", lambda lab: closed(account("mia", lab)), (False,) * 4),
    ("closed publisher", lambda lab: closed(account("pia", lab, role=PUBLISHER)), (False,) * 4),
    ("closed staff", lambda lab: closed(account("sam", is_staff=True)), (False,) * 4),
    ("revoked token", lambda lab: revoked(token_user("publish")), (False,) * 4),
    ("expired token", lambda lab: expired(token_user("publish")), (False,) * 4),
)


@pytest.mark.parametrize(("make", "rights"), [row[1:] for row in TABLE], ids=[r[0] for r in TABLE])
def test_each_may_what_the_table_says(
    make: Callable[[Lab], Any], rights: tuple[bool, bool, bool, bool]
) -> None:
    lab = make_lab()
    actor = make(lab)
    upload, publish, read, review = rights
    assert actors.may_upload(actor, lab) is upload
    assert actors.may_publish(actor, lab) is publish
    assert actors.may_read_lab(actor, lab.pk) is read
    assert actors.may_review(actor) is review
    assert actors.is_staff(actor) is review
    assert actors.labs_for_upload(actor).filter(pk=lab.pk).exists() is upload
    assert actors.may_publish(actor, None) is review
    assert actors.may_read_lab(actor, None) is review
    own = Lab.objects.filter(pk=lab.pk, pk__in=actors.reads_labs(actor))
    assert own.exists() is (read and not review)


def test_while_the_lab_is_open_whoever_may_upload_for_any_may_upload() -> None:
    make_lab()
    assert actors.may_upload(account("mia", make_lab()), None)
    assert actors.may_upload(token_user("upload"), None)
    assert not actors.may_upload(token_user("run"), None)
    assert not actors.may_upload(account("nobody"), None)
    assert not actors.may_upload(AnonymousUser(), None)
    assert not actors.may_upload(None, None)


def test_a_token_is_no_account() -> None:
    user = token_user("upload")
    assert (user.is_authenticated, user.is_anonymous) == (True, False)
    assert (user.is_staff, user.is_superuser, user.is_active, user.pk) == (False,) * 3 + (None,)
    assert str(user) == "token ci of Acme"
    assert user == TokenUser(user.token)
    assert user != AnonymousUser()
    assert user != token_user("upload")


def test_what_is_stored_beside_a_change() -> None:
    sam = account("sam", is_staff=True)
    made, _secret = tokens.make(lab=make_lab(), scopes=["upload"], name="ci", actor=sam)
    assert actors.account(TokenUser(made)) == sam
    assert actors.account(token_user()) is None
    assert actors.account(sam) == sam
    assert actors.account(AnonymousUser()) is None
    assert actors.account(None) is None
    assert actors.name_of(None) == "the hub"
    assert actors.name_of(sam) == "sam"
    assert actors.name_of(TokenUser(made)) == "token ci of Acme"


def test_a_long_name_is_cut_to_what_an_audit_row_holds() -> None:
    lab = Lab.objects.create(slug="long", name="L" * 120)
    made, _secret = tokens.make(lab=lab, scopes=["upload"], name="n" * 80, actor=None)
    assert len(actors.name_of(TokenUser(made))) == 150


Change = Callable[[Run, Any], Any]
CHANGES: dict[str, Change] = {
    "publish": lambda run, actor: services.publish(runs=[run.pk], actor=actor),
    "withdraw": lambda run, actor: services.withdraw(runs=[run.pk], actor=actor, reason="x"),
    "schedule": lambda run, actor: services.schedule(
        runs=[run.pk], actor=actor, publish_at=timezone.now() + timedelta(days=1)
    ),
    "keep out of ranks": lambda run, actor: services.edit_not_ranked(
        runs=[run.pk], because="x", actor=actor
    ),
}


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("publish", {"publisher", "staff", "publish token"}),
        ("schedule", {"publisher", "staff", "publish token"}),
        ("withdraw", {"member", "publisher", "staff", "upload token", "publish token"}),
        ("keep out of ranks", {"staff"}),
    ],
)
def test_services_ask_for_the_right_themselves(name: str, allowed: set[str]) -> None:
    for who, make, _rights in TABLE:
        Membership.objects.all().delete()
        run = make_run(state="draft")
        actor = make(run.lab)
        if who in allowed:
            CHANGES[name](run, actor)
            assert AuditEntry.objects.get(run=run).actor_name == actors.name_of(actor)
        else:
            with pytest.raises(services.NotAllowed):
                CHANGES[name](run, actor)
            assert Run.objects.get(pk=run.pk).state == "draft"
        if actors.account(actor) is not None:
            actor.delete()


def test_a_correction_is_made_by_who_may_publish() -> None:
    old, new = make_run(), make_run(state="draft")
    member = account("mia", old.lab)
    with pytest.raises(services.NotAllowed):
        services.supersede(old=old.pk, new=new.pk, actor=member, reason="wrong unit")
    assert Run.objects.get(pk=old.pk).state == "published"
    services.supersede(old=old.pk, new=new.pk, actor=token_user("publish"), reason="wrong unit")
    assert Run.objects.get(pk=old.pk).state == "withdrawn"
