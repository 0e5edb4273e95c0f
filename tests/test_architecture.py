"""Imports go one way: the arrows of docs/architecture.md, read from the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# A room may import rooms of its own and of lower floors, never of higher ones.
FLOORS = (
    ("catalogue", "chunks", "hints", "passing"),
    ("models", "bundle", "formats", "units", "roles", "artefacts", "actors", "hooks"),
    ("queries", "freshness", "summaries", "sync"),
    ("services", "export", "ingest", "compare", "tokens"),
    ("wording", "request", "intake", "receiving"),
    ("charts", "kept"),
    ("pages",),
    ("views", "api", "admin", "templatetags", "management", "urls", "apps"),
)
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
RUNNERS_FLOORS = (
    ("machine",),
    ("benchmarks", "kernels", "drivers"),
    ("engine", "detect", "parameters", "models"),
    ("hosts", "preflight", "jobs", "doorbell", "claims", "queries"),
    ("sweep", "taking"),
    ("execute",),
    ("tasks", "worker", "pages"),
    ("views", "api", "admin", "management", "additions", "urls", "apps"),
)
RUNNERS_FLOOR = {room: floor for floor, rooms in enumerate(RUNNERS_FLOORS) for room in rooms}
# Arrows that a floor alone does not forbid.
NEVER = {
    ("compare", "ingest"),
    ("compare", "services"),
    ("ingest", "compare"),
    ("api", "admin"),
    ("api", "views"),
    ("views", "api"),
    ("views", "admin"),
    ("admin", "api"),
}
FREE_OF_DJANGO = ("catalogue", "bundle", "formats", "units", "roles")
RUNNERS_FREE_OF_DJANGO = (
    "machine",
    "benchmarks",
    "kernels",
    "drivers",
    "engine",
    "detect",
    "parameters",
)
LATE = ("pandas", "scipy", "plotly", "pint", "numpy")
PAGES = ("compare", "queries", "views", "charts", "api", "models", "catalogue", "wording")


def _sources(app: str = "results") -> list[Path]:
    return [p for p in (ROOT / app).rglob("*.py") if "migrations" not in p.parts]


def _room(path: Path, app: str = "results") -> str:
    return path.relative_to(ROOT / app).parts[0].removesuffix(".py")


def _imports(path: Path, *, top_level: bool = False) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body if top_level else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            module = node.module or ""
            yield from (f"{module}.{alias.name}" for alias in node.names)


def test_every_room_has_a_floor() -> None:
    rooms = {_room(path) for path in _sources()} - {"__init__"}
    assert rooms <= set(FLOOR), "name the new room's floor here and in docs/architecture.md"


@pytest.mark.parametrize("path", _sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_down(path: Path) -> None:
    room = _room(path)
    if room == "__init__":
        return
    for name in _imports(path):
        first, _, rest = name.partition(".")
        assert first not in {"runners", "benchhub", "tests"}, f"results never imports {first}"
        other = rest.partition(".")[0]
        if first == "results" and other in FLOOR and other != room:
            assert FLOOR[other] <= FLOOR[room], f"{room} imports {other}, which is above it"
            assert (room, other) not in NEVER, f"{room} never imports {other}"


@pytest.mark.parametrize("path", _sources("runners"), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_of_runners_go_down(path: Path) -> None:
    room = _room(path, "runners")
    if room == "__init__":
        return
    assert room in RUNNERS_FLOOR, "name the new room's floor here and in docs/architecture.md"
    for name in _imports(path):
        first, _, rest = name.partition(".")
        assert first != "tests"
        if room in RUNNERS_FREE_OF_DJANGO:
            assert first not in {"django", "rest_framework", "celery"}, f"{room}: {name}"
        other = rest.partition(".")[0]
        if first == "runners" and other in RUNNERS_FLOOR and other != room:
            assert RUNNERS_FLOOR[other] <= RUNNERS_FLOOR[room], f"{room} imports {other}"


@pytest.mark.parametrize("room", FREE_OF_DJANGO)
def test_room_is_free_of_django(room: str) -> None:
    for path in _sources():
        if _room(path) == room:
            names = [
                n for n in _imports(path) if n.partition(".")[0] in {"django", "rest_framework"}
            ]
            assert not names, path


def test_settings_and_start_up_know_nothing_of_the_domain() -> None:
    for path in (ROOT / "benchhub").rglob("*.py"):
        assert not [n for n in _imports(path) if n.partition(".")[0] in {"results", "runners"}], (
            path
        )


def test_pages_load_no_heavy_library() -> None:
    for path in _sources():
        if _room(path) in PAGES:
            found = [n for n in _imports(path, top_level=True) if n.partition(".")[0] in LATE]
            assert not found, path
