"""All routes of the API in one application, with their description as a document and as a page that loads nothing."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from langmem_plugin.errors import LangMemError
from langmem_plugin.people.rate_limits import Rates
from langmem_plugin.web.api import categories, conversations, insight, instructions, memories, people
from langmem_plugin.web.api import privacy_and_export as privacy
from langmem_plugin.web.api.error_responses import Problem, told
from langmem_plugin.web.app_context import root_of
from langmem_plugin.web.look.page_templates import Pages

_ROUTERS: tuple[APIRouter, ...] = (
    memories.routes,
    memories.search_routes,
    categories.routes,
    insight.routes,
    conversations.extraction_routes,
    privacy.export_routes,
    memories.by_id,
    instructions.routes,
    memories.confirmation_routes,
    privacy.consent_routes,
    privacy.erasure_routes,
    conversations.routes,
    people.routes,
    conversations.chat_routes,
)
_METHODS = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]
_DEEPEST = 6


def add_api(app: FastAPI) -> None:
    """Add the API to an application that has what it serves in `app.state.served`."""
    app.state.api_rates = Rates()
    for each in _ROUTERS:
        app.router.routes.extend(each.routes)
    _describe(app)
    app.add_api_route("/api/{path:path}", _nothing_here, methods=_METHODS, include_in_schema=False)
    for kind in (LangMemError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, told)


async def _nothing_here(request: Request) -> Response:
    """Refuse a request that no route takes: the path does not exist, or does not have the method."""
    allowed: set[str] = set()
    for route in (route for router in _ROUTERS for route in router.routes):
        match, _ = route.matches(request.scope)
        if match is Match.PARTIAL:
            allowed |= getattr(route, "methods", set())
    if allowed:
        raise HTTPException(405, f"use {' or '.join(sorted(allowed))}", {"allow": ", ".join(sorted(allowed))})
    raise HTTPException(404, "look at the path: /api/openapi.json describes those that there are")


def _describe(app: FastAPI) -> None:
    """Add the schemas that routes refer to by name, and a page at /api/docs, open to everybody as the document is."""
    described, pages = app.openapi, Pages(Path(__file__).parent / "templates")

    def openapi() -> dict[str, Any]:
        document = described()
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        if "Problem" not in schemas:
            problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas |= problem.pop("$defs", {}) | {"Problem": problem}
        return document

    def show(request: Request) -> Response:
        document = app.openapi()
        routes: dict[str, list[dict[str, Any]]] = {}
        for path, methods in document["paths"].items():
            for method, each in methods.items():
                routes.setdefault(each["tags"][0], []).append(_route(document, path, method, each, root_of(request)))
        return pages.page(request, "docs.html", document=document, routes=routes)

    app.openapi = openapi  # type: ignore[method-assign]
    app.add_route("/api/docs", show, include_in_schema=False)


def _route(document: Mapping[str, Any], path: str, method: str, each: Mapping[str, Any], root: str) -> dict[str, Any]:
    body = each.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    sent = None if body is None else example_of(document, body)
    done: dict[str, Any] = next((each for status, each in each["responses"].items() if status.startswith("2")), {})
    answer = done.get("content", {}).get("application/json", {}).get("schema")
    shell = [f"curl -X {method.upper()} {root}{path}", "  -H 'Authorization: Bearer TOKEN'"]
    shell += [] if sent is None else ["  -H 'Content-Type: application/json'", f"  -d '{_spelled(sent, None)}'"]
    return {
        **each,
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
    each = [*schema.get("examples", ()), *schema.get("enum", ()), schema.get("const"), schema.get("default")]
    if (value := next((each for each in each if each is not None), None)) is not None:
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
