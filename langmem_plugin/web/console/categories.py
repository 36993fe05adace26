"""A person's categories: a tree with colours, and how many memories are in each."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from langmem_plugin.web.console.shell import Shell, as_operator


class CategoryForm(BaseModel):
    """What the page sends."""

    name: str = Field(default="", max_length=500)
    color: str = Field(default="#3b82f6", max_length=7)
    description: str = Field(default="", max_length=2_000)
    parent_id: str = Field(default="", max_length=100)


def routes(shell: Shell) -> APIRouter:
    router = APIRouter(prefix="/people/{ref}/categories")
    categories = shell.memory.service.categories

    def back(request: Request, ref: str) -> Response:
        return shell.go(request, f"people/{ref}/categories")

    @router.get("")
    def show(request: Request, ref: str) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        shell.note(caller, person, "categories")
        found, counts = categories.list_categories(person), categories.counts(person)
        depth: dict[str | None, int] = {None: -1}
        for each in found:
            depth[each.category_id] = depth.get(each.parent_id, -1) + 1
        named = {each.name.casefold() for each in found}
        return shell.page(
            request,
            "categories.html",
            person=person,
            found=found,
            depth=depth,
            counts={name.casefold(): many for name, many in counts.items()},
            unnamed=[name for name in counts if name.casefold() not in named],
        )

    @router.post("")
    def create(request: Request, ref: str, form: Annotated[CategoryForm, Form()]) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        with as_operator(caller):
            categories.create(
                person,
                form.name,
                color=form.color,
                description=form.description.strip() or None,
                parent_id=form.parent_id or None,
            )
        return back(request, ref)

    @router.post("/{category_id}")
    def change(request: Request, ref: str, category_id: str, form: Annotated[CategoryForm, Form()]) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        with as_operator(caller):
            categories.update(
                person,
                category_id,
                name=form.name,
                color=form.color,
                description=form.description.strip() or None,
                parent_id=form.parent_id or None,
            )
        return back(request, ref)

    @router.post("/{category_id}/remove")
    def remove(request: Request, ref: str, category_id: str) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        with as_operator(caller):
            categories.delete(person, category_id)
        return back(request, ref)

    return router
