"""Who is who: for operators everybody, for a person what is known of themselves."""

from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import Query
from pydantic import BaseModel, Field

from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.people.everybody import everybody, how_many
from langmem_plugin.web.api.calls import Call, Called, CalledByOperator
from langmem_plugin.web.api.consent import Permitted
from langmem_plugin.web.api.fields import Body, IdInBody, Limit, Name, Offset
from langmem_plugin.web.api.paging import PAGED, Cursor, links
from langmem_plugin.web.api.routing import Answered, Routes
from langmem_plugin.web.person_refs import PersonRefs

routes = Routes("people")
_Reveal = Annotated[bool, Query(description="phones whole instead of masked; for an operator that is noted")]
_Identifier = Annotated[
    IdInBody, Field(description="a phone or any other, in any spelling", examples=["telegram:4242"])
]


class Holdings(BaseModel):
    """How much is stored of a person."""

    sessions: int
    messages: int
    files: int
    memories: int
    pending: int
    instructions: int
    others: int


class Person(BaseModel):
    key: str
    identifiers: list[str] = Field(description="the key first")
    stored: Holdings


class People(BaseModel):
    people: list[Person]
    total: int


class KnownPerson(Person):
    time_zone: str
    language: Literal["en", "he", "es"]
    consent: Permitted


class OnePerson(BaseModel):
    person: KnownPerson


class NewSettings(Body):
    """What is not named stays as it is."""

    time_zone: Name | None = Field(default=None, examples=["Asia/Jerusalem"])
    language: Literal["en", "he", "es"] | None = None


class Linking(Body):
    identifier: _Identifier


class Merging(Body):
    other: _Identifier


class Undoing(Body):
    merge_id: IdInBody


class Linked(BaseModel):
    merge_id: str | None = Field(description="takes it back by /api/people/undo; null where nothing moved")


@routes.get("/api/people", gives=PAGED)
def list_people(
    call: CalledByOperator, reveal: _Reveal = False, limit: Limit = 50, offset: Offset = 0, cursor: Cursor = None
) -> Answered[People]:
    """List everybody of whom something is stored, by their keys; groups too. For operators."""
    call.only_operators()
    call.note("operator.read", None, "people, revealed" if reveal else "people")
    refs = PersonRefs(call.memory.database)
    behind = None if cursor is None else refs.person(cursor)
    if cursor is not None and behind is None:
        raise InvalidInput("this cursor is none of this list: begin it again")
    with call.memory.database.read() as connection:
        keys = everybody(connection, after=behind or "", limit=limit + 1, offset=offset)
        total = how_many(connection)
    people = [_person(call, each, reveal=reveal) for each in keys[:limit]]
    after = refs.ref(keys[limit - 1]) if len(keys) > limit else None
    headers = links(call, total=total, limit=limit, offset=offset, after=after)
    return Answered(People(people=people, total=total), headers=headers)


@routes.get("/api/person")
def read_person(call: Called, reveal: _Reveal = False) -> OnePerson:
    """Whom the token or the header names: identifiers, settings, consent, and how much is stored."""
    return _known(call, call.reads("person, revealed" if reveal else "person"), reveal=reveal)


@routes.patch("/api/person")
def change_person(call: Called, wanted: NewSettings) -> OnePerson:
    """Set the person's time zone or language."""
    owner = call.person()
    if wanted.time_zone is not None:
        call.memory.people.set_time_zone(owner, wanted.time_zone)
    if wanted.language is not None:
        call.memory.people.set_language(owner, wanted.language)
    return _known(call, owner, reveal=False)


@routes.post("/api/people/link")
def link_identifier(call: Called, wanted: Linking) -> Linked:
    """From now on the identifier is the person that the header names, who has all that it had. For operators."""
    call.only_operators()
    return Linked(merge_id=call.memory.people.link(call.identifier, call.memory.people.typed(wanted.identifier)))


@routes.post("/api/people/unlink")
def unlink_identifier(call: CalledByOperator, wanted: Linking) -> Linked:
    """The identifier is a person of its own again; what was said and remembered stays where it is. For operators."""
    call.only_operators()
    return Linked(merge_id=call.memory.people.unlink(wanted.identifier))


@routes.post("/api/people/merge")
def merge_people(call: Called, wanted: Merging) -> Linked:
    """The person that the header names and another are one, who has all that both had. For operators."""
    call.only_operators()
    return Linked(merge_id=call.memory.people.merge(call.identifier, call.memory.people.typed(wanted.other)))


@routes.post("/api/people/undo")
def undo_merge(call: CalledByOperator, wanted: Undoing) -> Linked:
    """Two people again: what moved goes back. For operators."""
    call.only_operators()
    call.memory.people.undo(wanted.merge_id)
    return Linked(merge_id=None)


def _known(call: Call, owner: OwnerKey, *, reveal: bool) -> OnePerson:
    people, found = call.memory.people, _person(call, owner, reveal=reveal)
    return OnePerson(
        person=KnownPerson(
            key=found.key,
            identifiers=found.identifiers,
            stored=found.stored,
            time_zone=people.time_zone(owner).key,
            language=people.language(owner),
            consent=Permitted.of(call.memory.consent.of(owner)),
        )
    )


def _person(call: Call, key: str, *, reveal: bool) -> Person:
    def shown(identifier: str) -> str:
        return identifier if reveal else masked(identifier)

    return Person(
        key=shown(key),
        identifiers=[shown(each) for each in call.memory.people.identifiers(key)],
        stored=Holdings(**asdict(call.memory.exporter.holdings(key))),
    )
