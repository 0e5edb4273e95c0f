"""A run's page: what was found, the evidence, who may see it, and its files."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from results.bundle import read_bundle
from results.ingest import ingest_bundle
from results.models import Run, System
from results.services import edit_not_ranked, supersede, withdraw
from tests.results.made import run, store, system
from tests.results.pages import LOG, member, read, run_with_log, source_of, staff

pytestmark = pytest.mark.django_db


def made(value: Any = 82.1506, state: str = "published", **fields: Any) -> Run:
    """A run of STREAM Triad on system 'a'."""
    known = {"metric": "triad.bandwidth", **fields}
    return Run.objects.get(
        pk=store(system("a"), run("a", known.pop("metric"), value, **known), state=state)[0]
    )


def page_of(wanted: Run) -> str:
    return wanted.get_absolute_url()


def test_the_title_says_what_was_found(client: Client) -> None:
    assert "STREAM Triad reaches 82.2 GB/s on CPU a" in read(client, page_of(made()))
    cold = made(5.7, metric="cold.time", benchmark="clickbench", unit="s", parameters={})
    assert "ClickBench cold takes 5.7 s on CPU a" in read(client, page_of(cold))
    ranged = made((2.93, 3.04), metric="hot.time", benchmark="clickbench", unit="s", version="2")
    assert "ClickBench hot is reported as 2.93–3.04 s on CPU a" in read(client, page_of(ranged))


def test_the_evidence_lines_are_marked_and_escaped(client: Client) -> None:
    logged = run_with_log()
    page = source_of(client, page_of(logged))
    file = logged.artefacts.get()
    assert f'<a href="#a{file.pk}-L2">line 2</a>' in page
    assert f'id="a{file.pk}-L2" value="2" data-n="2" class="hit"' in page
    assert "triad.bandwidth = 82.1506 GB/s" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page
    assert file.sha256 in page


def test_parameters_setup_and_what_was_assumed_are_shown(client: Client) -> None:
    text = read(client, page_of(run_with_log()))
    assert "Threads 2" in text
    assert "Placement own memory * not stated, assumed" in text
    assert "Operating system Debian 12" in text
    assert "As printed: 82150.6 MB/s." in text


def test_a_published_source_is_named_with_date_and_language(
    client: Client, reference: None
) -> None:
    vera = Run.objects.filter(system__slug="nvidia-mgx-vera-c2").earliest("id")
    text = read(client, page_of(vera))
    assert "StorageReview, November 2026." in text
    assert "Language: Japanese and Korean." in text
    assert "As published by its source" in text


def test_samples_are_counted_and_spread(client: Client) -> None:
    measurement = {
        "metric": "triad.bandwidth",
        "unit": "GB/s",
        "value": 20,
        "samples": [10, 20, 40],
    }
    wanted = {**run("a", "triad.bandwidth", 20), "measurements": [measurement]}
    found = Run.objects.get(pk=store(system("a"), wanted)[0])
    text = read(client, page_of(found))
    assert "n = 3" in text
    assert "10–40" in text


def test_a_run_that_is_not_ranked_says_why(client: Client) -> None:
    wanted = made()
    edit_not_ranked(runs=[wanted.pk], because="the machine is a shared one", actor=None)
    assert "Not ranked: the machine is a shared one." in read(client, page_of(wanted))


@pytest.mark.parametrize("state", ["draft", "pending"])
def test_what_is_not_published_is_not_found_by_strangers(client: Client, state: str) -> None:
    wanted = made(state=state)
    assert client.get(page_of(wanted)).status_code == 404
    assert client.get(f"{page_of(wanted)}bundle.json").status_code == 404
    store(system("b"), run("b", "triad.bandwidth", 1), lab="other")
    assert member("other", "otto").get(page_of(wanted)).status_code == 404
    assert "Not public:" in read(member(), page_of(wanted))
    assert "Not public:" in read(staff(), page_of(wanted))


def test_a_hidden_run_is_not_told_from_one_that_never_was(client: Client) -> None:
    hidden = client.get(page_of(made(state="draft"))).content
    absent = client.get("/runs/987654321/").content
    assert hidden.replace(b"/runs/", b"") != b""
    assert [line for line in hidden.splitlines() if b"next=" not in line] == [
        line for line in absent.splitlines() if b"next=" not in line
    ]


def test_a_withdrawn_run_keeps_its_address_struck_through_with_the_reason(
    client: Client,
) -> None:
    wanted = run_with_log()
    withdraw(runs=[wanted.pk], actor=None, reason="the clock was wrong")
    page = source_of(client, page_of(wanted))
    assert 'class="struck"' in page
    assert "the clock was wrong" in page
    assert "Files of a run that is not published are not shown." in page
    assert "data-n=" not in page
    assert "data-n=" in source_of(member(), page_of(wanted))


def test_a_draft_that_was_withdrawn_shows_nothing(client: Client) -> None:
    wanted = made(state="draft")
    withdraw(runs=[wanted.pk], actor=None, reason="wrong machine")
    assert client.get(page_of(wanted)).status_code == 404


def test_a_corrected_run_leads_to_its_correction_and_back(client: Client) -> None:
    old = made(50.0)
    new = made(60.0, state="draft", version="5.10")
    supersede(old=old.pk, new=new.pk, actor=None, reason="counted in MiB")
    former, current = source_of(client, page_of(old)), source_of(client, page_of(new))
    assert "Replaced by a correction." in former
    assert "counted in MiB" in former
    assert f'href="{page_of(new)}"' in former
    assert f"This run corrects run {old.pk}." in current
    assert f'href="{page_of(old)}"' in current


def test_a_correction_that_was_withdrawn_too_is_still_named(client: Client) -> None:
    old = made(50.0)
    new = made(60.0, state="draft", version="5.10")
    supersede(old=old.pk, new=new.pk, actor=None, reason="counted in MiB")
    withdraw(runs=[new.pk], actor=None, reason="neither was right")
    assert f'href="{page_of(new)}"' in source_of(client, page_of(old))


def test_the_audit_trail_is_for_the_lab_and_the_staff(client: Client) -> None:
    wanted = made()
    edit_not_ranked(runs=[wanted.pk], because="shared", actor=None, reason="seen in the log")
    assert "Who changed what" not in read(client, page_of(wanted))
    assert "seen in the log" in read(member(), page_of(wanted))


def file_address(wanted: Run) -> str:
    return f"{page_of(wanted)}artefacts/{wanted.artefacts.get().sha256}/"


def test_a_file_is_handed_out_so_that_no_browser_runs_it(client: Client) -> None:
    wanted = run_with_log()
    wanted.artefacts.update(name='../a"evil\r\n.html')
    answer = client.get(file_address(wanted))
    assert answer.getvalue() == LOG
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"] == 'attachment; filename="a_evil__.html"'
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"


@pytest.mark.parametrize("digest", ["..", "%2e%2e", "x" * 64, "0" * 64, "a%00b"])
def test_no_other_file_is_handed_out(client: Client, digest: str) -> None:
    wanted = run_with_log()
    assert client.get(f"{page_of(wanted)}artefacts/{digest}/").status_code == 404


def test_files_of_another_run_or_of_a_hidden_one_are_not_handed_out(client: Client) -> None:
    logged, other = run_with_log(), made()
    digest = logged.artefacts.get().sha256
    assert client.get(f"{page_of(other)}artefacts/{digest}/").status_code == 404
    withdraw(runs=[logged.pk], actor=None, reason="private")
    assert client.get(file_address(logged)).status_code == 404
    assert member().get(file_address(logged)).getvalue() == LOG


def test_a_run_exported_as_a_bundle_can_be_imported_again(client: Client) -> None:
    wanted = made()
    answer = client.get(f"{page_of(wanted)}bundle.json")
    assert answer["Content-Disposition"].startswith("attachment")
    assert json.loads(answer.content)["runs"][0]["measurements"][0]["value"] == 82.1506
    again = ingest_bundle(read_bundle(answer.content, name="again.json"))
    assert (again.created, again.known) == ([], [wanted.pk])


@pytest.mark.parametrize("address", ["/runs/0/", "/runs/99999999999999999999/"])
def test_numbers_that_no_run_has_are_not_found(client: Client, address: str) -> None:
    assert client.get(address).status_code == 404


def test_a_long_note_and_odd_names_are_shown_as_text(client: Client) -> None:
    wanted = made(note="<b>bold</b> " + "x" * 3000)
    assert "&lt;b&gt;bold&lt;/b&gt;" in source_of(client, page_of(wanted))


def test_a_run_that_reports_only_a_range_is_not_called_ranked(client: Client) -> None:
    assert "Ranked yes" in read(client, page_of(made()))
    ranged = made((2.93, 3.04), metric="hot.time", benchmark="clickbench", unit="s", version="2")
    assert "Ranked no: a reported range" in read(client, page_of(ranged))


def test_a_run_of_a_group_is_not_called_ranked(client: Client) -> None:
    one = made()
    store(system("b"))
    one.system.members.add(System.objects.get(slug="b"))
    assert "Ranked no: a group of systems" in read(client, page_of(one))


def test_a_range_stays_in_one_line_of_the_title(client: Client) -> None:
    ranged = made((2.93, 3.04), metric="hot.time", benchmark="clickbench", unit="s", version="2")
    assert '<span class="nw">2.93–3.04</span> s on CPU a</h1>' in source_of(client, page_of(ranged))
