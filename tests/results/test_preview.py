"""The preview of an upload: its values with their lines, beside what is published."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.template.loader import render_to_string

from results import artefacts
from results.intake.given import Given
from results.intake.standing import publish_upload
from results.intake.uploads import Kept, submit
from results.intake.work import process
from results.models import Lab, Membership, Upload
from results.pages.preview import Preview, Value, preview_of
from tests.results.made import LAB, run, store, system

pytestmark = pytest.mark.django_db

VERA = "nvidia-mgx-vera-c2"
STREAM = b"""-------------------------------------------------------------
STREAM version $Revision: 5.10 $
-------------------------------------------------------------
This system uses 8 bytes per array element.
-------------------------------------------------------------
Array size = 2147483648 (elements), Offset = 0 (elements)
Each kernel will be executed 10 times.
-------------------------------------------------------------
Number of Threads requested = 176
Number of Threads counted = 176
-------------------------------------------------------------
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:         2001000.0     0.017200     0.017171     0.017400
Scale:        1990000.0     0.017300     0.017266     0.017500
Add:          2060000.0     0.025100     0.025020     0.025400
Triad:        2137263.0     0.024200     0.024115     0.024500
-------------------------------------------------------------
Solution Validates: avg error less than 1.000000e-13 on all three arrays
-------------------------------------------------------------
"""


@pytest.fixture
def mia() -> User:
    """A publisher of the made lab, which has measured a system."""
    store(system("mine"), run("mine", "copy.bandwidth", 90))
    user = User.objects.create_user("mia")
    lab = Lab.objects.get(slug=LAB)
    Membership.objects.create(lab=lab, user=user, role=Membership.Role.PUBLISHER)
    return user


def upload(user: User, name: str, data: bytes, **said: Any) -> Upload:
    """Files sent and read; what was understood is in the report."""
    kept = Kept(name, artefacts.save(data), len(data))
    lab = Lab.objects.get(slug=LAB)
    given = Given(said.pop("system", ""), settings=said)
    made, _new = submit(actor=user, lab=lab, files=[kept], given=given)
    process(made.pk)
    made.refresh_from_db()
    assert made.state == "parsed", made.report["problems"]
    return made


def bundle(*values: float, on: str = "mine", day: int = 1, **fields: Any) -> bytes:
    """A bundle with a run for each value, a minute apart."""
    runs = [
        run(
            on,
            "copy.bandwidth",
            value,
            started_at=f"2026-10-{day:02}T{at // 60:02}:{at % 60:02}:00Z",
            **fields,
        )
        for at, value in enumerate(values)
    ]
    return json.dumps({"bundle": 1, "lab": LAB, "runs": runs}).encode()


def values_of(found: Preview) -> list[Value]:
    return [v for s in found.systems for b in s.benchmarks for r in b.runs for v in r.values]


def text_of(found: Preview) -> str:
    """The partial's text, as a reader reads it."""
    body = render_to_string("results/_preview.html", {"preview": found})
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def test_a_stream_log_stands_beside_what_is_published(mia: User, reference: None) -> None:
    """2,137.263 GB/s is 3.1 % above the review's 2,073."""
    found = preview_of(upload(mia, "stream.log", STREAM, system=VERA), mia)
    assert (found.total, found.shown, found.doubts, found.known) == (4, 4, 0, 0)
    assert found.summary == "4 values of 1 run"
    (one,) = found.systems
    assert (one.name, one.url) == ("Vera · NVIDIA MGX Vera C2", f"/systems/{VERA}/")
    assert one.facts == "2 × 88 cores, 1,536 GB LPDDR5X-9600"
    (benchmark,) = one.benchmarks
    assert benchmark.name == "STREAM 5.10"
    assert "Compiler" in benchmark.missing
    assert benchmark.runs[0].words == "system · own memory · 176 threads · 16 GiB array"
    assert "assumed, as no file says it: own memory" in text_of(found)
    triad = next(v for v in values_of(found) if v.metric == "triad.bandwidth")
    assert (triad.text, triad.unit, triad.arrow) == ("2,137", "GB/s", "↑")
    assert triad.own.text == "3.1 % above the one published run (better)"
    assert triad.own.detail.startswith("2,073 GB/s; StorageReview")
    assert triad.others[0].text.startswith("2.3 times the best, Xeon 6978P")
    copy = next(v for v in values_of(found) if v.metric == "copy.bandwidth")
    assert copy.own.text == "first result of this system in this row"
    assert copy.others[0].text.startswith("3.5 times the best, EPYC 9175F")
    assert not copy.flags, "far above others, but within what Vera's memory can deliver"


def test_a_value_shows_the_lines_it_was_read_from(mia: User) -> None:
    found = preview_of(upload(mia, "stream.log", STREAM, system="mine"), mia)
    triad = next(v for v in values_of(found) if v.metric == "triad.bandwidth")
    assert triad.printed == "2137263.0 MB/s"
    assert triad.evidence is not None
    assert (triad.evidence.file, triad.evidence.where) == ("stream.log", "line 16")
    (line,) = triad.evidence.lines
    assert (line.number, line.cut) == (16, False)
    assert line.text.startswith("Triad:        2137263.0")
    page = text_of(found)
    assert "stream.log · as printed: 2137263.0 MB/s" in page


def test_more_lines_than_three_are_counted_and_long_ones_cut(mia: User) -> None:
    log = b"".join(b"%d " % at + b"x" * 300 + b"\n" for at in range(1, 9))
    sha = artefacts.digest(log)
    measured = run("mine", "copy.bandwidth", 95)
    measured["measurements"][0]["evidence"] = {"artefact": "a.log", "lines": [2, 7]}
    file = {"name": "a.log", "sha256": sha, "size": len(log)}
    raw = json.dumps({"bundle": 1, "lab": LAB, "runs": [measured], "artefacts": [file]}).encode()
    kept = [Kept(n, artefacts.save(d), len(d)) for n, d in (("b.json", raw), ("a.log", log))]
    made, _new = submit(actor=mia, lab=Lab.objects.get(slug=LAB), files=kept, given=Given())
    process(made.pk)
    made.refresh_from_db()
    (value,) = values_of(preview_of(made, mia))
    assert value.evidence is not None
    assert (value.evidence.where, value.evidence.more) == ("lines 2–7", 3)
    assert [line.number for line in value.evidence.lines] == [2, 3, 4]
    assert all(line.cut and len(line.text) == 200 for line in value.evidence.lines)


def test_lines_that_two_values_share_are_shown_once(mia: User) -> None:
    found = preview_of(upload(mia, "b.json", bundle(91.0, 92.0)), mia)
    assert [value.repeated for value in values_of(found)] == [False, True]
    assert text_of(found).count('{"bundle": 1, "lab"') == 1
    assert "Read from the same place, line 1" in text_of(found)


def test_what_a_file_says_is_no_markup(mia: User) -> None:
    log = b"<script>alert(1)</script>\n"
    measured = run("mine", "copy.bandwidth", 95)
    measured["measurements"][0] |= {
        "evidence": {"artefact": "<b>.log", "lines": [1, 1]},
        "printed": "<i>95</i>",
    }
    file = {"name": "<b>.log", "sha256": artefacts.digest(log), "size": len(log)}
    raw = json.dumps({"bundle": 1, "lab": LAB, "runs": [measured], "artefacts": [file]}).encode()
    kept = [Kept(n, artefacts.save(d), len(d)) for n, d in (("b.json", raw), ("<b>.log", log))]
    made, _new = submit(actor=mia, lab=Lab.objects.get(slug=LAB), files=kept, given=Given())
    process(made.pk)
    made.refresh_from_db()
    body = render_to_string("results/_preview.html", {"preview": preview_of(made, mia)})
    assert "&lt;script&gt;alert(1)" in body
    assert not re.search(r"<script|<b>\.log|<i>95", body)


def test_a_doubtful_value_is_marked_in_words(mia: User) -> None:
    """720 GB/s are 8 times the 90 of the same system."""
    found = preview_of(upload(mia, "b.json", bundle(720.0)), mia)
    assert found.doubts == 1
    assert found.summary == "1 value of 1 run; 1 of them to check"
    page = text_of(found)
    assert "Check: 8.0 times what is published of this system: bits taken for bytes?" in page


def test_a_run_that_is_stored_is_named_as_a_duplicate(mia: User) -> None:
    data = json.dumps({"bundle": 1, "lab": LAB, "runs": [run("mine", "copy.bandwidth", 90)]})
    (pk,) = Lab.objects.get(slug=LAB).runs.values_list("pk", flat=True)
    made = upload(mia, "b.json", data.encode())
    found = preview_of(made, mia)
    assert found.known == 1
    (part,) = found.systems[0].benchmarks[0].runs
    assert part.stored is not None
    assert part.stored.text.startswith(f"This very run is stored as run {pk}, published ")
    assert part.stored.text.endswith(": it adds nothing.")
    assert part.stored.url == f"/runs/{pk}/"
    assert values_of(found)[0].own.text == "this run itself"
    assert "1 run is stored already." in text_of(found)


def test_a_known_draft_is_not_linked_for_a_stranger(mia: User) -> None:
    store(run("mine", "copy.bandwidth", 91, node="x"), state="draft")
    runs = [run("mine", "copy.bandwidth", 91, node="x")]
    made = upload(mia, "b.json", json.dumps({"bundle": 1, "lab": LAB, "runs": runs}).encode())
    (part,) = preview_of(made, AnonymousUser()).systems[0].benchmarks[0].runs
    assert part.stored is not None
    assert (part.stored.text, part.stored.url) == (
        "This very run is stored already: it adds nothing.",
        "",
    )
    (part,) = preview_of(made, mia).systems[0].benchmarks[0].runs
    assert part.stored is not None
    assert "(draft)" in part.stored.text


def test_runs_are_grouped_by_system_and_benchmark(mia: User) -> None:
    store(system("second"), run("second", "copy.bandwidth", 40))
    later: dict[str, Any] = {"started_at": "2026-10-03T00:00:00Z"}
    pts: dict[str, Any] = {"benchmark": "stream_pts", "parameters": {"smt": "off"}}
    runs = [
        run("mine", "copy.bandwidth", 95, **later),
        run("second", "copy.bandwidth", 50, **later),
        run("mine", "copy.bandwidth", 85, **pts),
        run("mine", "copy.bandwidth", 96, parameters={"placement": "interleave"}),
    ]
    made = upload(mia, "b.json", json.dumps({"bundle": 1, "lab": LAB, "runs": runs}).encode())
    found = preview_of(made, mia)
    groups = [[(b.slug, len(b.runs)) for b in s.benchmarks] for s in found.systems]
    assert groups == [[("stream", 2), ("stream_pts", 1)], [("stream", 1)]]
    assert [r.words for r in found.systems[0].benchmarks[0].runs] == [
        "system · own memory",
        "system · interleaved",
    ]


def test_the_setup_that_all_runs_state_is_said_once_and_what_is_missing_named(mia: User) -> None:
    data = bundle(95.0, 96.0, setup={"os": "Debian 12", "compiler": "GCC 12.2.0"})
    (part,) = preview_of(upload(mia, "b.json", data), mia).systems[0].benchmarks
    assert part.stated == (("Operating system", "Debian 12"), ("Compiler", "GCC 12.2.0"))
    assert part.missing.startswith("Kernel, glibc")
    assert len(part.runs) == 2


def test_a_system_that_is_still_asked_for_is_no_hindrance(mia: User) -> None:
    made = upload(mia, "stream.log", STREAM)
    assert made.report["questions"]
    found = preview_of(made, mia)
    assert [s.name for s in found.systems] == ["System not named yet"]
    triad = next(v for v in values_of(found) if v.metric == "triad.bandwidth")
    assert triad.own.text == "open: which system it is"
    assert triad.others[0].text.startswith("1.03 times the best, Vera")


def test_two_hundred_values_are_shown_and_the_rest_counted_and_checked(mia: User) -> None:
    made = upload(mia, "b.json", bundle(*[90 + at / 100 for at in range(200)], 95.0, 720.0))
    found = preview_of(made, mia)
    assert (found.total, found.shown, len(values_of(found))) == (202, 200, 200)
    assert found.hidden == "2 further values are not shown. 1 of them is to be checked."
    assert found.hidden in text_of(found)


def test_the_queries_do_not_grow_with_the_values(
    mia: User, django_assert_max_num_queries: Any
) -> None:
    few = upload(mia, "few.json", bundle(95.0))
    many = upload(mia, "many.json", bundle(*[50 + at / 10 for at in range(100)], day=2))
    for made in (few, many):
        fresh = Upload.objects.select_related("lab").get(pk=made.pk)
        with django_assert_max_num_queries(11):
            preview_of(fresh, mia)


def test_each_file_is_read_once(mia: User, monkeypatch: pytest.MonkeyPatch) -> None:
    made = upload(mia, "stream.log", STREAM, system="mine")
    opened = []
    really = Path.open

    def counted(path: Path, *args: Any, **options: Any) -> Any:
        opened.append(path.name)
        return really(path, *args, **options)

    monkeypatch.setattr(Path, "open", counted)
    assert len(values_of(preview_of(made, mia))) == 4
    assert opened == [artefacts.digest(STREAM)]


def test_a_published_upload_is_not_compared_with_itself(mia: User) -> None:
    made = upload(mia, "b.json", bundle(95.0, parameters={"placement": "remote"}))
    publish_upload(upload=made, actor=mia)
    made.refresh_from_db()
    (value,) = values_of(preview_of(made, mia))
    assert value.own.text == "first result of this system in this row"
    assert not value.flags


def test_an_upload_that_was_refused_has_an_empty_preview(mia: User) -> None:
    made = Upload.objects.create(identity="x", report={"state": "failed", "problems": []})
    found = preview_of(made, mia)
    assert (found.systems, found.total) == ([], 0)
