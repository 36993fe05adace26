"""The published JSON Schema of a document: `python -m langmem_plugin.portability.schema` makes it from the models."""

import json
from pathlib import Path

from langmem_plugin.portability.person_export import PersonExport

SCHEMA_FILE = Path(__file__).with_name("person_export.schema.json")


def schema_text() -> str:
    """The schema's text, as the file must be."""
    made = {"$schema": "https://json-schema.org/draft/2020-12/schema", **PersonExport.model_json_schema()}
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
