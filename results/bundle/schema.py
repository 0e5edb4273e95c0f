"""The bundle's JSON Schema, as committed in `schema.json` for those who write bundles."""

from __future__ import annotations

import json
from pathlib import Path

from results.bundle.model import Bundle

FILE = Path(__file__).with_name("schema.json")


def schema_text() -> str:
    """The schema of the model as it stands, as text with a final line end."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Bundle.model_json_schema(),
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
