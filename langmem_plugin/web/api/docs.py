"""The description of the API as a page: each route with its parameters, an example and an answer; it loads nothing."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from langmem_plugin.web.look.pages import Pages
from langmem_plugin.web.served import root_of

_DEEPEST = 6


def add_docs(app: FastAPI) -> None:
    """At /api/docs, for everybody, as the description itself."""
    pages = Pages(Path(__file__).parent / "templates")

    def show(request: Request) -> Response:
        document = app.openapi()
        routes: dict[str, list[dict[str, Any]]] = {}
        for path, methods in document["paths"].items():
            for method, told in methods.items():
                routes.setdefault(told["tags"][0], []).append(_route(document, path, method, told, root_of(request)))
        return pages.page(request, "docs.html", document=document, routes=routes)

    app.add_route("/api/docs", show, include_in_schema=False)


def _route(document: Mapping[str, Any], path: str, method: str, told: Mapping[str, Any], root: str) -> dict[str, Any]:
    body = told.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    sent = None if body is None else example_of(document, body)
    done: dict[str, Any] = next((each for status, each in told["responses"].items() if status.startswith("2")), {})
    answer = done.get("content", {}).get("application/json", {}).get("schema")
    shell = [f"curl -X {method.upper()} {root}{path}", "  -H 'Authorization: Bearer TOKEN'"]
    shell += [] if sent is None else ["  -H 'Content-Type: application/json'", f"  -d '{_spelled(sent, None)}'"]
    return {
        **told,
        "path": path,
        "method": method.upper(),
        "curl": " \\\n".join(shell),
        "answer": None if answer is None else _spelled(example_of(document, answer), 2),
    }


def _spelled(value: Any, indent: int | None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def example_of(document: Mapping[str, Any], schema: Mapping[str, Any], depth: int = 0) -> Any:
    """A value that fits a schema: its example, its default, else the simplest of its type."""
    if "$ref" in schema:
        return example_of(document, document["components"]["schemas"][schema["$ref"].rpartition("/")[2]], depth)
    told = [*schema.get("examples", ()), *schema.get("enum", ()), schema.get("const"), schema.get("default")]
    if (value := next((each for each in told if each is not None), None)) is not None:
        return value
    if one := next((schema[name][0] for name in ("anyOf", "oneOf") if name in schema), None):
        return example_of(document, one, depth)
    kind = schema.get("type")
    if kind == "object" and depth < _DEEPEST:
        wanted = schema.get("properties", {})
        return {name: example_of(document, each, depth + 1) for name, each in wanted.items()}
    if kind == "array" and depth < _DEEPEST:
        return [example_of(document, schema.get("items", {}), depth + 1)]
    return _SIMPLEST.get(schema.get("format", kind), _SIMPLEST.get(kind))


_SIMPLEST: dict[Any, Any] = {
    "date-time": "2026-03-01T09:00:00Z",
    "date": "2026-03-01",
    "string": "…",
    "integer": 1,
    "number": 1.0,
    "boolean": True,
}
