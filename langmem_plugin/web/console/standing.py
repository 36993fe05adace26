"""A person's standing data beside their memories: instructions, categories, pending memories, and advice."""

from typing import Annotated

from fastapi import APIRouter, Form
from pydantic import BaseModel, Field
from starlette.responses import Response

from langmem_plugin.errors import InvalidInput
from langmem_plugin.web.console.desk import AboutPerson
from langmem_plugin.web.console.service import Days, TableForm, analytics_file

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


@router.get("/waiting")
def list_waiting(at: AboutPerson) -> Response:
    """Show the memories that wait for a word, which an operator may give for the person."""
    asked = at.memory.confirmations
    return at.page("waiting.html", noted="pending", found=asked.waiting(at.person), rate=asked.approval_rate(at.person))


@router.post("/waiting/{memory_id}/confirm")
def confirm(at: AboutPerson, memory_id: str) -> Response:
    at.memory.confirmations.confirm(at.person, memory_id)
    return at.go("waiting")


@router.post("/waiting/{memory_id}/decline")
def decline(at: AboutPerson, memory_id: str) -> Response:
    at.memory.confirmations.decline(at.person, memory_id)
    return at.go("waiting")


@router.get("/advice")
def advice(at: AboutPerson) -> Response:
    """Show memories that are worth a look, and figures."""
    found = at.memory.insight.recommendations(at.person)
    ids = [each for one in found for each in one.memory_ids]
    texts = {each.id: each.text for each in at.memory.service.get(at.person, ids)}
    figures = at.memory.insight.analytics(at.person)
    return at.page("advice.html", noted="recommendations", found=found, texts=texts, figures=figures)


@router.get("/analytics.{form}")
def download(at: AboutPerson, form: TableForm, days: Days = 30) -> Response:
    at.note("analytics")
    return analytics_file(at.memory.insight.analytics(at.person, days=days), form)


@router.post("/advice")
def follow(
    at: AboutPerson,
    kind: Annotated[str, Form(max_length=50)] = "",
    memory_id: Annotated[str, Form(max_length=100)] = "",
) -> Response:
    """Do what the advice proposes, if it still proposes it. Raises InvalidInput if not."""
    service, advices = at.memory.service, at.memory.insight.recommendations(at.person)
    found = next((each for each in advices if (each.kind, each.memory_ids[-1]) == (kind, memory_id)), None)
    if found is None:
        raise InvalidInput("this is not proposed any more: load the page again")
    if kind in {"duplicate", "unused"}:
        service.forget(at.person, memory_id)
    elif found.is_over:
        service.update(at.person, memory_id, expires_at=service.now())
    else:
        service.update(at.person, memory_id, status="pending")
    return at.go("advice")
