"""What comes with runs: labs, hardware, sources, files, lists and comparisons."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db.models import CharField
from pydantic import TypeAdapter
from pytest_django import Settings

from results import artefacts
from results.bundle import model
from results.ingest import BundleError
from results.models import (
    AuditEntry,
    Comparison,
    Lab,
    List,
    Measurement,
    Processor,
    Run,
    Source,
    System,
)
from tests.results.bundles import (
    FILE,
    LOG,
    NEW_CPU,
    NEW_SYSTEM,
    OTHER,
    SYSTEM,
    bundle,
    ingest,
    measurement,
    only_problem,
    problems,
    run,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def nothing_changes() -> Iterator[None]:
    kinds = (Run, System, Lab, Source, List, Comparison, AuditEntry)
    before = [kind._default_manager.count() for kind in kinds]
    yield
    assert [kind._default_manager.count() for kind in kinds] == before


def test_an_unknown_lab_is_refused_unless_it_is_described_and_allowed() -> None:
    labs = [{"slug": "new-lab", "name": "New lab"}]
    assert only_problem(bundle(run(), lab="storagereveiw")).expected == "'storagereview'"
    assert "administrator" in only_problem(bundle(run(), lab="new-lab", labs=labs)).expected
    assert not Lab.objects.filter(slug="new-lab").exists()
    ingest(bundle(run(), lab="new-lab", labs=labs), allow_new_labs=True)
    assert Lab.objects.get(slug="new-lab").runs.count() == 1


def test_new_hardware_and_sources_come_with_the_bundle() -> None:
    given = bundle(
        run(system="box", source="s.1"),
        processors=[NEW_CPU],
        systems=[NEW_SYSTEM, {"slug": "pair", "name": "Pair", "members": ["box", OTHER]}],
        sources=[{"id": "s.1", "title": "A page", "url": "https://example.org/"}],
    )
    ingest(given)
    box = System.objects.get(slug="box")
    assert (box.cores, box.storage_link, box.extra) == (128, "PCIe Gen5 x4", {"fans": 4})
    assert box.peak() == (1228.8, True)
    group = System.objects.get(slug="pair")
    assert set(group.members.values_list("slug", flat=True)) == {"box", OTHER}


def test_descriptions_refer_to_what_is_known(nothing_changes: None) -> None:
    systems = [
        {**NEW_SYSTEM, "processor": "cpu-y", "source": "s.2", "members": ["nobody"]},
        {"slug": "box", "name": "Again"},
    ]
    found = problems(bundle(systems=systems))
    assert [problem.field for problem in found] == [
        "systems[0].processor",
        "systems[0].source",
        "systems[0].members",
        "systems[1].slug",
    ]


def test_a_known_system_stays_as_it_is_and_differences_are_told() -> None:
    before = System.objects.get(slug=SYSTEM)
    given = bundle(run(), systems=[{"slug": SYSTEM, "name": "My Vera", "sockets": 2}])
    result = ingest(given)
    assert System.objects.get(slug=SYSTEM).name == before.name
    assert result.warnings == [
        f"system '{SYSTEM}' is known, with another name: the stored one stays"
    ]


def test_lists_and_comparisons_are_the_hubs_own(nothing_changes: None) -> None:
    given = bundle(comparisons=[{"slug": "mine", "title": "Mine", "default": True}])
    assert only_problem(given).field == "comparisons"
    assert not Comparison.objects.filter(slug="mine").exists()


def test_curated_text_is_changed_in_place() -> None:
    entry = {"rank": 1, "label": "A", "value": 5000, "unit": "MB/s"}
    ranked = {
        "slug": "top",
        "title": "Top",
        "benchmark": "stream",
        "metric": "triad.bandwidth",
        "source": "dell-rome",
        "length": 15,
        "entries": [entry, {**entry, "rank": 2, "label": "B", "parameters": {"threads": "8"}}],
    }
    given = bundle(lists=[ranked], systems=[{**NEW_SYSTEM, "processor": None}])
    ingest(given, curated=True)
    assert ingest(given, curated=True).changed == 0
    assert [e.value for e in List.objects.get(slug="top").entries.all()] == [5.0, 5.0]
    changed = bundle(
        lists=[{**ranked, "title": "Best", "entries": [entry]}],
        systems=[{"slug": "box", "name": "Box Two"}],
    )
    assert ingest(changed, curated=True).changed == 2
    assert List.objects.get(slug="top").title == "Best"
    assert List.objects.get(slug="top").entries.count() == 1
    box = System.objects.get(slug="box")
    assert (box.name, box.sockets) == ("Box Two", None)


def test_curated_lists_are_checked_like_runs(nothing_changes: None) -> None:
    entry = {"rank": 1, "label": "A", "value": -1, "unit": "GB/s", "system": "nobody"}
    ranked = {"slug": "t", "title": "T", "benchmark": "stream", "metric": "triad.bandwidth"}
    lists = [
        {**ranked, "source": "dell-rome", "length": 1, "entries": [entry, {**entry, "unit": "s"}]},
        {**ranked, "slug": "u", "metric": "x", "source": "nowhere", "length": 1},
        {**ranked, "slug": "v", "benchmark": "x", "source": "dell-rome", "length": 1},
    ]
    comparisons = [{"slug": "c", "title": "C", "systems": ["nobody@smt=on"], "baseline": SYSTEM}]
    found = problems(bundle(lists=lists, comparisons=comparisons), curated=True)
    assert sorted(problem.field for problem in found) == [
        "comparisons[0].baseline",
        "comparisons[0].systems",
        "lists[0].entries[0].system",
        "lists[0].entries[0].value",
        "lists[0].entries[1].system",
        "lists[0].entries[1].unit",
        "lists[1].metric",
        "lists[1].source",
        "lists[2].benchmark",
    ]


def test_the_default_comparison_stays_the_administrators_choice() -> None:
    Comparison.objects.update(is_default=False)
    mine = Comparison.objects.create(slug="mine", title="Mine", is_default=True)
    ingest(bundle(comparisons=[{"slug": "new", "title": "N", "default": True}]), curated=True)
    assert list(Comparison.objects.filter(is_default=True)) == [mine]


def test_evidence_points_into_a_file_that_is_kept(settings: Settings, tmp_path: Path) -> None:
    settings.ARTEFACT_ROOT = tmp_path
    proof = {"artefact": "stream.log", "lines": [2, 2]}
    given = bundle(run(measurement(evidence=proof)), artefacts=[FILE])
    (pk,) = ingest(given, files={"stream.log": LOG}).created
    stored = Measurement.objects.get(run=pk)
    assert stored.artefact is not None
    assert (stored.line_from, stored.line_to, stored.artefact.stored) == (2, 2, True)
    assert artefacts.path_of(FILE["sha256"]).read_bytes() == LOG  # type: ignore[arg-type]
    assert list(Run.objects.get(pk=pk).artefacts.all()) == [stored.artefact]
    assert ingest(given).known == [pk]


def test_evidence_must_lie_within_the_very_file(nothing_changes: None) -> None:
    proof = {"artefact": "stream.log", "lines": [2, 9]}
    given = bundle(run(measurement(evidence=proof)), artefacts=[FILE])
    assert only_problem(given, files={"stream.log": LOG}).found == "line 9"
    assert only_problem(given, files={"stream.log": b"x\n" * 9}).field == "artefacts[0].sha256"
    proof["lines"] = [3, 2]
    assert only_problem(given).expected == "the first line first"


def test_another_artefact_makes_another_run() -> None:
    proof = {"artefact": "stream.log"}
    (first,) = ingest(bundle(run(measurement(evidence=proof)), artefacts=[FILE])).created
    other = {**FILE, "sha256": "0" * 64}
    (second,) = ingest(bundle(run(measurement(evidence=proof)), artefacts=[other])).created
    assert first != second


def test_refused_bundles_leave_no_file(settings: Settings, tmp_path: Path) -> None:
    settings.ARTEFACT_ROOT = tmp_path
    with pytest.raises(BundleError):
        ingest(bundle(run(measurement(-1)), artefacts=[FILE]), files={"stream.log": LOG})
    assert list(tmp_path.iterdir()) == []


BOUNDS = [
    (model.Lab, Lab),
    (model.Source, Source),
    (model.Processor, Processor),
    (model.System, System),
    (model.Run, Run),
    (model.Measurement, Measurement),
    (model.RankedList, List),
    (model.Comparison, Comparison),
]


@pytest.mark.parametrize(("part", "kind"), BOUNDS)
def test_no_text_of_a_bundle_is_longer_than_its_column(part: type, kind: type) -> None:
    schema = TypeAdapter(part).json_schema()["properties"]
    columns = {f.name: f for f in kind._meta.concrete_fields if isinstance(f, CharField)}  # type: ignore[attr-defined]
    for name in schema.keys() & columns.keys():
        options = schema[name].get("anyOf", [schema[name]])
        if "$ref" in options[0]:
            continue
        longest = max(option.get("maxLength", 0) for option in options)
        closed = any("enum" in option or "pattern" in option for option in options)
        assert longest <= (columns[name].max_length or 0), name
        assert longest or closed, name


def test_a_system_is_no_member_of_itself() -> None:
    problem = only_problem(bundle(systems=[{"slug": "box", "name": "Box", "members": ["box"]}]))
    assert problem.field == "systems[0].members"
    assert problem.expected == "other systems than itself"
