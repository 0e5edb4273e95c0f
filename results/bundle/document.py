"""A file that was read: its bundle, what is wrong with it, and where everything stands."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from results.bundle import model
from results.bundle.problems import (
    BundleError,
    Finding,
    Path,
    Problem,
    did_you_mean,
    printable,
    say,
    show,
)

# More is not read by anyone; the rest is counted.
MOST_PROBLEMS = 1_000

# Runs are read by the slice, so that reading can stop.
RUNS_AT_ONCE = 1_000
RUNS = TypeAdapter(list[model.Run])

Lines = Callable[[Collection[Path]], Mapping[Path, int]]
Naming = Callable[[Path], str]

PARTS: Mapping[str, type[BaseModel]] = {
    "labs": model.Lab,
    "sources": model.Source,
    "processors": model.Processor,
    "systems": model.System,
    "memory": model.Memory,
    "storage": model.Storage,
    "firmware": model.Firmware,
    "lists": model.RankedList,
    "entries": model.ListEntry,
    "runs": model.Run,
    "measurements": model.Measurement,
    "evidence": model.Evidence,
    "comparisons": model.Comparison,
    "artefacts": model.Artefact,
}
EXPECTED = {
    "missing": "a value",
    "string_type": "a text in quotes",
    "float_type": "a finite number",
    "finite_number": "a finite number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "literal_error": "{expected}",
    "string_too_long": "at most {max_length} characters",
    "string_too_short": "at least {min_length} character",
    "too_long": "at most {max_length} entries",
    "too_short": "at least {min_length}",
    "greater_than_equal": "{ge:g} or more",
    "less_than_equal": "{le:g} or less",
    "unexpected": "{expected}",
    "unseen_character": "{expected}",
}
PATTERNS = {
    "slug": "small letters, digits, '-' and '_'",
    "id": "letters, digits, '.', '-' and '_'",
    "date": "a date such as 2026, 2026-11 or 2026-11-30",
    "sha256": "64 hexadecimal digits",
    "url": "an address that begins with http:// or https://",
    "homepage": "an address that begins with http:// or https://",
    "name": "the name of a file without its folder",
}


# What may be given of runs beside their parameters and setup.
OF_RUNS = ("benchmark", "node", "scope")

# Stands for a lab or system that is still to be asked for.
OPEN = "?"


@dataclass(frozen=True)
class Defaults:
    """What is given beside a file: `settings` are parameters, `setup.*` and what is in OF_RUNS.

    With `leave_open`, a lab or system that neither the file nor this names is OPEN instead
    of a problem.
    """

    lab: str = ""
    system: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    leave_open: bool = False


def json_name(path: Path) -> str:
    """A path as one writes it: runs[3].measurements[0].value."""
    name = ""
    for part in path:
        if isinstance(part, int):
            name += f"[{part}]"
        else:
            name += f".{printable(part[:60])}" if name else printable(part[:60])
    return name


def no_lines(paths: Collection[Path]) -> Mapping[Path, int]:
    """For a bundle that was never a file."""
    return {}


@dataclass
class Document:
    """A bundle with the file it came from.

    Runs that do not fit the model are left out of `bundle` and told in `findings`, so that
    the others can still be checked; `places` gives each remaining run's place in the file.
    """

    bundle: model.Bundle
    name: str = ""
    findings: Sequence[Finding] = ()
    places: Sequence[int] | None = None
    lines: Lines = no_lines
    naming: Naming = json_name

    def run_path(self, index: int) -> Path:
        return ("runs", self.places[index] if self.places is not None else index)

    def problems(self, findings: Iterable[Finding]) -> list[Problem]:
        """The findings with their lines, in the file's order."""
        return problems_of(findings, name=self.name, lines=self.lines, naming=self.naming)


def problems_of(
    findings: Iterable[Finding], *, name: str, lines: Lines, naming: Naming = json_name
) -> list[Problem]:
    """The findings as problems of the file `name`, in its order; at most MOST_PROBLEMS."""
    every = list(findings)
    kept = every[:MOST_PROBLEMS]
    line_of = lines({finding.path for finding in kept})
    problems = [_problem(finding, name, line_of, naming) for finding in kept]
    problems.sort(key=lambda problem: problem.line or 0)
    if len(every) > len(kept):
        rest = f"{len(every) - len(kept)} more problems of this file are not listed"
        problems.append(Problem(message=rest, file=name))
    return problems


def _problem(finding: Finding, name: str, line_of: Mapping[Path, int], naming: Naming) -> Problem:
    place = naming(finding.path)
    message = finding.message or say(place, finding.found, finding.expected)
    return Problem(
        message=message,
        file=name,
        line=line_of.get(finding.path),
        field=place,
        found=finding.found,
        expected=finding.expected,
    )


def build(
    raw: Any,
    *,
    name: str,
    lines: Lines,
    naming: Naming = json_name,
    findings: Sequence[Finding] = (),
) -> Document:
    """The document of parsed but unchecked data; `findings` are those made before.

    Raises BundleError where more than single runs is wrong.
    """
    given = raw.get("runs") if isinstance(raw, dict) else None
    read, head = _Runs(), raw
    if isinstance(given, list):
        read, head = _read_runs(given, len(findings)), {**raw, "runs": []}
    found = [*findings, *read.findings]
    try:
        bundle = model.Bundle.model_validate(head)
    except ValidationError as error:
        found += findings_of(error)
    if read.unread is None and all(len(f.path) > 1 and f.path[0] == "runs" for f in found):
        whole = bundle.model_copy(update={"runs": read.fitting})
        return Document(whole, name, found, read.places, lines, naming)
    problems = problems_of(found, name=name, lines=lines, naming=naming)
    if read.unread is not None:
        rest = f"with so many problems, nothing from runs[{read.unread}] on was read"
        problems.append(Problem(message=rest, file=name))
    raise BundleError(problems)


@dataclass
class _Runs:
    """The runs that fit the model, their places in the file, and what is wrong with others.

    `unread` is the first run that was not looked at, None if all were.
    """

    fitting: list[model.Run] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    unread: int | None = None


def _read_runs(given: list[Any], told: int) -> _Runs:
    """Read runs a slice at a time, and none once more is wrong than anyone reads.

    `told` is how much is known to be wrong before. A small file can hold a million wrong
    runs; told all, they would take minutes and gigabytes.
    """
    read = _Runs()
    for start in range(0, len(given), RUNS_AT_ONCE):
        if told + len(read.findings) > MOST_PROBLEMS:
            read.unread = start
            break
        part = given[start : start + RUNS_AT_ONCE]
        bad: set[Any] = set()
        try:
            read.fitting += RUNS.validate_python(part)
        except ValidationError as error:
            bad = {detail["loc"][0] for detail in error.errors(include_url=False)}
            read.findings += findings_of(error, start)
            read.fitting += RUNS.validate_python([r for i, r in enumerate(part) if i not in bad])
        read.places += [start + i for i in range(len(part)) if i not in bad]
    return read


def findings_of(error: ValidationError, first_run: int | None = None) -> list[Finding]:
    """What pydantic found, in the words of this project.

    `first_run`: the error is of a list of runs, whose first has this place in the file.
    """
    details = error.errors(include_url=False)
    if first_run is not None:
        for detail in details:
            at, *rest = detail["loc"]
            detail["loc"] = ("runs", first_run + int(at), *rest)
    return [_finding(detail) for detail in details]


def _finding(detail: Any) -> Finding:
    path: Path = tuple(part for part in detail["loc"] if part != "[key]")
    kind = detail["type"]
    if kind == "extra_forbidden":
        return _unknown_key(path)
    if kind == "missing":
        return Finding(path, "nothing", "a value", f"{json_name(path)} is missing")
    if kind == "string_pattern_mismatch":
        expected = PATTERNS.get(str(path[-1]), "another form of text")
    else:
        expected = EXPECTED.get(kind, detail["msg"]).format(**detail.get("ctx", {}))
    return Finding(path, show(detail["input"]), expected)


def _unknown_key(path: Path) -> Finding:
    parent = next((part for part in reversed(path[:-1]) if isinstance(part, str)), "")
    known = PARTS.get(parent, model.Bundle).model_fields
    key, expected = show(str(path[-1])), did_you_mean(str(path[-1]), known)
    where = json_name(path[:-1])
    message = f"{where}: unknown key {key}" if where else f"unknown key {key}"
    return Finding(path, key, expected, f"{message}, expected {expected}")


def apply_defaults(raw: Any, defaults: Defaults) -> list[Finding]:
    """Fill in what the file leaves open; what contradicts it is a finding."""
    if not isinstance(raw, dict):
        return []
    found: list[Finding] = []
    _set(raw, "lab", defaults.lab, (), found)
    if defaults.leave_open:
        raw["lab"] = raw.get("lab") or OPEN
    runs = raw.get("runs")
    for index, run in enumerate(runs if isinstance(runs, list) else []):
        if isinstance(run, dict):
            _set(run, "system", defaults.system, ("runs", index), found)
            if defaults.leave_open:
                run["system"] = run.get("system") or OPEN
            for name, value in defaults.settings.items():
                _apply_setting(run, name, value, ("runs", index), found)
    return found


def _apply_setting(
    run: dict[str, Any], name: str, value: str, path: Path, found: list[Finding]
) -> None:
    if name in OF_RUNS:
        _set(run, name, value, path, found)
        return
    part, key = ("setup", name[6:]) if name.startswith("setup.") else ("parameters", name)
    inner = run.setdefault(part, {})
    if isinstance(inner, dict):
        _set(inner, key, value, (*path, part), found)


def _set(where: dict[str, Any], key: str, value: str, path: Path, found: list[Finding]) -> None:
    if not value:
        return
    there = where.get(key)
    if there is None or there == "":
        where[key] = value
    elif str(there) != value:
        expected = f"{show(value)}, which was given beside the file"
        found.append(Finding((*path, key), show(there), expected))
