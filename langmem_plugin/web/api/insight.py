"""The numbers of the memories, and the memories worth a look."""

from typing import Annotated, Any, Literal

from fastapi import Query
from starlette.responses import Response

from langmem_plugin.insight.memory_analytics import Analytics
from langmem_plugin.insight.recommendations import Recommendation
from langmem_plugin.web.api.request_context import PERSON_HEADER, Called
from langmem_plugin.web.api.routing_and_envelope import Answer, answer, routes_of

routes = routes_of("insight")


@routes.get(
    "/api/memory/analytics",
    response_model=Answer[Analytics],
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
)
def read_analytics(
    call: Called,
    days: Annotated[int, Query(ge=1, le=366, description="of growth")] = 30,
    form: Annotated[Literal["json", "csv"], Query(alias="format")] = "json",
) -> Any:
    """The person's memories in numbers; for an operator who names nobody everybody's, and then without any text."""
    is_of_all = call.caller.is_operator and PERSON_HEADER not in call.request.headers
    if is_of_all:
        call.note("operator.read", None, "analytics")
    found = call.memory.insight.analytics(None if is_of_all else call.reads("analytics"), days=days)
    if form == "csv":
        name = {"content-disposition": 'attachment; filename="langmem-analytics.csv"'}
        return Response(found.to_csv(), headers=name, media_type="text/csv")
    return found.to_dict()


@routes.get("/api/memory/recommendations", response_model=answer(recommendations=list[Recommendation]))
def list_recommendations(call: Called) -> Any:
    """List the memories that are worth a look: unused, said twice, out of date, or unsure."""
    return {"recommendations": call.memory.insight.recommendations(call.reads("recommendations"))}
