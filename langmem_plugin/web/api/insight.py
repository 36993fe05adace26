"""The numbers of the memories, the memories worth a look, and the state of the service."""

import datetime as dt
from typing import Annotated, Literal

from fastapi import Query
from pydantic import BaseModel, Field
from starlette.responses import Response

from langmem_plugin.web.api.calls import PERSON_HEADER, Called, CalledByOperator
from langmem_plugin.web.api.routing import Answered, Routes

routes = Routes("insight")


class Summary(BaseModel):
    """In every state but forgotten; the shares below it are of the same."""

    total_memories: int
    active_memories: int
    pending_memories: int
    expired_memories: int
    memories_this_week: int
    memories_this_month: int
    high_confidence: int
    strategic_memories: int
    private_memories: int
    avg_confidence: float | None
    unique_categories: int
    people: int


class DayOfGrowth(BaseModel):
    date: dt.date
    cumulative_count: int
    new_memories: int
    by_source: dict[str, int]


class Share(BaseModel):
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


class UsedMemory(BaseModel):
    memory_id: str
    fact: str | None = Field(default=None, description="not there where everybody is asked about")
    access_count: int
    last_accessed: dt.datetime | None
    injected: int
    cited: int
    viewed: int
    edited: int
    effectiveness: float | None = Field(description="of the replies it was shown for, the part that cited it")


class UsageStats(BaseModel):
    most_accessed_memories: list[UsedMemory]
    recently_accessed: list[UsedMemory]


class ExtractionFigures(BaseModel):
    approval_rate: float | None
    asked: int
    confirmed: int
    declined: int
    lapsed: int
    automatic_share: float | None


class Analytics(BaseModel):
    generated_at: dt.datetime
    summary: Summary
    growth_trend: list[DayOfGrowth]
    category_distribution: list[CategoryShare]
    fact_type_distribution: list[TypeShare]
    source_distribution: list[SourceShare]
    status_distribution: list[StatusShare]
    usage_stats: UsageStats
    extraction: ExtractionFigures


class Recommendation(BaseModel):
    """Nothing is changed by it."""

    kind: str = Field(examples=["duplicate"])
    memory_ids: list[str] = Field(description="of duplicates the first is the one to keep")
    sentence: str
    proposal: str


class Recommendations(BaseModel):
    recommendations: list[Recommendation]


class Operation(BaseModel):
    """`ok`: no threshold for it is passed."""

    operation: str
    count: int
    success_rate: float
    average_ms: float
    p50_ms: float
    p95_ms: float
    threshold_ms: float | None
    ok: bool


class Performance(BaseModel):
    operations: list[Operation]


@routes.get(
    "/api/memory/analytics",
    also={"text/csv": {"schema": {"type": "string"}}},
)
def read_analytics(
    call: Called,
    days: Annotated[int, Query(ge=1, le=366, description="of growth")] = 30,
    form: Annotated[Literal["json", "csv"], Query(alias="format")] = "json",
) -> Answered[Analytics]:
    """The person's memories in numbers; for an operator who names nobody everybody's, and then without any text."""
    is_of_all = call.caller.is_operator and PERSON_HEADER not in call.request.headers
    if is_of_all:
        call.note("operator.read", None, "analytics")
    found = call.memory.insight.analytics(None if is_of_all else call.reads("analytics"), days=days)
    if form == "csv":
        name = {"content-disposition": 'attachment; filename="langmem-analytics.csv"'}
        return Response(  # type: ignore[return-value] # which the description says beside the other
            found.to_csv(), headers=name, media_type="text/csv"
        )
    return Answered(Analytics.model_validate(found.to_dict()))


@routes.get("/api/memory/recommendations")
def list_recommendations(call: Called) -> Recommendations:
    """What of the memories is worth a look: unused, said twice, out of date, or unsure."""
    found = call.memory.insight.recommendations(call.reads("recommendations"))
    return Recommendations.model_validate({"recommendations": [each.to_dict() for each in found]})


@routes.get("/api/performance")
def read_performance(call: CalledByOperator, hours: Annotated[int, Query(ge=1, le=168)] = 24) -> Performance:
    """How long the memory's verbs took and how often they failed, in all processes. For operators."""
    call.only_operators()
    found = call.memory.insight.performance(hours=hours)
    return Performance.model_validate({"operations": [each.to_dict() for each in found]})
