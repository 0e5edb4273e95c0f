"""What becomes of an upload: review, publication, labels, corrections, withdrawal; and lists."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from results.models import Artefact, AuditEntry, Lab, Run, Upload, UploadFile
from tests.results.api_data import ROOT, get, make_lab, queries_of, refused, signed_in
from tests.results.bundles import SYSTEM, as_bytes, bundle, measurement, run
from tests.results.uploading import (
    UPLOADS,
    a_bundle,
    a_log,
    bad,
    kept_files,
    member,
    post,
    sent,
    with_token,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("store")]
SOON = timedelta(days=3)


# Answers that come too late, and those that do not


def test_what_was_published_is_not_answered(publisher: Client, store: Path) -> None:
    pk = post(publisher, "", {"file": a_bundle(), "publish": "1"}, 201)["id"]
    files = kept_files(store)
    post(publisher, f"{pk}/", {"system": SYSTEM}, 409)
    found = post(publisher, f"{pk}/", {"file": a_log()}, 409)
    assert set(found) == {"message", "fields"}
    post(publisher, f"{pk}/publish/", {}, 409)
    assert kept_files(store) == files


def test_files_that_are_another_upload_replace_none(uploader: Client) -> None:
    post(uploader, "", {"file": a_bundle()}, 201)
    other = post(uploader, "", {"file": a_log()}, 201)["id"]
    found = post(uploader, f"{other}/", {"file": a_bundle()}, 409)
    assert "already" in found["message"]


def test_files_are_replaced_and_read_anew(uploader: Client) -> None:
    first = post(uploader, "", {"file": bad()}, 400)
    found = post(uploader, f"{first['id']}/", {"file": a_bundle()})
    assert (found["id"], found["state"]) == (first["id"], "parsed")
    actions = AuditEntry.objects.filter(upload=first["id"]).values_list("action", flat=True)
    assert {"upload", "read", "replace files"} <= set(actions)


def test_an_empty_setting_takes_an_answer_back(uploader: Client) -> None:
    data = {"file": a_log(), "system": SYSTEM, "set": ["scope=system", "placement=local"]}
    first = post(uploader, "", data, 201)
    assert first["runs"][0]["parameters"]["placement"] == "local"
    found = post(uploader, f"{first['id']}/", {"set": "placement="})
    assert found["runs"][0]["parameters"]["placement"] == "all"


# What becomes of it


def test_sent_returned_mended_and_published(uploader: Client, staff: Client) -> None:
    pk = post(uploader, "", {"file": a_bundle()}, 201)["id"]
    post(uploader, f"{pk}/publish/", {}, 403)
    wish = (timezone.now() + SOON).isoformat()
    found = post(uploader, f"{pk}/send/", {"publish_at": wish})
    assert (found["wished_date"], found["sent_at"] is not None) == (wish, True)
    assert set(post(staff, f"{pk}/return/", {}, 400)["fields"]) == {"note"}
    post(uploader, f"{pk}/return/", {"note": "x"}, 403)
    found = post(staff, f"{pk}/return/", {"note": "Which kernel?\nSay it."})
    assert (found["note"], found["sent_at"]) == ("Which kernel?\nSay it.", None)
    post(staff, f"{pk}/return/", {"note": "again"}, 409)
    post(uploader, f"{pk}/send/")
    assert post(staff, f"{pk}/publish/")["state"] == "published"


def test_a_date_may_be_given_later(publisher: Client) -> None:
    pk = post(publisher, "", {"file": a_bundle()}, 201)["id"]
    moment = datetime(2099, 1, 1, tzinfo=UTC).isoformat()
    post(publisher, f"{pk}/publish/", {"publish_at": moment}, 409)
    near = (timezone.now() + SOON).isoformat()
    assert post(publisher, f"{pk}/publish/", {"publish_at": near})["publish_at"] == near
    assert post(publisher, f"{pk}/publish/")["state"] == "published"


def test_what_is_withdrawn_says_why(publisher: Client) -> None:
    found = post(publisher, "", {"file": a_bundle(), "publish": "1"}, 201)
    pk, stored = found["id"], found["runs"][0]["run"]
    assert set(post(publisher, f"{pk}/withdraw/", {}, 400)["fields"]) == {"reason"}
    found = post(publisher, f"{pk}/withdraw/", {"reason": "a fan had failed"})
    assert (found["state"], found["reason"]) == ("withdrawn", "a fan had failed")
    refused(Client(), f"runs/{stored}/", status=404)
    post(publisher, f"{pk}/withdraw/", {"reason": "again"}, 409)


def test_the_staff_labels_what_was_sent(uploader: Client, staff: Client) -> None:
    found = post(uploader, "", {"file": a_bundle()}, 201)
    pk, stored = found["id"], found["runs"][0]["run"]
    post(uploader, f"{pk}/label/", {"trust": "verified"}, 403)
    assert set(post(staff, f"{pk}/label/", {}, 400)["fields"]) == {"trust"}
    assert set(post(staff, f"{pk}/label/", {"trust": "some"}, 400)["fields"]) == {"trust"}
    data = {"trust": "vendor", "not_ranked_because": "a prototype"}
    found = post(staff, f"{pk}/label/", data)
    assert (found["trust"], found["not_ranked_because"]) == ("vendor", "a prototype")
    one = Run.objects.get(pk=stored)
    assert (one.get_trust_display(), one.not_ranked_because) == ("vendor", "a prototype")
    assert post(staff, f"{pk}/label/", {"not_ranked_because": ""})["not_ranked_because"] == ""


def corrected() -> Any:
    return sent("c.json", as_bytes(bundle(run(measurement(101.5)), lab="acme")))


def test_a_correction_takes_the_place_of_what_was_published(publisher: Client) -> None:
    first = post(publisher, "", {"file": a_bundle(), "publish": "1"}, 201)
    number = {"corrects": first["id"]}
    assert set(post(publisher, "", {"file": a_log(), **number}, 400)["fields"]) == {"reason"}
    changed = a_bundle(parameters={"placement": "all", "smt": "on", "threads": 128})
    data = {"file": changed, "reason": "SMT was on", **number, "publish": "1"}
    found = post(publisher, "", data, 201)
    assert (found["state"], found["corrects"]) == ("published", first["id"])
    old = get(publisher, f"uploads/{first['id']}/")
    assert (old["state"], old["reason"]) == ("withdrawn", "SMT was on")
    new = Run.objects.get(pk=found["runs"][0]["run"])
    assert new.supersedes_id == first["runs"][0]["run"]


def test_a_correction_can_be_tried_before(publisher: Client) -> None:
    first = post(publisher, "", {"file": a_bundle(), "publish": "1"}, 201)
    wrong = sent("b.json", as_bytes(bundle(run(measurement(200.0)), lab="acme")))
    data = {"file": wrong, "corrects": first["id"], "reason": "wrong column", "dry_run": "1"}
    found = post(publisher, "", data, 200)
    assert found["runs"][0]["measurements"][0]["value"] == 200.0
    assert found["problems"] == []


def test_only_what_is_published_is_corrected_and_only_by_its_lab(publisher: Client) -> None:
    first = post(publisher, "", {"file": a_bundle()}, 201)
    data = {"file": corrected(), "reason": "x", "corrects": first["id"]}
    post(publisher, "", data, 409)
    post(publisher, f"{first['id']}/publish/")
    stranger = with_token(make_lab("other"))
    found = post(stranger, "", {**data, "file": corrected()}, 400)
    assert set(found["fields"]) == {"corrects"}
    both = signed_in(member(Lab.objects.get(slug="acme"), "mia"))
    member(make_lab("other"), "mia")
    found = post(both, "", {**data, "file": corrected(), "lab": "other"}, 400)
    assert set(found["fields"]) == {"lab"}


# Lists, and what may be sent instead of a form


def test_lists_show_the_newest_first_of_ones_labs_and_are_filtered(
    uploader: Client, staff: Client
) -> None:
    first = post(uploader, "", {"file": a_bundle()}, 201)["id"]
    second = post(uploader, "", {"file": bad()}, 400)["id"]
    third = post(with_token(make_lab("other")), "", {"file": a_log()}, 201)["id"]

    def ids(client: Client, **query: str) -> list[int]:
        return [one["id"] for one in get(client, "uploads/", query)["results"]]

    assert ids(uploader) == [second, first]
    assert ids(staff) == [third, second, first]
    assert ids(staff, lab="other") == [third]
    assert ids(uploader, state="rejected") == [second]
    assert ids(uploader, lab="other") == []
    (one,) = get(uploader, "uploads/", {"state": "parsed"})["results"]
    assert (one["lab"], one["files"]) == ("acme", ["b.json"])
    assert set(refused(uploader, "uploads/", {"state": "lost"})) == {"state"}


def test_json_is_taken_where_no_file_is_sent(uploader: Client) -> None:
    pk = post(uploader, "", {"file": a_log()}, 201)["id"]
    said = {"system": SYSTEM, "set": {"scope": "system", "threads_per_core": 1}, "publish": False}
    found = post(uploader, f"{pk}/", json.dumps(said), content_type="application/json")
    assert (found["questions"], found["systems"]) == ([], [SYSTEM])
    for wrong in ("[1]", "null", '{"set": {"a": {}}}', "{", '{"lab": [[]]}'):
        post(uploader, f"{pk}/", wrong, 400, content_type="application/json")
    found = post(uploader, f"{pk}/withdraw/", {"reason": "gone"}, content_type="application/json")
    assert found["state"] == "withdrawn"


def test_a_list_takes_the_same_few_queries_whatever_is_stored(lab: Lab, uploader: Client) -> None:
    def make(count: int) -> None:
        for number in range(count):
            data = {"report": {"runs": ["x" * 100]}, "lab": lab}
            upload = Upload.objects.create(identity=f"{count}-{number}", **data)
            artefact = Artefact.objects.create(sha256=f"{upload.pk:064x}", name="a", size=1)
            UploadFile.objects.create(upload=upload, artefact=artefact, name="a", position=0)

    make(2)
    get(uploader, "uploads/")  # notes the use of the token
    few = queries_of(uploader, "uploads/")
    make(30)
    assert queries_of(uploader, "uploads/") == few
    assert few <= 5


def test_the_addresses_of_uploads_load_no_parser() -> None:
    lines = (
        "import django, sys",
        "django.setup()",
        "import results.api.urls",
        "heavy = ('results.bundle', 'results.formats', 'results.ingest', 'pydantic', 'pint')",
        "print([name for name in sys.modules if name.startswith(heavy)])",
    )
    words = [sys.executable, "-c", "\n".join(lines)]
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "benchhub.settings"}
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr


@pytest.mark.parametrize("method", ["put", "patch", "delete", "trace"])
def test_other_methods_are_405(uploader: Client, method: str) -> None:
    pk = post(uploader, "", {"file": a_bundle()}, 201)["id"]
    for path in ("", f"{pk}/", f"{pk}/publish/"):
        answer = getattr(uploader, method)(UPLOADS + path)
        assert (answer.status_code, set(answer.json())) == (405, {"message", "fields"})
    assert uploader.get(f"{UPLOADS}{pk}/publish/").status_code == 405
    assert uploader.options(f"{UPLOADS}{pk}/").status_code == 200
    assert get(Client(), "")["uploads"] == f"http://testserver{ROOT}uploads/"
