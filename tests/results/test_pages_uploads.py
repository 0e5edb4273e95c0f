"""The page of an upload in each state, who sees it, guests, lists, the run's page."""

from __future__ import annotations

import pytest
from django.test import Client

from results.intake import previews, standing, work
from results.intake.given import Given
from results.intake.uploads import Correction, submit
from results.models import Run, Upload
from results.pages.uploads import machine_words
from tests.results.bundles import measurement, run
from tests.results.pages import read, source_of
from tests.results.sent import (
    EPYC,
    VERA,
    bundle_of,
    kept,
    lab_of,
    lscpu,
    member,
    publisher,
    sent,
    staff,
    stream_log,
    stream_with_threads,
)
from tests.results.uploadpages import page_of, published, queries_of, signed_in

pytestmark = pytest.mark.usefixtures("reference")


# An upload's page in each state


def test_while_it_is_read_the_page_comes_again_by_itself() -> None:
    lab = lab_of()
    upload, _ = submit(actor=member(lab), lab=lab, files=kept({"a.log": b"x"}), given=Given())
    page = source_of(signed_in(member(lab)), page_of(upload))
    assert '<noscript><meta http-equiv="refresh" content="2"></noscript>' in page
    assert 'data-phase="reading"' in page
    assert "Being read" in page


def test_what_was_refused_names_file_line_found_expected_and_shows_the_line() -> None:
    upload = sent({"<i>x</i>.log": b"<script>alert(1)</script>\n"})
    page = source_of(signed_in(publisher(lab_of())), page_of(upload))
    assert "Refused: 1 problem" in page
    assert "&lt;i&gt;x&lt;/i&gt;.log</b>, line 1" in page
    assert "a file of no kind that is known here" in page
    assert "<b>1</b> &lt;script&gt;alert(1)&lt;/script&gt;</pre>" in page
    assert "<script>alert" not in page
    assert "<i>x</i>" not in page
    assert f'action="{page_of(upload)}replace/"' in page


def test_a_failed_reading_offers_to_read_again() -> None:
    lab = lab_of()
    upload, _ = submit(
        actor=member(lab), lab=lab, files=kept({"r.json": bundle_of(lab)}), given=Given()
    )
    work.fail(upload.pk, "Reading these files took longer than 60 s.")
    client = signed_in(member(lab))
    text = read(client, page_of(upload))
    assert "Reading failed" in text
    assert "took longer than 60 s" in text
    client.post(f"{page_of(upload)}again/")
    assert "1 run understood" in read(client, page_of(upload))


def test_open_questions_are_asked_and_answered_in_the_page() -> None:
    upload = sent({"stream.log": stream_log()})
    client = signed_in(publisher(lab_of()))
    page = source_of(client, page_of(upload))
    assert "1 question is open" in page
    assert '<input name="system" value=""' in page
    assert 'name="set.placement" value="local"' in page
    assert "leave it: own memory is taken" in page
    said = {"system": VERA, "set.placement": "local", "set": "node=n7\nsetup.os=Debian 12"}
    assert client.post(f"{page_of(upload)}answer/", said).status_code == 303
    upload.refresh_from_db()
    made = upload.runs.get()
    assert (made.parameters["placement"], made.node, made.setup.fields["os"]) == (
        "local",
        "n7",
        "Debian 12",
    )
    assert "1 run understood" in read(client, page_of(upload))


def test_an_answer_is_taken_back() -> None:
    upload = sent(
        {"stream.log": stream_log()}, system=VERA, settings={"placement": "local", "node": "n7"}
    )
    client = signed_in(publisher(lab_of()))
    page = source_of(client, page_of(upload))
    assert 'name="clear" value="node"' in page
    client.post(f"{page_of(upload)}answer/", {"clear": "node", "set.placement": ""})
    upload.refresh_from_db()
    assert upload.given["settings"] == {}
    assert upload.runs.get().node == ""


def test_an_answer_that_cannot_be_meant_is_told_at_its_question() -> None:
    upload = sent({"stream.log": stream_log()})
    client = signed_in(publisher(lab_of()))
    address = f"{page_of(upload)}answer/"
    answer = client.post(address, {"system": "x" * 81})
    assert answer.status_code == 400
    assert "too long to be the name of a system" in answer.content.decode()
    assert f'value="{"x" * 81}"' in answer.content.decode()
    answer = client.post(address, {"set": "no equals sign"})
    assert answer.status_code == 400
    assert "expected KEY=VALUE" in answer.content.decode()
    answer = client.post(address, {"lab": "nobody", "set.placement": "a\u200bb"})
    assert answer.status_code == 400


def test_contradictions_stand_side_by_side() -> None:
    other = lscpu("AMD EPYC 9755 128-Core Processor")
    files = {"stream.log": stream_with_threads(384), "a.json": lscpu(), "b.json": other}
    page = source_of(signed_in(publisher(lab_of())), page_of(sent(files)))
    assert "Where the files disagree" in page
    assert 'AMD EPYC 9965 192-Core Processor <span class="soft">a.json, line' in page
    assert 'AMD EPYC 9755 128-Core Processor <span class="soft">b.json, line' in page


def test_what_was_stored_before_is_said_to_be_nothing_new() -> None:
    published()
    upload = sent({"other.json": bundle_of(lab_of(), run(measurement(100.0))) + b"\n"})
    text = read(signed_in(publisher(lab_of())), page_of(upload))
    assert "Nothing in it is new" in text


def test_a_published_upload_leads_to_its_runs_and_the_comparison() -> None:
    upload = published()
    page = source_of(signed_in(member(lab_of())), page_of(upload))
    assert "1 run published" in page
    assert f'href="/compare/?system={VERA}&amp;system={EPYC}&amp;' in page
    assert "&amp;benchmark=stream" in page
    assert f'href="{upload.runs.get().get_absolute_url()}"' in page
    assert f'href="/upload/?corrects={upload.pk}"' in page
    assert f"{page_of(upload)}replace/" not in page


def test_what_was_withdrawn_says_why() -> None:
    upload = published()
    standing.withdraw_upload(upload=upload, actor=publisher(lab_of()), reason="wrong <b>host</b>")
    page = source_of(signed_in(member(lab_of())), page_of(upload))
    assert "Withdrawn" in page
    assert "wrong &lt;b&gt;host&lt;/b&gt;" in page
    assert f"{page_of(upload)}withdraw/" not in page


def test_who_did_what_is_shown() -> None:
    upload = published()
    text = read(signed_in(member(lab_of())), page_of(upload))
    assert "pia upload" in text
    assert "pia publish" in text


def test_a_page_of_an_upload_is_kept_by_nobody() -> None:
    answer = signed_in(publisher(lab_of())).get(page_of(sent()))
    assert answer["Cache-Control"] == "private, no-store"
    assert answer["X-Robots-Tag"] == "noindex"


# Who sees it


def test_an_upload_is_seen_by_its_lab_and_the_staff_only(client: Client) -> None:
    upload = sent()
    digest = upload.files.get().artefact.sha256
    known = signed_in(member(lab_of())), signed_in(staff())
    strangers = signed_in(member(lab_of("other"), "otto")), client
    for address in (page_of(upload), f"{page_of(upload)}files/{digest}/"):
        assert [b"".join(one.get(address)) != b"" for one in known] == [True, True]
        assert [one.get(address).status_code for one in strangers] == [404, 404]


def test_an_upload_without_a_lab_is_seen_by_who_sent_it() -> None:
    mia = member(lab_of())
    upload, _ = submit(actor=mia, lab=None, files=kept({"a.log": b"x"}), given=Given())
    assert signed_in(mia).get(page_of(upload)).status_code == 200
    assert signed_in(member(lab_of(), "moe")).get(page_of(upload)).status_code == 404


def test_a_hidden_upload_is_not_told_from_one_that_never_was(client: Client) -> None:
    hidden, absent = client.get(page_of(sent())), client.get("/uploads/987654321/")
    lines = [
        [line for line in answer.content.splitlines() if b"next=" not in line]
        for answer in (hidden, absent)
    ]
    assert lines[0] == lines[1]
    assert (hidden.status_code, absent.status_code) == (404, 404)


def test_a_file_is_handed_out_so_that_no_browser_runs_it() -> None:
    upload = sent({'a"b\r\n.html': b"<script>alert(1)</script>"})
    digest = upload.files.get().artefact.sha256
    answer = signed_in(publisher(lab_of())).get(f"{page_of(upload)}files/{digest}/")
    assert answer.getvalue() == b"<script>alert(1)</script>"
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"].startswith('attachment; filename="a_b')
    assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert answer["Cache-Control"] == "private, no-store"


@pytest.mark.parametrize("digest", ["..", "x" * 64, "0" * 64])
def test_no_other_file_is_handed_out(digest: str) -> None:
    address = f"{page_of(sent())}files/{digest}/"
    assert signed_in(publisher(lab_of())).get(address).status_code == 404


def test_a_file_of_another_upload_is_not_handed_out() -> None:
    owner = lab_of("other")
    upload, other = sent(), sent({"o.log": b"other"}, lab=owner, actor=publisher(owner, "otto"))
    digest = other.files.get().artefact.sha256
    address = f"{page_of(upload)}files/{digest}/"
    assert signed_in(publisher(lab_of())).get(address).status_code == 404


# Guests


def test_a_guest_sees_the_values_and_nothing_else(client: Client) -> None:
    upload = sent()
    address = previews.make_link(upload=upload, actor=publisher(lab_of()), days=7)
    answer = client.get(address)
    page = answer.content.decode()
    assert answer["Referrer-Policy"] == "no-referrer"
    assert answer["Cache-Control"] == "private, no-store"
    assert "Preview until" in page
    assert "What was understood" in page
    assert "runs.json" in page
    digest = upload.files.get().artefact.sha256
    for hidden in ("pia", "Who changed what", "/files/", digest, "<form method", "Replace"):
        assert hidden not in page
    assert client.get(f"{page_of(upload)}files/{digest}/").status_code == 404


@pytest.mark.parametrize("key", ["", "x", "a:b:c", "9" * 500])
def test_a_wrong_key_opens_nothing(client: Client, key: str) -> None:
    upload = sent()
    previews.make_link(upload=upload, actor=publisher(lab_of()), days=1)
    assert client.get(page_of(upload), {"key": key}).status_code == 404


def test_a_key_opens_its_own_upload_until_the_links_are_closed(client: Client) -> None:
    upload, other = sent(), sent({"o.log": b"other"})
    address = previews.make_link(upload=upload, actor=publisher(lab_of()), days=1)
    key = address.partition("=")[2]
    assert client.get(page_of(other), {"key": key}).status_code == 404
    assert client.get(address).status_code == 200
    previews.close_links(upload=upload, actor=publisher(lab_of()))
    assert client.get(address).status_code == 404


# Lists


def test_the_list_shows_ones_labs_uploads_by_state() -> None:
    upload, refused = sent(), sent({"o.log": b"other"})
    sent({"x.log": b"x"}, lab=lab_of("other"), actor=publisher(lab_of("other"), "otto"))
    client = signed_in(member(lab_of()))
    text = read(client, "/uploads/")
    assert f"Upload {upload.pk} 1 run on Vera Acme" in text
    assert f"Upload {refused.pk} o.log Acme" in text
    assert "Other" not in text
    only = read(client, "/uploads/?state=refused")
    assert f"Upload {refused.pk} " in only
    assert f"Upload {upload.pk} " not in only
    assert "No upload is in this state." in read(client, "/uploads/?state=failed")
    assert "Other" in read(signed_in(staff()), "/uploads/")
    assert "Acme 2" not in read(signed_in(staff()), "/uploads/?lab=other")


def test_a_stranger_signs_in_to_see_a_list(client: Client) -> None:
    assert client.get("/uploads/")["Location"] == "/accounts/login/?next=/uploads/"


def test_the_queue_is_the_staffs_and_the_longest_waiting_come_first(client: Client) -> None:
    late = sent({"b.json": bundle_of(lab_of(), run(node="b"))})
    early = sent({"a.json": bundle_of(lab_of(), run(node="a"))})
    for upload in (early, late):
        standing.send(upload=upload, actor=publisher(lab_of()))
    text = read(signed_in(staff()), "/review/")
    assert "2 uploads are in review" in text
    assert text.index(f"Upload {early.pk}") < text.index(f"Upload {late.pk}")
    assert "1 run on Vera Acme – 0 days" in text
    assert client.get("/review/").status_code == 404
    assert signed_in(publisher(lab_of())).get("/review/").status_code == 404


def test_lists_take_the_same_number_of_queries_however_long_they_are() -> None:
    def more(count: int) -> None:
        for _ in range(count):
            number = Upload.objects.count()
            upload = sent({"r.json": bundle_of(lab_of(), run(node=f"n{number}"))})
            standing.send(upload=upload, actor=publisher(lab_of()))

    more(1)
    client, judge = signed_in(publisher(lab_of())), signed_in(staff())
    few = queries_of(client, "/uploads/"), queries_of(judge, "/review/")
    more(6)
    assert (queries_of(client, "/uploads/"), queries_of(judge, "/review/")) == few


def test_the_page_takes_the_same_number_of_queries_however_much_it_holds() -> None:
    small = sent({"s.json": bundle_of(lab_of(), run(node="s"))})
    many = [run(measurement(100.0 + n), node=f"n{n}") for n in range(12)]
    large = sent({"l.json": bundle_of(lab_of(), *many)})
    client = signed_in(publisher(lab_of()))
    assert queries_of(client, page_of(small)) == queries_of(client, page_of(large))


# The run's page


def test_the_runs_page_leads_its_lab_to_the_upload_and_tells_its_history(client: Client) -> None:
    upload = published()
    address = Run.objects.get(uploads=upload).get_absolute_url()
    page = source_of(signed_in(member(lab_of())), address)
    assert f'href="{page_of(upload)}"' in page
    assert f'href="/upload/?corrects={upload.pk}"' in page
    assert f'href="{page_of(upload)}#withdraw"' in page
    assert f'<td class="soft">upload (upload {upload.pk})</td>' in page
    assert page_of(upload) not in source_of(client, address)


def test_a_corrected_run_has_no_dead_link_to_lines_that_are_not_shown(client: Client) -> None:
    former = published()
    run_page = former.runs.get().get_absolute_url()
    assert ">line 1<" in source_of(client, run_page) or "lines" in source_of(client, run_page)
    standing.withdraw_upload(upload=former, actor=publisher(lab_of()), reason="wrong host")
    page = source_of(client, run_page)
    assert "not shown" in page
    assert 'href="#a' not in page


def test_the_machine_that_the_files_describe_is_told_in_words() -> None:
    facts = {"processor": "AMD EPYC 9965", "sockets": 2, "cores_per_socket": 192, "memory_gb": 1536}
    told = {name: {"value": value} for name, value in facts.items()}
    words = machine_words({"machine": {"facts": told}})
    assert words == "2 × AMD EPYC 9965, 192 cores each, 1,536 GB of memory"
    one = {"processor": {"value": "N1"}, "cores_per_socket": {"value": 1}}
    assert machine_words({"machine": {"facts": one}}) == "N1, 1 core"
    assert machine_words({}) == ""


def test_a_withdrawn_upload_has_nothing_left_to_check() -> None:
    former = published()
    other = sent({"other.json": bundle_of(lab_of(), run(measurement(100.0), node="n2"))})
    standing.publish_upload(upload=other, actor=publisher(lab_of()))
    standing.withdraw_upload(upload=former, actor=publisher(lab_of()), reason="wrong host")
    text = read(signed_in(member(lab_of())), page_of(former))
    assert "What was understood" in text
    assert "Check:" not in text


def test_the_frame_leads_to_the_uploads(client: Client) -> None:
    assert 'href="/upload/"' in source_of(client, "/")
    assert 'href="/uploads/"' not in source_of(client, "/")
    mine = source_of(signed_in(member(lab_of())), "/")
    assert 'href="/uploads/"' in mine
    assert 'href="/review/"' not in mine
    assert 'href="/review/"' in source_of(signed_in(staff()), "/")


def test_a_correction_in_review_is_named_on_the_former_page() -> None:
    former = published()
    correction = Correction(former, "counted in MiB")
    files = {
        "r.json": bundle_of(lab_of(), run(measurement(120.0), started_at="2026-10-01T12:00:01Z"))
    }
    upload = sent(files, correction=correction)
    standing.send(upload=upload, actor=publisher(lab_of()))
    text = read(signed_in(member(lab_of())), page_of(former))
    assert f"Upload {upload.pk} corrects it" in text
