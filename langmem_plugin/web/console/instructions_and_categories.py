"""A person's standing instructions and categories, as an operator sees and changes them."""

from typing import Annotated

from fastapi import APIRouter, Form
from pydantic import BaseModel, Field
from starlette.responses import Response

from langmem_plugin.web.console.operator_request import AboutPerson

router = APIRouter(prefix="/people/{ref}")


class InstructionForm(BaseModel):
    """The form as the page sends it; a box that is not ticked is not sent."""

    text: str = Field(default="", max_length=5_000)
    priority: int = Field(default=1, ge=1, le=10)
    condition: str = Field(default="", max_length=5_000)
    active: bool = False


@router.get("/instructions")
def list_instructions(at: AboutPerson) -> Response:
    instructions = at.memory.instructions
    return at.page(
        "instructions.html",
        noted="instructions",
        found=instructions.list_instructions(at.person, active_only=False),
    )


@router.post("/instructions")
def add_instruction(at: AboutPerson, form: Annotated[InstructionForm, Form()]) -> Response:
    condition = form.condition.strip() or None
    at.memory.instructions.add(at.person, form.text, priority=form.priority, condition=condition)
    return at.go("instructions")


@router.post("/instructions/{instruction_id}")
def change_instruction(at: AboutPerson, instruction_id: str, form: Annotated[InstructionForm, Form()]) -> Response:
    changes = form.model_dump() | {"condition": form.condition.strip() or None}
    at.memory.instructions.update(at.person, instruction_id, **changes)
    return at.go("instructions")


@router.post("/instructions/{instruction_id}/switch")
def switch_instruction(at: AboutPerson, instruction_id: str, active: Annotated[bool, Form()] = False) -> Response:
    at.memory.instructions.update(at.person, instruction_id, active=active)
    return at.go("instructions")


@router.post("/instructions/{instruction_id}/remove")
def remove_instruction(at: AboutPerson, instruction_id: str) -> Response:
    at.memory.instructions.remove(at.person, instruction_id)
    return at.go("instructions")


class CategoryForm(BaseModel):
    """The form as the page sends it."""

    name: str = Field(default="", max_length=500)
    color: str = Field(default="#3b82f6", max_length=7)
    description: str = Field(default="", max_length=2_000)
    parent_id: str = Field(default="", max_length=100)

    @property
    def fields(self) -> dict[str, str | None]:
        stripped = {"description": self.description.strip() or None, "parent_id": self.parent_id or None}
        return self.model_dump() | stripped


@router.get("/categories")
def list_categories(at: AboutPerson) -> Response:
    categories = at.memory.service.categories
    found, counts = categories.list_categories(at.person), categories.counts(at.person)
    depth: dict[str | None, int] = {None: -1}
    for each in found:
        depth[each.category_id] = depth.get(each.parent_id, -1) + 1
    named = {each.name.casefold() for each in found}
    return at.page(
        "categories.html",
        noted="categories",
        found=found,
        depth=depth,
        counts={name.casefold(): many for name, many in counts.items()},
        unnamed=[name for name in counts if name.casefold() not in named],
    )


@router.post("/categories")
def create_category(at: AboutPerson, form: Annotated[CategoryForm, Form()]) -> Response:
    at.memory.service.categories.create(at.person, **form.fields)  # type: ignore[arg-type] # of its names
    return at.go("categories")


@router.post("/categories/{category_id}")
def change_category(at: AboutPerson, category_id: str, form: Annotated[CategoryForm, Form()]) -> Response:
    at.memory.service.categories.update(at.person, category_id, **form.fields)  # type: ignore[arg-type] # the same
    return at.go("categories")


@router.post("/categories/{category_id}/remove")
def remove_category(at: AboutPerson, category_id: str) -> Response:
    at.memory.service.categories.delete(at.person, category_id)
    return at.go("categories")
