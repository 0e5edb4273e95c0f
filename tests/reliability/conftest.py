"""One hub for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.reliability.hub import Hub, running


@pytest.fixture(scope="session")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with running(tmp_path_factory.mktemp("hub")) as hub:
        yield hub
