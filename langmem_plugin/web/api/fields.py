"""The kinds of values in requests: bounded, and without characters that a database cannot store."""

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

from langmem_plugin.facts import FactType
from langmem_plugin.memory.memory_types import storable

MOST_LISTED = 500
"""The least relevance: a text that shares no word with a query is below it."""
_LONGEST_TEXT, _LONGEST_QUERY, _LONGEST_NAME, _LONGEST_ID = 4_000, 2_000, 200, 200
_MOST_TAGS = 50
_FIRST, _LAST = 1900, 9000  # years; beyond them an instant cannot be written in every time zone


def _of_letters(text: str) -> str:
    if storable(text) != text:
        raise ValueError("holds a NUL or half a character, which no database stores")
    return text


def _of_our_time(instant: datetime) -> datetime:
    if not _FIRST <= instant.year <= _LAST:
        raise ValueError(f"the year is from {_FIRST} to {_LAST}")
    return instant.astimezone(UTC)


Text = Annotated[str, Field(min_length=1, max_length=_LONGEST_TEXT), AfterValidator(_of_letters)]
Name = Annotated[str, Field(min_length=1, max_length=_LONGEST_NAME), AfterValidator(_of_letters)]
Tags = Annotated[list[Name], Field(max_length=_MOST_TAGS)]
Instant = Annotated[AwareDatetime, AfterValidator(_of_our_time)]
Confidence = Annotated[float, Field(ge=0, le=1)]
Id = Annotated[str, Path(max_length=_LONGEST_ID), AfterValidator(_of_letters)]
IdInBody = Annotated[str, Field(min_length=1, max_length=_LONGEST_ID), AfterValidator(_of_letters)]
Words = Annotated[str, Field(max_length=_LONGEST_QUERY), AfterValidator(_of_letters)]
NamesInQuery = Annotated[list[Name] | None, Query(max_length=_MOST_TAGS)]
TypesInQuery = Annotated[list[FactType] | None, Query(max_length=20)]
From = Annotated[Instant | None, Query(alias="from")]
To = Annotated[Instant | None, Query(alias="to", description="not included")]
Relevance = Annotated[float, Query(ge=0, le=1)]
MostFound = Annotated[int, Query(ge=1, le=100)]
Limit = Annotated[int, Query(ge=1, le=MOST_LISTED)]
Offset = Annotated[int, Query(ge=0, le=10_000_000)]
Cursor = Annotated[
    str | None,
    Query(
        max_length=2_000,
        description="as `Link` gave it for the next part, instead of offset: what comes and goes moves nothing",
    ),
]


class Body(BaseModel):
    """A field that is not known is a mistake: nothing is lost unnoticed."""

    model_config = ConfigDict(extra="forbid")

    def changes(self, *emptied: str) -> dict[str, Any]:
        """The fields that were sent, by our own names, without those that are null, unless they can be `emptied`."""
        named = self.model_dump(exclude_unset=True)
        return {name: value for name, value in named.items() if value is not None or name in emptied}


class Told(BaseModel):
    """A thing of ours as programs are given it."""

    model_config = ConfigDict(from_attributes=True)
