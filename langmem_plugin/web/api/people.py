"""The people: for operators everybody, for a person what is known of themselves."""

from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import Field

from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers import masked
from langmem_plugin.people.people_listing import everybody, how_many
from langmem_plugin.portability.document_exporter import Holdings
from langmem_plugin.web.api.fields import Cursor, Limit, Offset, Told
from langmem_plugin.web.api.privacy_and_export import Permitted
from langmem_plugin.web.api.request_context import Call, Called, CalledByOperator
from langmem_plugin.web.api.routing_and_envelope import PAGED, answer, routes_of, tell_place
from langmem_plugin.web.sealed_person_addresses import PersonRefs

routes = routes_of("people")
_Reveal = Annotated[bool, Query(description="phones whole instead of masked; for an operator that is noted")]


class Person(Told):
    key: str
    identifiers: list[str] = Field(description="the key first")
    stored: Holdings


class KnownPerson(Person):
    time_zone: str
    language: Literal["en", "he", "es"]
    consent: Permitted


@routes.get("/api/people", response_model=answer(people=list[Person], total=int | None), responses=PAGED)
def list_people(
    call: CalledByOperator, reveal: _Reveal = False, limit: Limit = 50, offset: Offset = 0, cursor: Cursor = None
) -> Any:
    """List everybody of whom something is stored, by their keys; groups too. For operators.

    The total is null where there are more than 1,000; the links lead on.
    """
    call.note("operator.read", None, "people, revealed" if reveal else "people")
    refs = PersonRefs(call.memory.database)
    behind = None if cursor is None else refs.person(cursor)
    if cursor is not None and behind is None:
        raise InvalidInput("this cursor is none of this list: begin it again")
    with call.memory.database.read() as connection:
        keys = everybody(connection, after=behind or "", limit=limit + 1, offset=offset)
        total = how_many(connection)
    after = refs.ref(keys[limit - 1]) if len(keys) > limit else None
    tell_place(call, total=total, limit=limit, offset=offset, after=after)
    return {"people": [_person(call, each, reveal=reveal) for each in keys[:limit]], "total": total}


@routes.get("/api/person", response_model=answer(person=KnownPerson))
def read_person(call: Called, reveal: _Reveal = False) -> Any:
    """Whom the token or the header names: identifiers, settings, consent, and how much is stored."""
    owner, people = call.reads("person, revealed" if reveal else "person"), call.memory.people
    settings = {
        "time_zone": people.time_zone(owner).key,
        "language": people.language(owner),
        "consent": call.memory.consent.of(owner),
    }
    return {"person": _person(call, owner, reveal=reveal) | settings}


def _person(call: Call, key: str, *, reveal: bool) -> dict[str, Any]:
    shown = [each if reveal else masked(each) for each in (key, *call.memory.people.identifiers(key))]
    return {"key": shown[0], "identifiers": shown[1:], "stored": call.memory.exporter.holdings(key)}
