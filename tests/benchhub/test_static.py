"""The chart library has one address, wherever it comes from."""

from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from pytest_django import Settings

from benchhub.staticfiles import PLOTLY, PlotlyFinder, plotly_source


def test_the_chart_library_is_found_under_its_one_name() -> None:
    found = finders.find(PLOTLY)
    assert found
    assert b"plotly.js" in Path(found).read_bytes()[:400]


def test_without_npm_the_bundle_of_the_wheel_is_served(settings: Settings, tmp_path: Path) -> None:
    settings.BASE_DIR = tmp_path
    source = plotly_source()
    assert source is not None
    assert source.parts[-3:] == ("plotly", "package_data", "plotly.min.js")


def test_with_npm_the_cartesian_bundle_is_served(settings: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "node_modules" / "plotly.js-cartesian-dist-min"
    folder.mkdir(parents=True)
    (folder / "plotly-cartesian.min.js").write_text("/* */")
    settings.BASE_DIR = tmp_path
    assert plotly_source() == folder / "plotly-cartesian.min.js"
    assert [name for name, _ in PlotlyFinder().list(None)] == [PLOTLY]


@pytest.mark.parametrize("path", ["vendor/other.js", "vendor/../settings.py"])
def test_the_finder_gives_nothing_else(path: str) -> None:
    assert PlotlyFinder().find(path) is None
    assert PlotlyFinder().find(path, find_all=True) == []
