"""An upload before it is published: each value with its evidence, beside what is published."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from results import catalogue, wording
from results.actors import Actor
from results.catalogue.base import Benchmark
from results.compare.beside import Beside, Given, rows_of, set_beside
from results.models import Artefact, System, Upload
from results.pages.evidence import lines_at
from results.queries import beside as queries
from results.queries.listings import systems_by_id
from results.roles import Roles, tracked_values
from results.summaries import system_facts
from results.wording import beside as words
from results.wording.beside import Names, Said

SHOWN = 200  # values; more are counted, and looked at all the same
MOST_LINES = 3  # of a value's evidence
LONGEST_LINE = 200
OPEN = "?"  # a system that is not named yet, as `results.bundle` writes it

Part = Mapping[str, Any]


class Line(NamedTuple):
    """A line of a file by its number; `cut`: it goes on."""

    number: int
    text: str
    cut: bool


@dataclass(frozen=True)
class Evidence:
    """Where a value was read: the file and its lines, as far as they are kept as text."""

    file: str
    where: str
    lines: tuple[Line, ...] = ()
    more: int = 0


@dataclass(frozen=True)
class Value:
    """A value as the table shows it. `own` and `others`: what is published beside it.

    `repeated`: it was read from the same lines as the value before it.
    """

    id: str
    title: str
    metric: str
    arrow: str
    direction: str
    text: str
    unit: str
    count: str
    printed: str
    evidence: Evidence | None
    repeated: bool
    own: Said
    others: tuple[Said, ...]
    flags: tuple[Said, ...]


@dataclass
class RunPart:
    """A run: what it was measured on, what is assumed, whether it is stored already."""

    words: str
    file: str
    notes: tuple[str, ...]
    assumed: str
    stored: Said | None
    values: list[Value] = field(default_factory=list)


@dataclass
class BenchmarkPart:
    """The runs of a benchmark on a system. `stated`: the setup that all of them share."""

    name: str
    slug: str
    stated: tuple[tuple[str, str], ...] = ()
    missing: str = ""
    runs: list[RunPart] = field(default_factory=list)


@dataclass
class SystemPart:
    """A system's benchmarks. `url` "" where it has no page yet; `note` says what is open."""

    name: str
    url: str
    facts: str
    note: str
    benchmarks: list[BenchmarkPart] = field(default_factory=list)


@dataclass(frozen=True)
class Preview:
    """What an upload would publish; `total` values, the first of which are shown."""

    systems: list[SystemPart]
    total: int
    shown: int
    summary: str
    hidden: str = ""
    doubts: int = 0
    known: int = 0


class _Item(NamedTuple):
    """A measurement of a report with its run, by number, and as it is compared."""

    number: int
    run: Part
    measured: Part
    given: Given


def preview_of(upload: Upload, user: Actor) -> Preview:
    """The preview of an upload that `user` may see. A fixed number of queries."""
    items = list(_items(upload))
    systems = queries.systems_named({item.given.system for item in items}, upload.lab_id)
    rows = rows_of(item.given for item in items)
    found = queries.published(rows, [system.pk for system in systems.values()], upload.pk)
    beside = set_beside(
        [item.given for item in items], found, systems, corrects=upload.corrects_id is not None
    )
    if upload.state == Upload.State.WITHDRAWN:  # nothing is left to check before it is public
        beside = [replace(one, flags=()) for one in beside]
    maker = _Maker.of(upload, user, items[:SHOWN], beside[:SHOWN], systems)
    return Preview(
        systems=maker.systems_shown(),
        total=len(items),
        shown=len(items[:SHOWN]),
        summary=_summary(items, beside),
        hidden=_hidden(beside),
        doubts=sum(bool(one.flags) for one in beside),
        known=sum(bool(run.get("known")) for run in upload.report.get("runs", ())),
    )


def _items(upload: Upload) -> Iterable[_Item]:
    """The measurements of the report, but those whose benchmark or metric is gone."""
    lab = upload.lab.slug if upload.lab else ""
    for number, run in enumerate(upload.report.get("runs", ())):
        benchmark = catalogue.get(run["benchmark"])
        if benchmark is None:
            continue
        roles = Roles.of(benchmark, run["parameters"])
        for measured in run["measurements"]:
            if benchmark.metric(measured["metric"]) is not None:
                given = _given(run, measured, benchmark, roles, lab)
                yield _Item(number, run, measured, given)


def _given(run: Part, measured: Part, benchmark: Benchmark, roles: Roles, lab: str) -> Given:
    metric = benchmark.metric(measured["metric"])
    assert metric is not None  # noqa: S101  its caller has looked
    return Given(
        system="" if run["system"] == OPEN else run["system"],
        lab=lab,
        benchmark=benchmark,
        metric=metric,
        version=run["version"],
        scope=run["scope"],
        variant=roles.variant,
        axis=roles.axis,
        scale=roles.scale,
        value=measured["value"],
        low=measured.get("low"),
        high=measured.get("high"),
        cores=roles.cores,
        threads=roles.threads,
        nodes=roles.nodes,
        smt=str(run["parameters"].get("smt", "")),
        known=bool(run.get("known")),
    )


def _summary(items: Sequence[_Item], beside: Sequence[Beside]) -> str:
    """'4 values of 1 run; 1 of them to check'."""
    runs = len({item.number for item in items})
    values = ngettext("%(n)s value", "%(n)s values", len(items)) % {"n": f"{len(items):,}"}
    of_runs = ngettext("of %(n)s run", "of %(n)s runs", runs) % {"n": f"{runs:,}"}
    doubts = sum(bool(one.flags) for one in beside)
    if not doubts:
        return f"{values} {of_runs}"
    check = ngettext("%(n)s of them to check", "%(n)s of them to check", doubts) % {"n": doubts}
    return f"{values} {of_runs}; {check}"


def _hidden(beside: Sequence[Beside]) -> str:
    """How many values are not shown, and how many of those are doubtful."""
    rest = beside[SHOWN:]
    if not rest:
        return ""
    text = ngettext(
        "%(n)s further value is not shown.", "%(n)s further values are not shown.", len(rest)
    ) % {"n": f"{len(rest):,}"}
    doubts = sum(bool(one.flags) for one in rest)
    if doubts:
        more = ngettext(
            "%(n)s of them is to be checked.", "%(n)s of them are to be checked.", doubts
        )
        text = f"{text} {more % {'n': f'{doubts:,}'}}"
    return text


@dataclass(frozen=True)
class _Maker:
    """Puts the values that are shown into words, and the words into groups."""

    items: Sequence[_Item]
    beside: Sequence[Beside]
    systems: Mapping[str, System]
    names: Names
    runs: Mapping[int, Said]
    lines: Mapping[str, Mapping[int, str]]
    proposed: Mapping[str, str]
    is_guest: bool

    @classmethod
    def of(
        cls,
        upload: Upload,
        user: Actor,
        items: Sequence[_Item],
        beside: Sequence[Beside],
        systems: Mapping[str, System],
    ) -> _Maker:
        cells = [
            part.cell
            for one in beside
            for part in (one.own, one.best, one.alike, *one.flags)
            if part is not None and part.cell is not None
        ]
        names = Names(
            systems_by_id({cell.system_id for cell in cells}),
            queries.lab_names({cell.lab for cell in cells}),
        )
        known = {i.run["run"] for i in items if i.run.get("known") and i.run.get("run")}
        seen = queries.runs_to_name(known, user)
        machine = upload.report.get("machine") or {}
        proposal = machine.get("proposed") or {}
        return cls(
            items,
            beside,
            systems,
            names,
            {pk: words.stored_words(seen.get(pk)) for pk in known},
            _read(items, queries.files_named(upload)),
            {proposal["slug"]: proposal["name"]} if proposal else {},
            not user.is_authenticated,
        )

    def systems_shown(self) -> list[SystemPart]:
        """The values by system, benchmark and run, in the order of the report."""
        systems: dict[str, SystemPart] = {}
        benchmarks: dict[tuple[str, str], BenchmarkPart] = {}
        runs: dict[int, RunPart] = {}
        for at, item in enumerate(self.items):
            one = item.given
            key = (one.system, one.benchmark.slug)
            if one.system not in systems:
                systems[one.system] = self._system(one.system)
            if key not in benchmarks:
                benchmarks[key] = self._benchmark(key)
                systems[one.system].benchmarks.append(benchmarks[key])
            if item.number not in runs:
                runs[item.number] = self._run(item)
                benchmarks[key].runs.append(runs[item.number])
            runs[item.number].values.append(self._value(at, item))
        return list(systems.values())

    def _system(self, slug: str) -> SystemPart:
        stored = self.systems.get(slug)
        if stored is None and slug == "":
            return SystemPart(_("System not named yet"), "", "", _("which system it is, is open"))
        if stored is None:
            name = self.proposed.get(slug, slug)
            return SystemPart(name, "", "", _("a new system"))
        note = "" if stored.is_public else _("not public yet: nothing of it is published")
        # Who came by a link has no page of a system that is not public.
        url = stored.get_absolute_url() if stored.is_public or not self.is_guest else ""
        facts = [
            part for part in (wording.core_words(stored), wording.memory_words(stored)) if part
        ]
        return SystemPart(str(stored), url, ", ".join(facts), note)

    def _benchmark(self, key: tuple[str, str]) -> BenchmarkPart:
        items = [i for i in self.items if (i.given.system, i.given.benchmark.slug) == key]
        benchmark = items[0].given.benchmark
        runs = list({item.number: item.run for item in items}.values())
        versions = {run["version"] for run in runs}
        version = versions.pop() if len(versions) == 1 else ""
        return BenchmarkPart(
            name=f"{benchmark.name} {version}".rstrip(),
            slug=benchmark.slug,
            stated=_stated(benchmark, runs),
            missing=_missing(benchmark, runs, self.systems.get(key[0])),
        )

    def _run(self, item: _Item) -> RunPart:
        run, benchmark = item.run, item.given.benchmark
        known = {**item.given.variant, **item.given.axis}
        assumed = [n for n in run.get("assumed", ()) if n in run["parameters"]]
        said = [p.say(run["parameters"][n]) for n in assumed if (p := benchmark.parameter(n))]
        return RunPart(
            words=" · ".join(wording.variant_words(benchmark, run["scope"], known)),
            file=run.get("file", ""),
            notes=tuple(_run_notes(run)),
            assumed=wording.joined(said),
            stored=self.runs.get(run["run"]) if run.get("known") else None,
        )

    def _value(self, at: int, item: _Item) -> Value:
        one, beside, measured = item.given, self.beside[at], item.measured
        shown = wording.figures(one.metric.unit, [one.value, one.low, one.high])
        is_range, read = one.value is None, measured.get("evidence")
        return Value(
            id=f"v{at + 1}",
            title=one.benchmark.row_title(one.metric),
            metric=one.metric.name,
            arrow=wording.arrow(one.metric),
            direction=wording.direction(one.metric),
            text=shown.span(one.low, one.high) if is_range else shown.number(one.value),
            unit=shown.unit,
            count=wording.count_words(measured["n"]) if measured.get("n") else "",
            printed=str(measured.get("printed") or ""),
            evidence=_evidence(read, self.lines),
            repeated=bool(read) and at > 0 and read == self.items[at - 1].measured.get("evidence"),
            own=words.own_words(one, beside, self.names),
            others=tuple(words.rival_words(one, beside, self.names)),
            flags=tuple(words.flag_words(one, flag, self.names) for flag in beside.flags),
        )


def _run_notes(run: Part) -> Iterable[str]:
    if run.get("node"):
        yield _("node %(node)s") % {"node": run["node"]}
    if run.get("started_at"):
        moment = str(run["started_at"]).replace("T", " ")[:16]
        yield _("started %(moment)s") % {"moment": moment}


def _stated(benchmark: Benchmark, runs: Sequence[Part]) -> tuple[tuple[str, str], ...]:
    """The setup that all runs share, under the catalogue's names."""
    labels = {tracked.field: tracked.label for tracked in benchmark.tracked}
    first, *rest = [run.get("setup") or {} for run in runs]
    shared = [
        (name, value) for name, value in first.items() if all(r.get(name) == value for r in rest)
    ]
    return tuple((labels.get(name, name), str(value)) for name, value in shared)


def _missing(benchmark: Benchmark, runs: Sequence[Part], system: System | None) -> str:
    """Names of what counts for a verdict and one of the runs does not state."""
    facts = system_facts(system) if system else {}
    missing: dict[str, None] = {}
    for run in runs:
        known = tracked_values(
            benchmark,
            version=run["version"],
            roles=Roles.of(benchmark, run["parameters"]),
            parameters=run["parameters"],
            setup=run.get("setup") or {},
            facts=facts,
        )
        missing |= {t.label: None for t in benchmark.tracked if t.field not in known}
    return ", ".join(missing)


# Evidence


def _lines_of(evidence: Part | None) -> tuple[int, int] | None:
    """First and last line of an evidence, if it names any."""
    lines = (evidence or {}).get("lines")
    return (int(lines[0]), int(lines[1])) if lines else None


def _wanted(first: int, last: int) -> range:
    return range(first, min(last, first + MOST_LINES - 1) + 1)


def _read(items: Iterable[_Item], files: Mapping[str, Artefact]) -> dict[str, Mapping[int, str]]:
    """The text of all evidence lines by file; each file is read once."""
    wanted: dict[str, set[int]] = {}
    for item in items:
        evidence = item.measured.get("evidence") or {}
        lines, file = _lines_of(evidence), str(evidence.get("artefact", ""))
        if lines and file in files:
            wanted.setdefault(file, set()).update(_wanted(*lines))
    return {name: lines_at(files[name], numbers) for name, numbers in wanted.items()}


def _evidence(evidence: Part | None, read: Mapping[str, Mapping[int, str]]) -> Evidence | None:
    if not evidence:
        return None
    if "artefact" not in evidence:
        return Evidence(str(evidence.get("source", "")), _("a published source"))
    file, lines = str(evidence["artefact"]), _lines_of(evidence)
    if lines is None:
        return Evidence(file, "")
    first, last = lines
    text = read.get(file, {})
    found = tuple(_line(number, text[number]) for number in _wanted(first, last) if number in text)
    return Evidence(file, _where(first, last), found, last - first + 1 - len(found) if found else 0)


def _where(first: int, last: int) -> str:
    if first == last:
        return _("line %(line)s") % {"line": first}
    return _("lines %(first)s–%(last)s") % {"first": first, "last": last}


def _line(number: int, text: str) -> Line:
    return Line(number, text[:LONGEST_LINE], len(text) > LONGEST_LINE)
