"""A person's names: a tree of categories with colours, and words that mean the same when they ask."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.keep.aliases import Source
from langmem_plugin.memory.keep.categories import DEFAULT_COLOR, named, spellings
from langmem_plugin.memory.models import plain
from langmem_plugin.web.api.calls import Call, Called
from langmem_plugin.web.api.fields import Body, Id, IdInBody, Name, Text, Told
from langmem_plugin.web.api.idempotency import IdempotencyKey, once
from langmem_plugin.web.api.routing import answer, gives, routes_of

routes, alias_routes = routes_of("categories"), routes_of("aliases")
PATH, ALIASES = "/api/memory/categories", "/api/aliases"
_Color = Annotated[str, Field(pattern="^#[0-9a-fA-F]{6}$", examples=[DEFAULT_COLOR])]


class MemoryCategory(Told):
    id: str = Field(validation_alias="category_id")
    name: str
    color: str
    description: str | None
    parent_category_id: str | None = Field(validation_alias="parent_id")
    created_at: datetime


class CategoryFigures(Told):
    category_id: str | None = Field(description="null for a name that memories have and no category is made for")
    name: str
    memory_count: int
    last_used: datetime | None


class NewCategory(Body):
    name: Name = Field(examples=["Family"])
    color: _Color = DEFAULT_COLOR
    description: Text | None = None
    parent_id: IdInBody | None = Field(default=None, alias="parent_category_id")


class ChangedCategory(Body):
    """The changes; all that is not named stays as it is."""

    name: Name | None = None
    color: _Color | None = None
    description: Text | None = None
    parent_id: IdInBody | None = Field(default=None, alias="parent_category_id", description="null puts it at the top")


@routes.get(
    PATH,
    response_model=answer(
        categories=Annotated[list[MemoryCategory], Field(description="as a tree is read: each, then what is below it")],
        category_stats=list[CategoryFigures],
    ),
)
def list_categories(call: Called) -> Any:
    """List the categories, with how many active memories each has."""
    owner, categories = call.reads("categories"), call.service.categories
    held = categories.list_categories(owner)
    figures = []
    for name, (many, used) in categories.counts(owner).items():
        of = named(held, name)
        category_id = None if of is None else of.category_id
        figures.append({"category_id": category_id, "name": name, "memory_count": many, "last_used": used})
    return {"categories": held, "category_stats": figures}


@routes.post(PATH, response_model=answer(category=MemoryCategory), status_code=201, responses={201: gives("Location")})
def create_category(call: Called, new: NewCategory, key: IdempotencyKey = "") -> Any:
    """Make a category; memories that have its name already are in it."""

    def make() -> Any:
        made = call.service.categories.create(call.person(), **new.model_dump())
        call.made_at(f"{PATH}/{made.category_id}")
        return {"category": made}

    return once(call, key, new, make)


@routes.patch(PATH + "/{category_id}", response_model=answer(category=MemoryCategory))
def change_category(call: Called, category_id: Id, changed: ChangedCategory) -> Any:
    """Change what is named of a category; with another name its memories have that too."""
    changes = changed.changes("description", "parent_id")
    return {"category": call.service.categories.update(call.person(), category_id, **changes)}


@routes.delete(PATH + "/{category_id}", response_model=answer(deleted_id=str))
def delete_category(call: Called, category_id: Id) -> Any:
    """Delete a category; what is below it, and its memories, move up."""
    call.service.categories.delete(call.person(), category_id)
    return {"deleted_id": category_id}


def spelled(call: Call, owner: OwnerKey, names: list[str]) -> list[str]:
    """The names that memories have for these categories and those below them, in any letter case.

    If there are none, return the names as they are, which then match nothing.
    """
    categories = call.service.categories
    wanted = {each for name in names for each in categories.under(owner, name)}
    with call.memory.database.read() as connection:
        found = [each for each in spellings(connection, owner).values() if plain(each) in wanted]
    return found or names


class KnownAlias(Told):
    id: str
    alias: str
    name: str
    source: Source
    learnt_from: str | None
    is_active: bool = Field(validation_alias="active")
    created_at: datetime


class NewAlias(Body):
    alias: Text = Field(examples=["k8s"])
    name: Text = Field(examples=["Kubernetes"])


@alias_routes.get(ALIASES, response_model=answer(aliases=list[KnownAlias]))
def list_aliases(call: Called, active_only: bool = True) -> Any:
    """List the names that are taken for each other, the first learnt first."""
    owner = call.reads("aliases")
    return {"aliases": call.service.aliases.list_aliases(owner, include_removed=not active_only)}


@alias_routes.post(ALIASES, response_model=answer(alias=KnownAlias), status_code=201)
def create_alias(call: Called, new: NewAlias, key: IdempotencyKey = "") -> Any:
    """Take two names for each other; one that is there already, or was removed, counts again."""
    return once(call, key, new, lambda: {"alias": call.service.aliases.add(call.person(), new.alias, new.name)})


@alias_routes.delete(ALIASES + "/{alias_id}", response_model=answer(alias=KnownAlias))
def remove_alias(call: Called, alias_id: Id) -> Any:
    """It counts no more, and is not learnt again from the same words."""
    return {"alias": call.service.aliases.remove(call.person(), alias_id)}
