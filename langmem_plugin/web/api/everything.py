"""All routes of the API in one application, with their description."""

from typing import Any

from anyio import CapacityLimiter
from fastapi import APIRouter, FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from langmem_plugin.people.request_rates import Rates
from langmem_plugin.web.api import (
    aliases,
    bulk,
    categories,
    chat,
    confirmations,
    consent,
    erasure,
    exporting,
    extraction,
    insight,
    instructions,
    memories,
    people,
    said,
    search,
    sessions,
    tags,
)
from langmem_plugin.web.api.docs import add_docs
from langmem_plugin.web.api.problems import Problem, problem_of
from langmem_plugin.web.api.routing import THREADS

_ROUTERS: tuple[APIRouter, ...] = (
    memories.routes.router,
    search.routes.router,
    tags.routes.router,
    bulk.routes.router,
    categories.routes.router,
    insight.routes.router,
    extraction.routes.router,
    exporting.routes.router,
    memories.add_routes_by_id().router,
    instructions.routes.router,
    aliases.routes.router,
    confirmations.routes.router,
    consent.routes.router,
    erasure.routes.router,
    said.routes.router,
    sessions.routes.router,
    people.routes.router,
    chat.routes.router,
)
_METHODS = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]


def add_api(app: FastAPI) -> None:
    """`app.state.served` is what it serves."""
    app.state.api_rates = Rates()
    app.state.api_threads = CapacityLimiter(THREADS)
    for each in _ROUTERS:
        app.router.routes.extend(each.routes)
    add_docs(app)
    app.add_api_route("/api/{path:path}", _nothing_here, methods=_METHODS, include_in_schema=False)
    app.add_exception_handler(HTTPException, _elsewhere)
    _describe(app)


async def _nothing_here(request: Request) -> Response:
    """Answers a request that no route takes: the path is not there, or it does not have the method."""
    allowed: set[str] = set()
    for router in _ROUTERS:
        for route in router.routes:
            match, _ = route.matches(request.scope)
            if match is Match.PARTIAL:
                allowed |= getattr(route, "methods", set())
    error = (
        HTTPException(405, f"use {' or '.join(sorted(allowed))}", {"allow": ", ".join(sorted(allowed))})
        if allowed
        else HTTPException(404, "look at the path: /api/openapi.json describes those that there are")
    )
    response = problem_of(error, request)
    assert response is not None  # noqa: S101 - it is an HTTPException
    return response


async def _elsewhere(request: Request, error: Exception) -> Response:
    """Answers a refusal outside of /api, in the same form that programs get within."""
    response = problem_of(error, request)
    assert response is not None  # noqa: S101 - it is an HTTPException
    return response


def _describe(app: FastAPI) -> None:
    """Adds what routes refer to by name."""
    described = app.openapi

    def openapi() -> dict[str, Any]:
        document = described()
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        if "Problem" not in schemas:
            problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas |= problem.pop("$defs", {}) | {"Problem": problem}
        return document

    app.openapi = openapi  # type: ignore[method-assign]
