"""Whether the service can do its work, for whatever watches over it: yes or no, and nothing else."""

from anyio import to_thread
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from langmem_plugin.errors import StoreUnavailable
from langmem_plugin.web.api.problems import MEDIA_TYPE, problem_of
from langmem_plugin.web.served import Served

router = APIRouter(tags=["health"])


@router.get(
    "/api/health",
    operation_id="health",
    summary="Whether the database answers",
    response_class=Response,
    responses={
        200: {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Health"}}}},
        503: {"content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}, "description": "no"},
    },
)
async def health(request: Request) -> Response:
    """Without a token."""
    try:
        await to_thread.run_sync(_ask, request.app.state.served, limiter=request.app.state.api_health)
    except StoreUnavailable as error:
        response = problem_of(error, request)
        assert response is not None  # noqa: S101 - it is one of ours
        return response
    return Response('{"success":true,"data":{"status":"ok"}}', media_type="application/json")


def _ask(served: Served) -> None:
    served.memory.database.ask()
