"""A person's own categories: a tree of names with colours, and how many memories are in each."""

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field

from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.keep.categories import DEFAULT_COLOR, Category, CategoryChanges, named, spellings
from langmem_plugin.memory.models import plain
from langmem_plugin.web.api.calls import Call, Called
from langmem_plugin.web.api.fields import Body, Id, IdInBody, Name, Text
from langmem_plugin.web.api.routing import Answered, Routes
from langmem_plugin.web.served import root_of

routes = Routes("categories")
PATH = "/api/memory/categories"
_Color = Annotated[str, Field(pattern="^#[0-9a-fA-F]{6}$", examples=[DEFAULT_COLOR])]
_FIELDS = {"name": "name", "color": "color", "description": "description", "parent_category_id": "parent_id"}


class MemoryCategory(BaseModel):
    id: str
    name: str
    color: str
    description: str | None
    parent_category_id: str | None
    created_at: datetime

    @classmethod
    def of(cls, held: Category) -> Self:
        renamed = {name: getattr(held, ours) for name, ours in _FIELDS.items()}
        return cls(id=held.category_id, created_at=held.created_at, **renamed)


class CategoryFigures(BaseModel):
    category_id: str | None = Field(description="null for a name that memories have and no category is made for")
    name: str
    memory_count: int
    last_used: datetime | None


class AllCategories(BaseModel):
    categories: list[MemoryCategory] = Field(description="as a tree is read: each, then what is below it")
    category_stats: list[CategoryFigures]


class OneCategory(BaseModel):
    category: MemoryCategory


class NewCategory(Body):
    name: Name = Field(examples=["Family"])
    color: _Color = DEFAULT_COLOR
    description: Text | None = None
    parent_category_id: IdInBody | None = None


class ChangedCategory(Body):
    """What is not named stays as it is."""

    name: Name | None = None
    color: _Color | None = None
    description: Text | None = None
    parent_category_id: IdInBody | None = Field(default=None, description="null puts it at the top")


class DeletedCategory(BaseModel):
    deleted_id: str


@routes.get(PATH)
def list_categories(call: Called) -> AllCategories:
    """List the categories, with how many active memories each has."""
    owner = call.reads("categories")
    held = call.service.categories.list_categories(owner)
    figures = []
    for name, (many, used) in call.service.categories.counts(owner).items():
        of = named(held, name)
        category_id = None if of is None else of.category_id
        figures.append(CategoryFigures(category_id=category_id, name=name, memory_count=many, last_used=used))
    return AllCategories(categories=[MemoryCategory.of(each) for each in held], category_stats=figures)


@routes.post(PATH, statuses=(201,), gives=("Location",))
def create_category(call: Called, new: NewCategory) -> Answered[OneCategory]:
    """Make a category; memories that have its name already are in it."""
    made = call.service.categories.create(
        call.person(), new.name, color=new.color, description=new.description, parent_id=new.parent_category_id
    )
    where = {"location": f"{root_of(call.request)}{PATH}/{made.category_id}"}
    return Answered(OneCategory(category=MemoryCategory.of(made)), 201, headers=where)


@routes.patch(PATH + "/{category_id}")
def change_category(call: Called, category_id: Id, changed: ChangedCategory) -> OneCategory:
    """Change what is named of a category; with another name its memories have that too."""
    changes: dict[str, Any] = {
        _FIELDS[name]: getattr(changed, name)
        for name in changed.model_fields_set
        if getattr(changed, name) is not None or name in {"description", "parent_category_id"}
    }
    named_changes: CategoryChanges = changes  # type: ignore[assignment] # by the names of its fields
    made = call.service.categories.update(call.person(), category_id, **named_changes)
    return OneCategory(category=MemoryCategory.of(made))


@routes.delete(PATH + "/{category_id}")
def delete_category(call: Called, category_id: Id) -> DeletedCategory:
    """Delete a category; what is below it, and its memories, move up."""
    call.service.categories.delete(call.person(), category_id)
    return DeletedCategory(deleted_id=category_id)


def spelled(call: Call, owner: OwnerKey, names: list[str]) -> list[str]:
    """The names that memories have for these categories and those below them, in whatever case; none, and then none
    fits, is the name itself.
    """
    categories = call.service.categories
    wanted = {each for name in names for each in categories.under(owner, name)}
    with call.memory.database.read() as connection:
        found = [each for each in spellings(connection, owner).values() if plain(each) in wanted]
    return found or names
