"""A person's categories: a tree with colours, and how many memories each has."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from langmem_plugin.memory.keep.categories import DEFAULT_COLOR, named
from langmem_plugin.web.api.fields import Body, IdInBody, Name, Text, Told
from langmem_plugin.web.api.idempotency import IdempotencyKey, once
from langmem_plugin.web.api.request_context import Called
from langmem_plugin.web.api.routing_and_envelope import answer, routes_of

routes = routes_of("categories")
PATH = "/api/memory/categories"
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


@routes.post(PATH, response_model=answer(category=MemoryCategory), status_code=201)
def create_category(call: Called, new: NewCategory, key: IdempotencyKey = "") -> Any:
    """Make a category; memories that have its name already are in it."""
    return once(call, key, new, lambda: {"category": call.service.categories.create(call.person(), **new.model_dump())})
