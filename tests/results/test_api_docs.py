"""The examples of docs/api.md are what the API answers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from tests.results.api_data import ROOT

TEXT = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
LISTS = TEXT[TEXT.index("## Lists") : TEXT.index("## Upload")].splitlines()
CALL = re.compile(r"```sh\ncurl -s \"\$HUB/([^\"]+)\"[^\n]*\n```\n")
EXAMPLE = re.compile(CALL.pattern + r"\n```json\n(.*?)\n```", re.DOTALL)
CALLS = [found.replace("\\\n", "") for found in CALL.findall(TEXT)]
EXAMPLES = [(found.replace("\\\n", ""), json.loads(body)) for found, body in EXAMPLE.findall(TEXT)]
# Numbers of rows, which depend on the order in which a hub took its runs in.
NUMBERS = {"run", "id"}


def without_numbers(found: Any) -> Any:
    if isinstance(found, list):
        return [without_numbers(one) for one in found]
    if not isinstance(found, dict):
        return found
    return {
        name: without_numbers(one)
        for name, one in found.items()
        if not (name in NUMBERS and isinstance(one, int))
    }


def test_the_examples_are_found() -> None:
    assert len(CALLS) == 6
    assert len(EXAMPLES) == 3


@pytest.mark.parametrize(("path", "told"), EXAMPLES)
def test_an_example_is_what_the_api_answers(
    client: Client, reference: None, path: str, told: Any
) -> None:
    assert without_numbers(client.get(ROOT + path).json()) == without_numbers(told)


def test_the_keys_that_the_text_names_are_columns(client: Client, reference: None) -> None:
    (path,) = [call for call in CALLS if "factor=engine" in call]
    keys = {column["key"] for column in client.get(ROOT + path).json()["columns"]}
    assert {
        "nvidia-mgx-vera-c2@engine=mariadb,engine_version=12.3.3",
        "nvidia-mgx-vera-c2@engine=postgresql,engine_version=18.6",
    } <= keys


def test_the_table_of_the_text_is_the_table(client: Client, reference: None) -> None:
    (path,) = [call for call in CALLS if call.startswith("compare.csv")]
    content = b"".join(client.get(ROOT + path).streaming_content)  # type: ignore[attr-defined]
    chosen = [0, 1, 7, 9, 16, 17]
    lines = [line.split(",") for line in content.decode().splitlines()]
    for line in lines:
        assert ",".join(line[at] for at in chosen) in TEXT
    assert len(lines) == 7


def test_every_list_and_filter_is_in_the_text(client: Client) -> None:
    from results.api.urls import router

    for prefix, view, _basename in router.registry:
        assert f"| `{prefix}/` |" in TEXT
        (line,) = [line for line in LISTS if line.startswith(f"| `{prefix}` |")]
        filterset: Any = vars(view)["filterset_class"]
        for name in filterset.base_filters:
            assert f"`{name}`" in line
