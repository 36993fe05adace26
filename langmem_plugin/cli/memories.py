"""`langmem memories`: a person's memories, listed, added, changed and forgotten by an operator."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from langmem_plugin.cli.command_context import Limit, Phone, Whose, memory_of, note_read, on, owner_of
from langmem_plugin.cli.output import Reveal, Rows, Told, Yes, confirm, day, shown
from langmem_plugin.memory import Memory
from langmem_plugin.memory.memory_types import Status

if TYPE_CHECKING:
    from langmem_plugin.plugin import PhoneMemory

app = typer.Typer(no_args_is_help=True, help="What is remembered of one person.")
_Id = Annotated[str, typer.Argument(help="the memory's id, as `langmem memories list` shows it")]
_KEPT_BY_AN_EDIT = ("fact_type", "key", "category", "tags", "metadata", "private", "expires_at")


class State(StrEnum):
    """The states of memories that can be listed."""

    ACTIVE = "active"
    PENDING = "pending"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"


@app.command("list")
@on(memory_of, embeds=False)
def list_memories(
    memory: "PhoneMemory",
    phone: Phone,
    *,
    state: Annotated[list[State] | None, typer.Option(help="may be said more than once; default: active")] = None,
    limit: Limit = 50,
    offset: Annotated[int, typer.Option(min=0, max=10**9, help="how many of the newest are passed over")] = 0,
    reveal: Reveal = False,
) -> Told:
    """List what is remembered, the newest first."""
    note_read(memory.saver, subject="memories", owner=phone)
    owner = memory.people.typed(phone)
    statuses: list[Status] = [each.value for each in state or [State.ACTIVE]]
    found = memory.service.list_memories(owner, limit=limit, offset=offset, statuses=statuses)
    total, until = memory.service.count(owner, statuses=statuses), offset + len(found)
    rows = [(each.id, each.text, each.fact_type, each.status, day(each.told_at)) for each in found]
    return Told(
        {"total": total, "memories": [_document(each, reveal=reveal) for each in found]},
        [Rows(("id", "text", "type", "state", "told"), rows)],
        remark=f"{total - until} more: --offset {until}" if total > until else "",
    )


@app.command()
@on(memory_of)
def add(
    memory: "PhoneMemory",
    phone: Phone,
    text: Annotated[str, typer.Argument(help='what is so, such as "Leo is allergic to peanuts"')],
    *,
    private: Annotated[bool, typer.Option("--private", help="encrypted, where there are keys")] = False,
    reveal: Reveal = False,
) -> Told:
    """Remember a fact as if the person had told it; what it corrects is kept as history."""
    stored = memory.service.remember(memory.people.typed(phone), text, private=private)
    told = {"outcome": stored.outcome, "concerned": stored.concerned}
    return Told(
        {**told, "memory": _document(stored.memory, reveal=reveal)}, [f"{stored.id} {stored.outcome}: {stored.text}"]
    )


@app.command()
@on(memory_of, embeds=False)
def show(memory: "PhoneMemory", memory_id: _Id, *, phone: Whose = None, reveal: Reveal = False) -> Told:
    """A memory with the words it rests on, what it replaced, and how it was used last."""
    owner = owner_of(memory, memory_id, phone)
    why = memory.provenance.why(owner, memory_id)
    held, said = why.memory, why.said
    return Told(
        {
            "memory": _document(held, reveal=reveal),
            "said": None if said is None else {"text": said.text, "session": said.session_id, "at": said.at},
            "instead_of": [_document(each, reveal=reveal) for each in why.instead_of],
            "replaced_by": None if why.replaced_by is None else _document(why.replaced_by, reveal=reveal),
        },
        [
            str(why),
            f"  {held.fact_type} of {shown(owner, reveal=reveal)}, {held.status}, confidence {held.confidence:.0%}",
        ],
    )


@app.command()
@on(memory_of)
def edit(
    memory: "PhoneMemory",
    memory_id: _Id,
    text: Annotated[str, typer.Argument(help="what is so instead")],
    *,
    phone: Whose = None,
    reveal: Reveal = False,
) -> Told:
    """Put another text in place of a memory's, which stays as history."""
    owner = owner_of(memory, memory_id, phone)
    with memory.database.read() as connection:
        before = memory.service.repository.by_id(connection, owner, memory_id)
    kept: dict[str, Any] = {name: getattr(before, name) for name in _KEPT_BY_AN_EDIT} if before else {}
    after = memory.service.supersede(owner, memory_id, text, **kept)
    return Told(
        {"replaced": memory_id, "memory": _document(after.memory, reveal=reveal)},
        [f"{after.id} is in place of {memory_id}: {after.text}"],
    )


@app.command()
@on(memory_of, embeds=False)
def forget(memory: "PhoneMemory", memory_id: _Id, *, phone: Whose = None, yes: Yes = False) -> Told:
    """Never recall a memory again; after thirty days it is deleted."""
    owner = owner_of(memory, memory_id, phone)
    confirm(f"Forget memory {memory_id}?", yes=yes)
    memory.service.forget(owner, memory_id)
    return Told({"forgotten": memory_id}, [f"{memory_id} is forgotten"])


def _document(memory: Memory, *, reveal: bool) -> dict[str, Any]:
    document = memory.model_dump() | {"owner": shown(memory.owner, reveal=reveal)}
    if memory.status == "forgotten":
        document |= dict.fromkeys(("text", "quote", "summary_text", "metadata"))
    return document
