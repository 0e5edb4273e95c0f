"""What is understood of files: systems from facts, scopes from threads, questions, problems."""

from __future__ import annotations

import io
import json
import zipfile
from hashlib import sha256
from typing import Any

import pytest

from results.formats.base import Draft, Fact
from results.intake.machine import agrees, merge, plain_name, same_memory
from results.intake.scopes import scope_of
from results.models import Lab, Processor, Run, System
from tests.results.bundles import FILE, LOG, measurement, run
from tests.results.sent import (
    EPYC,
    VERA,
    bundle_of,
    lab_of,
    lscpu,
    meminfo,
    problems_of,
    publisher,
    questions_of,
    sent,
    staff,
    stream_log,
    stream_with_threads,
)

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("AMD EPYC 9965 192-Core Processor", "epyc 9965"),
        ("EPYC 9965", "epyc 9965"),
        ("Intel(R) Xeon(R) 6978P", "xeon 6978p"),
        ("Intel(R) Xeon(R) Gold 6138 CPU @ 2.00GHz", "xeon gold 6138"),
        ("AMD EPYC 7451 24-Core Processor", "epyc 7451"),
        ("AMD EPYC (2 vCPUs)", "epyc"),
    ],
)
def test_processors_are_known_by_their_plain_names(name: str, plain: str) -> None:
    assert plain_name(name) == plain


def test_memory_that_the_system_sees_is_that_of_its_modules() -> None:
    assert same_memory(1536, 1511.6) is True
    assert same_memory(1536, 768) is False
    assert same_memory(None, 768) is None
    assert agrees("sockets", 2, 2)
    assert not agrees("sockets", 2, 1)


@pytest.mark.parametrize(
    ("threads", "cores", "logical", "sockets", "scope"),
    [
        (1, 384, 384, 2, "thread"),
        (384, 384, 384, 2, "system"),
        (768, 384, 768, 2, "system"),
        (1000, 384, 768, 2, "system"),
        (192, 384, 384, 2, None),
        (64, 384, 384, 2, "cores"),
        (8, 16, 32, 1, "cores"),
        (2, None, None, None, None),
        (None, 384, 384, 2, None),
        (1, 1, 1, 1, "system"),
    ],
)
def test_threads_tell_what_was_loaded(
    threads: int | None, cores: int | None, logical: int | None, sockets: int | None, scope: str
) -> None:
    assert scope_of(threads, cores=cores, logical=logical, sockets=sockets) == scope


def test_a_log_of_a_named_system_is_understood_with_its_lines() -> None:
    upload = sent({"stream.log": stream_with_threads(384)}, system=EPYC)
    assert upload.state == "parsed"
    assert questions_of(upload) == []
    [found] = upload.report["runs"]
    assert (found["system"], found["scope"]) == (EPYC, "system")
    assert found["parameters"]["threads"] == 384
    triad = next(m for m in found["measurements"] if m["metric"] == "triad.bandwidth")
    assert triad["value"] == 82.1506
    assert triad["unit"] == "GB/s"
    assert triad["printed"] == "82150.6 MB/s"
    assert triad["evidence"] == {"artefact": "stream.log", "lines": [30, 30]}


def test_a_draft_is_stored_and_public_nowhere() -> None:
    upload = sent({"stream.log": stream_log("gcc_1t.txt")}, system=EPYC)
    [stored] = upload.runs.all()
    assert (stored.state, stored.lab.slug, stored.scope) == ("draft", "acme", "thread")
    assert not stored.measurements.exclude(summary=None).exists()


def test_without_a_word_about_the_system_it_is_asked() -> None:
    upload = sent({"stream.log": stream_log()})
    assert upload.state == "parsed"
    assert questions_of(upload) == ["system"]
    assert upload.report["runs"][0]["system"] == ""
    assert not upload.runs.exists()


def test_facts_name_the_stored_system_by_processor_sockets_and_memory() -> None:
    memory = System.objects.get(slug=EPYC).memory_gb
    assert memory
    files = {
        "lscpu.json": lscpu(),
        "meminfo": meminfo(memory * 0.985),
        "stream.log": stream_with_threads(384),
    }
    upload = sent(files)
    assert upload.report["machine"]["matched"] == EPYC
    assert upload.report["systems"] == [EPYC]
    assert upload.report["runs"][0]["scope"] == "system"


def test_without_memory_a_system_is_only_likely_and_asked() -> None:
    upload = sent({"lscpu.json": lscpu(), "stream.log": stream_with_threads(384)})
    assert questions_of(upload) == ["system"]
    values = [option["value"] for option in upload.report["questions"][0]["options"]]
    assert EPYC in values
    assert values[-1] == "new"


def test_another_size_of_memory_is_another_system() -> None:
    files = {"lscpu.json": lscpu(), "meminfo": meminfo(96), "stream.log": stream_log()}
    upload = sent(files)
    assert upload.report["machine"]["matched"] is None


def test_a_machine_that_is_not_known_is_proposed_as_new() -> None:
    files = {
        "lscpu.json": lscpu("AMD EPYC 7451 24-Core Processor", changes={"Core(s) per socket": 24}),
        "meminfo": meminfo(251.5),
        "stream.log": stream_with_threads(48),
    }
    upload = sent(files, system="new")
    assert upload.report["machine"]["proposed"]["name"] == "2 × AMD EPYC 7451 24-Core Processor"
    [stored] = upload.runs.all()
    assert stored.system.sockets == 2
    assert stored.system.processor is not None
    assert stored.system.processor.cores == 24
    assert stored.system.memory_gb == 251.5
    assert not stored.system.is_public
    assert not stored.system.processor.is_public


def test_a_new_system_may_be_given_its_name() -> None:
    files = {
        "lscpu.json": lscpu("AMD EPYC 7451 24-Core Processor", changes={"Core(s) per socket": 24}),
        "stream.log": stream_with_threads(48),
    }
    upload = sent(files, system="naples-box")
    assert upload.report["systems"] == ["naples-box"]
    assert System.objects.get(slug="naples-box").processor


def test_an_unknown_system_without_facts_is_a_mistake_with_the_nearest_named() -> None:
    upload = sent({"stream.log": stream_log()}, system="dell-r7725-epyc-9956")
    assert upload.state == "rejected"
    assert EPYC in problems_of(upload)[0]


def test_facts_of_another_processor_than_the_named_system_are_shown_and_asked() -> None:
    upload = sent({"lscpu.json": lscpu(), "stream.log": stream_log()}, system=VERA)
    assert questions_of(upload) == ["system"]
    assert "lscpu.json" in upload.report["questions"][0]["text"]
    fields = {c["field"]: c["told"] for c in upload.report["machine"]["contradictions"]}
    assert fields["processor"][0] == {
        "file": "lscpu.json",
        "line": 17,
        "value": "AMD EPYC 9965 192-Core Processor",
    }
    assert not upload.runs.exists()
    vera = System.objects.get(slug=VERA)
    assert vera.processor is not None
    assert "Vera" in vera.processor.name


def test_files_that_contradict_each_other_are_both_told_and_neither_believed() -> None:
    files = {"a.json": lscpu(), "b.json": lscpu(changes={"Socket(s)": 1}), "s.log": stream_log()}
    upload = sent(files)
    told = {c["field"]: c["told"] for c in upload.report["machine"]["contradictions"]}
    assert [one["value"] for one in told["sockets"]] == [2, 1]
    assert "sockets" not in upload.report["machine"]["facts"]
    assert upload.report["machine"]["matched"] is None


def test_fewer_cores_than_the_processor_has_may_be_switched_off() -> None:
    files = {
        "lscpu.json": lscpu(changes={"Core(s) per socket": 96, "CPU(s)": 192}),
        "stream.log": stream_with_threads(192),
    }
    upload = sent(files, system=EPYC)
    assert questions_of(upload) == []
    told = {c["field"]: c["told"] for c in upload.report["machine"]["contradictions"]}
    assert [one["value"] for one in told["cores_per_socket"]] == [96, 192]


def test_as_many_threads_as_one_socket_has_cores_is_asked() -> None:
    upload = sent({"stream.log": stream_with_threads(192)}, system=EPYC)
    assert questions_of(upload) == ["scope"]
    answered = sent(
        {"stream.log": stream_with_threads(192)},
        system=EPYC,
        settings={"scope": "socket", "placement": "local"},
    )
    assert answered.pk == upload.pk
    [stored] = answered.runs.all()
    assert (stored.scope, stored.parameters["placement"]) == ("socket", "local")


def test_what_a_tool_cannot_know_is_asked_and_taken_meanwhile() -> None:
    upload = sent({"stream.log": stream_with_threads(384)}, system=EPYC)
    [question] = upload.report["optional"]
    assert (question["field"], question["taken"]) == ("placement", "all")
    assert "local" in [option["value"] for option in question["options"]]
    assert upload.report["runs"][0]["assumed"] == ["placement"]


def test_a_setting_that_no_benchmark_of_the_files_has_is_named() -> None:
    upload = sent(
        {"stream.log": stream_log("gcc_1t.txt")}, system=EPYC, settings={"placment": "local"}
    )
    assert upload.state == "rejected"
    assert "'placement'" in problems_of(upload)[0]


def test_a_setting_against_what_the_file_says_is_a_problem() -> None:
    upload = sent({"s.log": stream_log("gcc_1t.txt")}, system=EPYC, settings={"threads": "4"})
    assert upload.state == "rejected"
    assert problems_of(upload) == [
        "threads: the file says 1, but 4 was given beside it",
    ]


def test_another_benchmark_than_was_said_is_a_problem() -> None:
    upload = sent({"s.log": stream_log("gcc_1t.txt")}, system=EPYC, benchmark="gromacs")
    assert upload.state == "rejected"
    [problem] = upload.report["problems"]
    assert (problem["file"], problem["found"], problem["expected"]) == (
        "s.log",
        "stream",
        "gromacs",
    )


def test_a_setting_reaches_the_run_and_its_setup() -> None:
    upload = sent(
        {"s.log": stream_log("gcc_1t.txt")},
        system=EPYC,
        settings={"setup.compiler": "GCC 12.2.0", "node": "n7", "smt": "off"},
    )
    [stored] = upload.runs.select_related("setup")
    assert stored.setup.fields == {"compiler": "GCC 12.2.0"}
    assert (stored.node, stored.parameters["smt"]) == ("n7", "off")


def test_a_lab_with_one_bundle_keeps_its_evidence_files() -> None:
    lab = lab_of()
    evidence = {"artefact": "stream.log", "lines": [2, 2]}
    text = bundle_of(lab, run(measurement(evidence=evidence)), artefacts=[FILE])
    upload = sent({"runs.json": text, "stream.log": LOG}, lab=lab)
    assert upload.state == "parsed", problems_of(upload)
    [stored] = upload.runs.all()
    [reading] = stored.measurements.select_related("artefact")
    assert reading.artefact is not None
    assert (reading.artefact.name, reading.line_from) == ("stream.log", 2)
    assert reading.artefact.stored


def test_a_value_without_evidence_is_evidenced_by_its_line_of_the_file() -> None:
    lab = lab_of()
    text = bundle_of(lab)
    upload = sent({"runs.json": text}, lab=lab)
    [reading] = upload.runs.get().measurements.select_related("artefact")
    assert reading.artefact is not None
    assert reading.artefact.name == "runs.json"
    assert reading.line_from
    line = text.decode().splitlines()[reading.line_from - 1]
    assert line.strip() == "{", "the measurement begins there"


def test_evidence_of_the_file_itself_does_not_make_another_run_of_it() -> None:
    lab = lab_of()
    first = sent({"runs.json": bundle_of(lab)}, lab=lab)
    again = sent({"runs.json": bundle_of(lab) + b"\n"}, lab=lab)
    assert again.pk != first.pk
    assert again.report["runs"][0]["known"] is True
    assert again.report["runs"][0]["run"] == first.runs.get().pk


def test_the_bundle_of_another_lab_is_refused() -> None:
    upload = sent({"runs.json": bundle_of(lab_of("other"))}, lab=lab_of("acme"))
    assert upload.state == "rejected"
    assert "'other'" in problems_of(upload)[0]
    assert "'acme'" in problems_of(upload)[0]


def test_a_bundle_brings_no_new_labs_lists_or_comparisons() -> None:
    lab = lab_of()
    text = bundle_of(lab, labs=[{"slug": "nobody", "name": "Nobody"}])
    upload = sent({"runs.json": text}, lab=lab)
    assert upload.state == "rejected"


def named_by_digest(data: bytes, lab: Lab) -> bytes:
    """A bundle that names a file it does not bring."""
    named = {"name": "x.log", "sha256": sha256(data).hexdigest(), "size": len(data)}
    evidence = {"artefact": "x.log", "lines": [1, 1]}
    return bundle_of(lab, run(measurement(evidence=evidence)), artefacts=[named])


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_digest_opens_no_file_of_another_lab_and_does_not_tell_of_it(is_kept: bool) -> None:
    lab, other = lab_of("acme"), lab_of("other")
    secret = b"a log that nobody else has\n"
    if is_kept:
        sent({"secret.log": secret}, lab=other, actor=publisher(other, "otto"))
    upload = sent({"runs.json": named_by_digest(secret, lab)}, lab=lab)
    sent({"secret.log": secret}, lab=other, actor=publisher(other, "otto"))
    assert upload.state == "parsed"
    [remark] = upload.report["remarks"]
    assert remark["text"].startswith("x.log is named as evidence")
    assert [artefact.name for artefact in upload.runs.get().artefacts.all()] == ["runs.json"]


def test_a_file_of_the_labs_own_may_be_named_by_its_digest() -> None:
    lab = lab_of()
    log = b"a log of our own\n"
    sent({"ours.log": log}, lab=lab)
    upload = sent({"runs.json": named_by_digest(log, lab)}, lab=lab)
    [reading] = upload.runs.get().measurements.select_related("artefact")
    assert reading.artefact is not None
    assert reading.artefact.sha256 == sha256(log).hexdigest()


def test_an_archive_is_read_file_by_file() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("node7/stream.log", stream_log("gcc_1t.txt"))
        archive.writestr("node7/lscpu.json", lscpu())
    upload = sent({"results.zip": packed.getvalue()}, system=EPYC)
    assert [file["name"] for file in upload.report["files"]] == ["stream.log", "lscpu.json"]
    [reading] = upload.runs.get().measurements.filter(metric__workload="triad")
    assert reading.artefact is not None
    assert reading.artefact.name == "stream.log"
    assert reading.artefact.stored


def test_files_without_any_run_are_refused_in_words() -> None:
    upload = sent({"lscpu.json": lscpu()})
    assert upload.state == "rejected"
    assert problems_of(upload) == [
        "found no run in any file (lscpu.json), expected the output of a benchmark, or a bundle"
    ]


def test_every_bad_file_is_told_and_nothing_is_stored() -> None:
    failed = stream_log().replace(b"Solution Validates", b"Solution Fails")
    upload = sent(
        {"good.log": stream_log("gcc_1t.txt"), "bad.log": failed, "x.bin": b"\xff\xfe\xfa"}
    )
    assert upload.state == "rejected"
    assert {problem["file"] for problem in upload.report["problems"]} == {"bad.log", "x.bin"}
    assert not Run.objects.filter(lab__slug="acme").exists()


def test_several_nodes_are_asked_for_where_there_are_such() -> None:
    lab = lab_of()
    first = sent({"a.json": bundle_of(lab, run(node="n1"))}, lab=lab)
    from results.intake.standing import publish_upload

    publish_upload(upload=first, actor=staff())
    upload = sent({"s.log": stream_with_threads(88)}, lab=lab, system=VERA)
    node = next(q for q in upload.report["optional"] if q["field"] == "node")
    assert [option["value"] for option in node["options"]] == ["n1"]


def test_a_table_without_a_system_column_is_asked_for_it() -> None:
    table = b"benchmark,scope,metric,value,unit\nstream,system,triad.bandwidth,100,GB/s\n"
    upload = sent({"t.csv": table})
    assert questions_of(upload) == ["system"]
    answered = sent({"t.csv": table}, system=EPYC)
    assert answered.pk == upload.pk
    [reading] = answered.runs.get().measurements.all()
    assert (reading.value, reading.line_from) == (100.0, 2)


def test_a_virtual_machine_is_not_the_processor_it_runs_on() -> None:
    data: dict[str, Any] = json.loads(lscpu(changes={"Core(s) per socket": 2, "Socket(s)": 1}))
    data["lscpu"].append({"field": "Hypervisor vendor:", "data": "KVM"})
    files = {"lscpu.json": json.dumps(data).encode(), "s.log": stream_log()}
    upload = sent(files, system="new")
    stored = upload.runs.get().system
    assert stored.processor is not None
    assert stored.processor.slug != Processor.objects.get(systems__slug=EPYC).slug
    assert stored.extra["virtual"] == "KVM"


def test_an_arm_cores_design_gives_way_to_the_processors_name() -> None:
    told = {"a": {"processor": Fact("Neoverse-V2", 3)}, "b": {"processor": Fact("NVIDIA Grace", 9)}}
    machine = merge((name, Draft(facts=facts)) for name, facts in told.items())
    assert machine.get("processor") == "NVIDIA Grace"
    assert machine.contradictions == []


def test_threads_that_the_firmware_counts_and_the_system_has_off_are_no_contradiction() -> None:
    told = {"dmidecode": {"threads": Fact(768, 3)}, "lscpu": {"threads": Fact(384, 9)}}
    machine = merge((name, Draft(facts=facts)) for name, facts in told.items())
    assert machine.get("threads") == 384


def test_the_same_file_twice_is_read_once_and_said() -> None:
    log = stream_log("gcc_1t.txt")
    upload = sent({"a.log": log, "b.log": log}, system=EPYC)
    assert upload.report["run_count"] == 1
    [remark] = upload.report["remarks"]
    assert (remark["file"], remark["text"]) == ("b.log", "the same file as a.log: read once")


def test_two_machines_in_one_upload_are_named_by_their_files() -> None:
    files = {"a.json": lscpu(), "b.json": lscpu("AMD EPYC 7451"), "s.log": stream_log()}
    [question] = sent(files).report["questions"]
    assert question["text"].startswith("a.json and b.json describe different machines.")
