"""Names that mean the same to a person when they ask: learnt from what they said, or added."""

from datetime import datetime
from typing import Self

from pydantic import BaseModel, Field

from langmem_plugin.memory.keep.aliases import Alias, Source
from langmem_plugin.web.api.calls import Called
from langmem_plugin.web.api.fields import Body, Id, Text
from langmem_plugin.web.api.routing import Answered, Routes

routes = Routes("aliases")
PATH = "/api/aliases"


class KnownAlias(BaseModel):
    id: str
    alias: str
    name: str
    source: Source
    learnt_from: str | None
    is_active: bool
    created_at: datetime

    @classmethod
    def of(cls, held: Alias) -> Self:
        same = {each: getattr(held, each) for each in ("id", "alias", "name", "source", "learnt_from", "created_at")}
        return cls(is_active=held.active, **same)


class Aliases(BaseModel):
    aliases: list[KnownAlias]


class OneAlias(BaseModel):
    alias: KnownAlias


class NewAlias(Body):
    alias: Text = Field(examples=["k8s"])
    name: Text = Field(examples=["Kubernetes"])


@routes.get(PATH)
def list_aliases(call: Called, active_only: bool = True) -> Aliases:
    """List the names that are taken for each other, the first learnt first."""
    owner = call.reads("aliases")
    held = call.service.aliases.list_aliases(owner, include_removed=not active_only)
    return Aliases(aliases=[KnownAlias.of(each) for each in held])


@routes.post(PATH, statuses=(201,))
def create_alias(call: Called, new: NewAlias) -> Answered[OneAlias]:
    """Take two names for each other; one that is there already, or was removed, counts again."""
    made = call.service.aliases.add(call.person(), new.alias, new.name)
    return Answered(OneAlias(alias=KnownAlias.of(made)), status=201)


@routes.delete(PATH + "/{alias_id}")
def remove_alias(call: Called, alias_id: Id) -> OneAlias:
    """It counts no more, and is not learnt again from the same words."""
    return OneAlias(alias=KnownAlias.of(call.service.aliases.remove(call.person(), alias_id)))
