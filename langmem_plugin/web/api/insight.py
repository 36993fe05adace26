"""The numbers of the memories, and the memories worth a look."""

import datetime as dt
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from langmem_plugin.insight.analytics import ExtractionFigures, Summary
from langmem_plugin.insight.recommendations import Recommendation
from langmem_plugin.web.api.calls import PERSON_HEADER, Called
from langmem_plugin.web.api.fields import Told
from langmem_plugin.web.api.routing import Answer, answer, routes_of

routes = routes_of("insight")


class DayOfGrowth(Told):
    date: dt.date
    cumulative_count: int
    new_memories: int
    by_source: dict[str, int]


class Share(Told):
    count: int
    percentage: float


class CategoryShare(Share):
    category: str


class TypeShare(Share):
    fact_type: str


class SourceShare(Share):
    source_type: str


class StatusShare(Share):
    status: str


class UsedMemory(Told):
    memory_id: str
    fact: str | None = Field(default=None, description="not there where everybody is asked about")
    access_count: int
    last_accessed: dt.datetime | None
    injected: int
    cited: int
    viewed: int
    edited: int
    effectiveness: float | None = Field(description="of the replies it was shown for, the part that cited it")


class UsageStats(Told):
    most_accessed_memories: list[UsedMemory]
    recently_accessed: list[UsedMemory]


class Analytics(Told):
    generated_at: dt.datetime
    summary: Summary
    growth_trend: list[DayOfGrowth]
    category_distribution: list[CategoryShare]
    fact_type_distribution: list[TypeShare]
    source_distribution: list[SourceShare]
    status_distribution: list[StatusShare]
    usage_stats: UsageStats
    extraction: ExtractionFigures


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
    """What of the memories is worth a look: unused, said twice, out of date, or unsure."""
    return {"recommendations": call.memory.insight.recommendations(call.reads("recommendations"))}
