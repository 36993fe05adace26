"""The people: for operators everybody, for a person what is known of themselves."""

from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import Field

from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.people.everybody import everybody, how_many
from langmem_plugin.portability.exporter import Holdings
from langmem_plugin.web.api.calls import Call, Called, CalledByOperator, CalledByOperatorAbout
from langmem_plugin.web.api.fields import Body, Cursor, IdInBody, Limit, Name, Offset, Told
from langmem_plugin.web.api.privacy import Permitted
from langmem_plugin.web.api.routing import PAGED, answer, routes_of, tell_place
from langmem_plugin.web.person_refs import PersonRefs

routes = routes_of("people")
_Reveal = Annotated[bool, Query(description="phones whole instead of masked; for an operator that is noted")]
_Identifier = Annotated[
    IdInBody, Field(description="a phone or any other, in any spelling", examples=["telegram:4242"])
]
_Merge = answer(
    merge_id=Annotated[str | None, Field(description="takes it back by /api/people/undo; null where nothing moved")]
)


class Person(Told):
    key: str
    identifiers: list[str] = Field(description="the key first")
    stored: Holdings


class KnownPerson(Person):
    time_zone: str
    language: Literal["en", "he", "es"]
    consent: Permitted


class NewSettings(Body):
    """The changes; all that is not named stays as it is."""

    time_zone: Name | None = Field(default=None, examples=["Asia/Jerusalem"])
    language: Literal["en", "he", "es"] | None = None


class Linking(Body):
    identifier: _Identifier


class Merging(Body):
    other: _Identifier


class Undoing(Body):
    merge_id: IdInBody


@routes.get("/api/people", response_model=answer(people=list[Person], total=int), responses=PAGED)
def list_people(
    call: CalledByOperator, reveal: _Reveal = False, limit: Limit = 50, offset: Offset = 0, cursor: Cursor = None
) -> Any:
    """List everybody of whom something is stored, by their keys; groups too. For operators."""
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
    return _known(call, call.reads("person, revealed" if reveal else "person"), reveal=reveal)


@routes.patch("/api/person", response_model=answer(person=KnownPerson))
def change_person(call: Called, wanted: NewSettings) -> Any:
    """Set the person's time zone or language."""
    owner, people = call.person(), call.memory.people
    if wanted.time_zone is not None:
        people.set_time_zone(owner, wanted.time_zone)
    if wanted.language is not None:
        people.set_language(owner, wanted.language)
    return _known(call, owner, reveal=False)


@routes.post("/api/people/link", response_model=_Merge)
def link_identifier(call: CalledByOperatorAbout, wanted: Linking) -> Any:
    """From now on the identifier is the person that the header names, who has all that it had. For operators."""
    people = call.memory.people
    return {"merge_id": people.link(call.identifier, people.typed(wanted.identifier))}


@routes.post("/api/people/unlink", response_model=_Merge)
def unlink_identifier(call: CalledByOperator, wanted: Linking) -> Any:
    """The identifier is a person of its own again; what was said and remembered stays where it is. For operators."""
    return {"merge_id": call.memory.people.unlink(wanted.identifier)}


@routes.post("/api/people/merge", response_model=_Merge)
def merge_people(call: CalledByOperatorAbout, wanted: Merging) -> Any:
    """The person that the header names and another are one, who has all that both had. For operators."""
    people = call.memory.people
    return {"merge_id": people.merge(call.identifier, people.typed(wanted.other))}


@routes.post("/api/people/undo", response_model=_Merge)
def undo_merge(call: CalledByOperator, wanted: Undoing) -> Any:
    """Two people again: what moved goes back. For operators."""
    call.memory.people.undo(wanted.merge_id)
    return {"merge_id": None}


def _known(call: Call, owner: OwnerKey, *, reveal: bool) -> Any:
    people = call.memory.people
    settings = {
        "time_zone": people.time_zone(owner).key,
        "language": people.language(owner),
        "consent": call.memory.consent.of(owner),
    }
    return {"person": _person(call, owner, reveal=reveal) | settings}


def _person(call: Call, key: str, *, reveal: bool) -> dict[str, Any]:
    shown = [each if reveal else masked(each) for each in (key, *call.memory.people.identifiers(key))]
    return {"key": shown[0], "identifiers": shown[1:], "stored": call.memory.exporter.holdings(key)}
