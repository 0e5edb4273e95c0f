"""The commands that bring bundles in and out: what they print, and how they end."""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from results.api import documents
from results.bundle.schema import schema_text
from results.management.commands.load_reference import FOLDER
from results.models import AuditEntry, Comparison, List, Loaded, Measurement, Run, Summary, System
from tests.results.bundles import (
    LAB,
    NEW_CPU,
    NEW_SYSTEM,
    SYSTEM,
    as_bytes,
    bundle,
    measurement,
    run,
)
from tests.results.uploading import LSCPU, STREAM_LOG

pytestmark = pytest.mark.django_db

KINDS = (Run, Measurement, Summary, System, List, Comparison, AuditEntry, Loaded)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "b.json"
    path.write_bytes(as_bytes(bundle(run())))
    return path


def command(*words: Any) -> tuple[str, str, int]:
    """What a command printed, what it complained of, and its exit code."""
    out, err, code = StringIO(), StringIO(), 0
    try:
        call_command(*map(str, words), stdout=out, stderr=err, no_color=True)
    except SystemExit as end:
        code = int(end.code or 0)
    return out.getvalue(), err.getvalue(), code


def test_ingest_stores_drafts_and_publishes_when_told(file: Path) -> None:
    assert "1 runs stored as drafts" in command("ingest", file)[0]
    assert Run.objects.latest("pk").state == "draft"
    assert "1 known before, 1 of them drafts" in command("ingest", file, "--publish")[0]
    assert Run.objects.latest("pk").state == "published"


def test_a_withdrawn_run_is_not_published_by_the_same_file(file: Path) -> None:
    command("ingest", file)
    Run.objects.filter(state="draft").update(state="withdrawn", reason="x")
    command("ingest", file, "--publish")
    assert Run.objects.latest("pk").state == "withdrawn"


def test_a_dry_run_stores_nothing(file: Path) -> None:
    before = Run.objects.count()
    assert "1 new runs, 0 known. Nothing was stored" in command("ingest", file, "--dry-run")[0]
    assert Run.objects.count() == before


def test_problems_are_printed_one_a_line(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    path.write_bytes(as_bytes(bundle(run(measurement(-1)), run(system="x"))))
    out, err, code = command("ingest", path)
    assert (out, code) == ("", 1)
    assert [line.startswith(f"{path}:") for line in err.splitlines()] == [True, True]


def test_json_is_one_document_as_the_upload_answers(file: Path) -> None:
    document = json.loads(command("ingest", file, "--json", "--publish")[0])
    assert set(document) == set(documents.NOT_STORED) | set(documents.UNREAD)
    assert (document["id"], document["state"], document["lab"]) == (None, "published", LAB)
    assert (document["systems"], document["questions"], document["problems"]) == ([SYSTEM], [], [])
    (one,) = document["runs"]
    assert (one["system"], one["benchmark"], one["scope"]) == (SYSTEM, "stream", "system")
    assert one["parameters"] == {"placement": "all", "threads": 64, "smt": "off"}
    assert (one["run"], one["known"]) == (Run.objects.latest("pk").pk, False)
    assert one["measurements"] == [
        {
            "metric": "triad.bandwidth",
            "value": 100.0,
            "unit": "GB/s",
            "printed": one["measurements"][0]["printed"],
            "evidence": None,
        }
    ]
    assert [(f["name"], f["kind"]) for f in document["files"]] == [("b.json", "Bundle (JSON)")]
    assert json.loads(command("ingest", file, "--json", "--dry-run")[0])["state"] == "parsed"


def test_json_of_a_refused_file_tells_the_problems(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    path.write_bytes(b"\xff")
    out, err, code = command("ingest", path, "--json")
    document = json.loads(out)
    assert (document["state"], document["runs"], err, code) == ("rejected", [], "", 1)
    assert {"file", "line", "found", "expected", "message"} <= set(document["problems"][0])


@pytest.mark.parametrize(
    "data", [b"nothing known", as_bytes(bundle(run(measurement(-1)), lab=LAB))]
)
def test_json_tells_each_problem_once_and_whose_the_files_are(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "b.json"
    path.write_bytes(data)
    document = json.loads(command("ingest", path, "--lab", LAB, "--json")[0])
    assert [problem["file"] for problem in document["problems"]] == [str(path)]
    assert document["lab"] == LAB


def test_of_several_files_all_are_stored_or_none(file: Path, tmp_path: Path) -> None:
    bad, gone = tmp_path / "bad.json", tmp_path / "gone.json"
    bad.write_bytes(as_bytes(bundle(run(benchmark="x"))))
    before = Run.objects.count()
    _, err, code = command("ingest", file, bad, gone, tmp_path)
    assert (code, len(err.splitlines()), Run.objects.count()) == (1, 3, before)
    assert "No such file" in err


def test_a_table_takes_lab_system_and_settings_from_the_command(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("benchmark,scope,metric,value,unit\nstream,system,triad.bandwidth,7,GB/s\n")
    words = ("--lab", LAB, "--system", SYSTEM, "--set", "smt=on", "--set", "setup.os=Debian 12")
    assert command("ingest", path, *words)[2] == 0
    stored = Run.objects.latest("pk")
    assert (stored.parameters["smt"], stored.setup.fields) == ("on", {"os": "Debian 12"})
    value = stored.measurements.select_related("artefact").get()
    assert value.artefact is not None
    assert (value.artefact.name, value.line_from) == ("t.csv", 2)
    assert "expected KEY=VALUE" in command("ingest", path, *words, "--set", "smt")[1]


def test_files_beside_the_bundle_are_kept(file: Path, settings: Settings, tmp_path: Path) -> None:
    settings.ARTEFACT_ROOT = tmp_path / "kept"
    log = b"Triad: 100\n"
    (tmp_path / "s.log").write_bytes(log)
    digest = sha256(log).hexdigest()
    given = bundle(
        run(measurement(evidence={"artefact": "s.log", "lines": [1, 1]})),
        artefacts=[{"name": "s.log", "sha256": digest, "size": len(log)}],
    )
    file.write_bytes(as_bytes(given))
    assert command("ingest", file)[2] == 0
    assert (tmp_path / "kept" / digest[:2] / digest).read_bytes() == log
    (tmp_path / "s.log").write_bytes(b"other")
    assert "SHA-256" in command("ingest", file)[1]


def test_a_log_and_a_description_of_the_machine_are_understood_together() -> None:
    words = ("ingest", STREAM_LOG, LSCPU, "--lab", LAB, "--system", "new", "--set", "scope=system")
    out, err, code = command(*words)
    assert (code, "1 runs stored as drafts" in out) == (0, True), err
    assert "Taken: all. Say --set placement=all|local" in err
    stored = Run.objects.latest("pk")
    triad = stored.measurements.get(metric__workload="triad")
    assert (triad.value, triad.line_from, triad.artefact) == (
        82.1506,
        30,
        stored.artefacts.get(name="gcc_2t.txt"),
    )
    assert (stored.system.sockets, stored.parameters["threads"]) == (1, 2)


def test_open_questions_are_asked_in_words_and_nothing_is_stored() -> None:
    before = Run.objects.count()
    out, err, code = command("ingest", STREAM_LOG, LSCPU)
    assert (out, code, Run.objects.count()) == ("", 1, before)
    assert f"  --lab {LAB}  StorageReview" in err
    assert "  --system new  A new system: " in err
    document = json.loads(command("ingest", STREAM_LOG, "--json")[0])
    assert [question["field"] for question in document["questions"]] == ["lab", "system"]
    assert (document["state"], document["runs"][0]["run"]) == ("parsed", None)


def test_an_archive_is_taken_apart(tmp_path: Path) -> None:
    path = tmp_path / "all.zip"
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        archive.writestr("logs/stream.log", STREAM_LOG.read_bytes())
    words = ("--lab", LAB, "--system", SYSTEM, "--set", "scope=system", "--json")
    document = json.loads(command("ingest", path, *words)[0])
    assert [f["name"] for f in document["files"]] == ["all.zip", "stream.log"]
    assert document["runs"][0]["file"] == "stream.log"


def test_a_log_that_a_bundle_names_is_not_read_by_itself(tmp_path: Path) -> None:
    data = STREAM_LOG.read_bytes()
    (tmp_path / "s.log").write_bytes(data)
    given = bundle(
        run(measurement(evidence={"artefact": "s.log", "lines": [30, 30]})),
        artefacts=[{"name": "s.log", "sha256": sha256(data).hexdigest(), "size": len(data)}],
    )
    (tmp_path / "b.json").write_bytes(as_bytes(given))
    out = command("ingest", tmp_path / "b.json", tmp_path / "s.log")[0]
    assert "1 runs stored as drafts" in out


def test_bundles_with_logs_of_one_name_and_of_several_labs_are_taken_together(
    tmp_path: Path,
) -> None:
    paths = []
    for lab, data in (("lab-a", b"one\n"), ("lab-b", b"two\n")):
        folder = tmp_path / lab
        folder.mkdir()
        (folder / "s.log").write_bytes(data)
        given = bundle(
            run(measurement(evidence={"artefact": "s.log", "lines": [1, 1]})),
            lab=lab,
            labs=[{"slug": lab, "name": lab}],
            artefacts=[{"name": "s.log", "sha256": sha256(data).hexdigest(), "size": 4}],
        )
        (folder / "b.json").write_bytes(as_bytes(given))
        paths.append(folder / "b.json")
    out, err, code = command("ingest", *paths, "--json")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert (document["lab"], document["run_count"]) == (None, 2)
    labs = Run.objects.order_by("-pk").values_list("lab__slug", flat=True)[:2]
    assert sorted(labs) == ["lab-a", "lab-b"]


def test_a_later_bundle_may_refer_to_what_an_earlier_one_describes(tmp_path: Path) -> None:
    first, second = tmp_path / "1.json", tmp_path / "2.json"
    described = {"systems": [NEW_SYSTEM], "processors": [NEW_CPU]}
    first.write_bytes(as_bytes(bundle(run(system="box"), **described)))
    second.write_bytes(as_bytes(bundle(run(system="box", node="n2"))))
    assert "2 runs stored as drafts" in command("ingest", first, second)[0]


def test_a_setting_without_a_value_is_refused(file: Path) -> None:
    for word in ("smt", "smt=", "=1", "scope=galaxy"):
        out, err, code = command("ingest", file, "--set", word)
        assert (out, code, err.startswith("--set: ")) == ("", 1, True)


def test_a_lab_that_is_not_known_is_a_problem_of_the_file(tmp_path: Path) -> None:
    words = ("--lab", "nobody", "--system", SYSTEM, "--set", "scope=system")
    _, err, code = command("ingest", STREAM_LOG, *words)
    assert (code, "unknown lab 'nobody'" in err) == (1, True)


def test_export_prints_what_ingest_takes(file: Path, tmp_path: Path) -> None:
    command("ingest", file)
    pk = Run.objects.latest("pk").pk
    again = tmp_path / "again.json"
    again.write_text(command("export_bundle", pk)[0])
    assert "0 runs stored as drafts, 1 known before" in command("ingest", again)[0]
    assert command("export_bundle", pk, "--csv")[0].startswith("system,node,benchmark")
    with pytest.raises(CommandError, match="no run"):
        command("export_bundle", 999_999_999)


def test_the_schema_command_prints_the_schema() -> None:
    assert command("bundle_schema")[0] == schema_text()


def counts() -> list[int]:
    return [kind._default_manager.count() for kind in KINDS]


def test_loading_the_reference_data_again_changes_nothing() -> None:
    before = counts()
    assert "4 bundles unchanged" in command("load_reference")[0]
    assert counts() == before


def test_loading_it_anew_from_the_start_changes_nothing_either() -> None:
    before = counts()
    Loaded.objects.filter(name__startswith="reference/").delete()
    out = command("load_reference")[0]
    assert "0 runs added" in out
    assert "0 other rows made or changed" in out
    assert counts() == before


def test_a_changed_reference_text_is_taken_over_and_an_edit_is_kept(tmp_path: Path) -> None:
    name = "dell-hpc-lab.json"
    data = json.loads((FOLDER / name).read_text())
    data["systems"][0]["name"] = "Renamed in the file"
    (tmp_path / name).write_text(json.dumps(data))
    slug = data["systems"][0]["slug"]
    command("load_reference", "--folder", tmp_path)
    assert System.objects.get(slug=slug).name == "Renamed in the file"
    System.objects.filter(slug=slug).update(name="Edited by hand")
    command("load_reference", "--folder", tmp_path)
    assert System.objects.get(slug=slug).name == "Edited by hand"


def test_a_broken_reference_file_is_told_and_nothing_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(as_bytes(bundle(run(benchmark="x"))))
    with pytest.raises(CommandError, match="unknown benchmark 'x'"):
        command("load_reference", "--folder", tmp_path)
    with pytest.raises(CommandError, match="holds no bundle"):
        command("load_reference", "--folder", tmp_path / "nowhere")


def test_a_refusal_on_the_command_line_has_no_traceback(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("{")
    words = [sys.executable, "-W", "error", "manage.py", "ingest", str(path)]
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"{path}:1: found")
    assert "Traceback" not in done.stderr
