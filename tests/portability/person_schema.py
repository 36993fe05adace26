"""The JSON Schema of a person's document; `python -m tests.portability.person_schema` writes the published file anew."""

import json
from pathlib import Path

from langmem_plugin.portability import document_format

SCHEMA_FILE = Path(document_format.__file__).with_name("person_export.schema.json")


def schema_text():
    """Return the text that the published file should have."""
    schema = document_format.PersonExport.model_json_schema()
    made = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
