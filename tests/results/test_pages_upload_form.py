"""The form that takes files, with and without a lab, and as a correction."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from results import formats
from results.intake import standing
from results.models import Upload
from results.pages.formatnames import format_names
from tests.results.bundles import measurement, run
from tests.results.pages import read, source_of
from tests.results.sent import VERA, bundle_of, lab_of, lscpu, member, publisher, sent, stream_log
from tests.results.uploadpages import file, page_of, published, signed_in

pytestmark = pytest.mark.usefixtures("reference")


# The form


def test_a_stranger_reads_what_is_taken_and_where_to_sign_in(client: Client) -> None:
    page = source_of(client, "/upload/")
    assert "/accounts/login/?next=/upload/" in page
    assert 'enctype="multipart/form-data"' not in page
    assert "http://testserver/api/v1/uploads/" in page
    assert "STREAM" in page


def test_an_account_without_a_lab_is_told_so() -> None:
    client = signed_in(User.objects.create_user("noah"))
    page = source_of(client, "/upload/")
    assert "belongs to no lab yet" in page
    assert 'type="file"' not in page
    answer = client.post("/upload/", {"file": file(b"x")})
    assert answer.status_code == 302
    assert not Upload.objects.exists()


def test_what_a_stranger_posts_is_not_even_read(client: Client) -> None:
    answer = client.post("/upload/", {"file": file(b"x")})
    assert answer["Location"].startswith("/accounts/login/")
    assert not Upload.objects.exists()


def test_the_page_names_every_format_there_is() -> None:
    assert set(format_names()) == {known.NAME for known in formats.formats().values()}


def test_a_member_uploads_and_sees_what_was_understood() -> None:
    lab = lab_of()
    client = signed_in(member(lab))
    answer = client.post("/upload/", {"file": file(bundle_of(lab))})
    assert answer.status_code == 303
    upload = Upload.objects.get()
    assert (answer["Location"], upload.lab, upload.state) == (page_of(upload), lab, "parsed")
    text = read(client, page_of(upload))
    assert "1 run understood, not public yet" in text
    assert "What was understood" in text
    assert "Bundle (JSON)" in text
    assert upload.files.get().artefact.sha256 in text


def test_pasted_text_is_a_file_with_the_line_ends_of_the_tool() -> None:
    client = signed_in(member(lab_of()))
    text = stream_log().decode().replace("\n", "\r\n")
    client.post("/upload/", {"text": text, "text_name": "../a/stream.log", "system": VERA})
    upload = Upload.objects.get()
    assert upload.files.get().name == "stream.log"
    assert upload.given["system"] == VERA
    artefact = upload.files.get().artefact
    assert artefact.size == len(stream_log())


def test_pasted_text_may_have_the_name_of_a_file_beside_it() -> None:
    client = signed_in(member(lab_of()))
    data = {"file": file(lscpu(), "pasted.txt"), "text": stream_log().decode()}
    client.post("/upload/", data)
    names = [one.name for one in Upload.objects.get().files.all()]
    assert names == ["pasted.txt", "pasted (2).txt"]


def test_nothing_chosen_is_told_on_the_form() -> None:
    client = signed_in(member(lab_of()))
    answer = client.post("/upload/", {"text": "  \n", "system": "box"})
    assert answer.status_code == 400
    assert "Choose at least one file" in answer.content.decode()
    assert 'value="box"' in answer.content.decode()


def test_a_system_may_be_named_as_people_name_it() -> None:
    client = signed_in(member(lab_of()))
    client.post("/upload/", {"file": file(stream_log(), "s.log"), "system": "nvidia mgx vera c2"})
    assert Upload.objects.get().given["system"] == VERA


def test_a_lab_of_others_cannot_be_chosen() -> None:
    mia = member(lab_of())
    member(lab_of("second"), "mia")
    lab_of("third")
    client = signed_in(mia)
    page = source_of(client, "/upload/")
    assert '<option value="second"' in page
    assert '<option value="third"' not in page
    answer = client.post("/upload/", {"file": file(b"x"), "lab": "third"})
    assert answer.status_code == 400
    assert "You may not upload for this lab." in answer.content.decode()
    assert not Upload.objects.exists()


def test_the_lab_may_be_said_later_in_the_page() -> None:
    mia = member(lab_of())
    member(lab_of("second"), "mia")
    client = signed_in(mia)
    client.post("/upload/", {"file": file(stream_log(), "s.log"), "system": VERA})
    upload = Upload.objects.get()
    assert upload.lab is None
    page = source_of(client, page_of(upload))
    assert "Whose results are these?" in page
    assert client.post(f"{page_of(upload)}answer/", {"lab": "second"}).status_code == 303
    upload.refresh_from_db()
    assert str(upload.lab) == "Second"
    assert not upload.report["questions"]


def test_the_same_files_are_the_same_upload() -> None:
    lab = lab_of()
    client = signed_in(member(lab))
    first = client.post("/upload/", {"file": file(bundle_of(lab))})["Location"]
    again = client.post("/upload/", {"file": file(bundle_of(lab))}, follow=True)
    assert again.redirect_chain == [(first, 303)]
    assert "The same files came before" in again.content.decode()


def test_too_many_files_are_refused_in_words() -> None:
    client = signed_in(member(lab_of()))
    answer = client.post("/upload/", {"file": [file(b"x", f"{n}.log") for n in range(21)]})
    assert answer.status_code == 400
    assert "More than 20 files" in answer.content.decode()
    assert answer["Cache-Control"] == "private, no-store"


@pytest.mark.parametrize("address", ["/upload/", "/uploads/1/replace/", "/uploads/1/publish/"])
def test_a_form_of_another_site_is_refused(address: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(member(lab_of()))
    assert client.post(address, {"file": file(b"x")}).status_code == 403
    assert not Upload.objects.exists()


# Corrections


def test_a_correction_needs_a_reason() -> None:
    former = published()
    client = signed_in(publisher(lab_of()))
    address = f"/upload/?corrects={former.pk}"
    assert "Reason, shown to readers of the old runs" in read(client, address)
    new = bundle_of(lab_of(), run(measurement(120.0), started_at="2026-10-01T12:00:01Z"))
    answer = client.post(address, {"file": file(new), "reason": " "})
    assert answer.status_code == 400
    assert "Say why: readers of the old runs will see it." in answer.content.decode()
    assert Upload.objects.count() == 1


def test_a_correction_starts_from_the_system_and_node_of_before() -> None:
    lab = lab_of()
    former = sent({"r.json": bundle_of(lab, run(node="n7"))})
    standing.publish_upload(upload=former, actor=publisher(lab))
    page = source_of(signed_in(member(lab)), f"/upload/?corrects={former.pk}")
    assert f'value="{VERA}" autocomplete="off"' in page
    assert 'name="node" maxlength="100" value="n7"' in page


def test_a_published_correction_strikes_the_old_run_through_with_the_reason() -> None:
    former = published()
    client = signed_in(publisher(lab_of()))
    new = bundle_of(lab_of(), run(measurement(120.0), started_at="2026-10-01T12:00:01Z"))
    data = {"file": file(new), "reason": "counted in MiB"}
    address = client.post(f"/upload/?corrects={former.pk}", data)["Location"]
    assert f"Corrects upload {former.pk}" in read(client, address)
    client.post(f"{address}publish/")
    assert "Replaced by a correction" in read(client, page_of(former))
    assert "counted in MiB" in read(client, page_of(former))
    old = former.runs.get()
    struck = source_of(Client(), old.get_absolute_url())
    assert 'class="struck"' in struck
    assert "counted in MiB" in struck


@pytest.mark.parametrize("wanted", ["0", "999", "x", "9" * 30, "-1"])
def test_only_what_is_ones_own_and_published_is_corrected(wanted: str) -> None:
    client = signed_in(publisher(lab_of()))
    assert client.get(f"/upload/?corrects={wanted}").status_code == 404


def test_uploads_of_others_and_unpublished_ones_are_not_corrected() -> None:
    other = published(lab="other")
    own = sent({"runs.json": bundle_of(lab_of(), run(node="n2"))})
    client = signed_in(publisher(lab_of()))
    assert client.get(f"/upload/?corrects={other.pk}").status_code == 404
    assert client.get(f"/upload/?corrects={own.pk}").status_code == 404
