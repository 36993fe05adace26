"""`langmem memories`: what is remembered of one person, told, changed and forgotten by an operator."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from langmem_plugin.cli.opening import Config, Phone, Url, Whose, memory_of, note_read, owner_of
from langmem_plugin.cli.printing import Json, Reveal, Yes, confirm, day, print_json, print_table, say, shown
from langmem_plugin.memory import Memory
from langmem_plugin.memory.keep.fact_history import fact_history
from langmem_plugin.memory.models import Status
from langmem_plugin.terminal import indented

if TYPE_CHECKING:
    pass

app = typer.Typer(no_args_is_help=True, help="What is remembered of one person.")
_Id = Annotated[str, typer.Argument(help="the memory's id, as `langmem memories list` shows it")]
_KEPT_BY_AN_EDIT = ("fact_type", "key", "category", "tags", "metadata", "private", "expires_at")


class State(StrEnum):
    """Which memories are listed."""

    ACTIVE = "active"
    PENDING = "pending"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"


@app.command("list")
def list_memories(
    phone: Phone,
    *,
    state: Annotated[list[State] | None, typer.Option(help="may be said more than once; default: active")] = None,
    limit: Annotated[int, typer.Option(min=1)] = 50,
    offset: Annotated[int, typer.Option(min=0, help="how many of the newest are passed over")] = 0,
    reveal: Reveal = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """List what is remembered, the newest first."""
    with memory_of(database, config, embeds=False) as memory:
        note_read(memory.saver, subject="memories", owner=phone)
        owner = memory.people.typed(phone)
        statuses: list[Status] = [each.value for each in state or [State.ACTIVE]]
        found = memory.service.list_memories(owner, limit=limit, offset=offset, statuses=statuses)
        total = memory.service.count(owner, statuses=statuses)
    if as_json:
        print_json({"total": total, "memories": [_document(each, reveal=reveal) for each in found]})
        return
    columns = ("id", "text", "type", "state", "told")
    print_table(columns, [(each.id, each.text, each.fact_type, each.status, day(each.told_at)) for each in found])
    if total > offset + len(found):
        typer.echo(f"{total - offset - len(found)} more: --offset {offset + len(found)}", err=True)


@app.command()
def add(
    phone: Phone,
    text: Annotated[str, typer.Argument(help='what is so, such as "Leo is allergic to peanuts"')],
    *,
    private: Annotated[bool, typer.Option("--private", help="encrypted, where there are keys")] = False,
    reveal: Reveal = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Remember a fact as if the person had told it; what it corrects is kept as history."""
    with memory_of(database, config) as memory:
        stored = memory.service.remember(memory.people.typed(phone), text, private=private)
    if as_json:
        told = {"outcome": stored.outcome, "concerned": stored.concerned}
        print_json({**told, "memory": _document(stored.memory, reveal=reveal)})
    else:
        say(f"{stored.id} {stored.outcome}: {stored.text}")


@app.command()
def show(
    memory_id: _Id,
    *,
    phone: Whose = None,
    reveal: Reveal = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """A memory with the words it rests on, what it replaced, and how it was used last."""
    with memory_of(database, config, embeds=False) as memory:
        owner = owner_of(memory, "memory", memory_id, phone)
        why = memory.provenance.why(owner, memory_id)
    if as_json:
        said = None if why.said is None else {"text": why.said.text, "session": why.said.session_id, "at": why.said.at}
        print_json(
            {
                "memory": _document(why.memory, reveal=reveal),
                "said": said,
                "instead_of": [_document(each, reveal=reveal) for each in why.instead_of],
                "replaced_by": None if why.replaced_by is None else _document(why.replaced_by, reveal=reveal),
            }
        )
        return
    held = why.memory
    say(str(why))
    say(f"  {held.fact_type} of {shown(owner, reveal=reveal)}, {held.status}, confidence {held.confidence:.0%}")


@app.command()
def edit(
    memory_id: _Id,
    text: Annotated[str, typer.Argument(help="what is so instead")],
    *,
    phone: Whose = None,
    reveal: Reveal = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Put another text in place of a memory's, which stays as history."""
    with memory_of(database, config) as memory:
        owner = owner_of(memory, "memory", memory_id, phone)
        with memory.database.read() as connection:
            before = memory.service.repository.by_id(connection, owner, memory_id)
        kept: dict[str, Any] = {name: getattr(before, name) for name in _KEPT_BY_AN_EDIT} if before else {}
        after = memory.service.supersede(owner, memory_id, text, **kept)
    if as_json:
        print_json({"replaced": memory_id, "memory": _document(after.memory, reveal=reveal)})
    else:
        say(f"{after.id} is in place of {memory_id}: {after.text}")


@app.command()
def forget(
    memory_id: _Id,
    *,
    phone: Whose = None,
    yes: Yes = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Never recall a memory again; after thirty days it is deleted."""
    with memory_of(database, config, embeds=False) as memory:
        owner = owner_of(memory, "memory", memory_id, phone)
        confirm(f"Forget memory {memory_id}?", yes=yes)
        memory.service.forget(owner, memory_id)
    if as_json:
        print_json({"forgotten": memory_id})
    else:
        typer.echo(f"{memory_id} is forgotten")


@app.command()
def history(
    memory_id: _Id,
    *,
    phone: Whose = None,
    reveal: Reveal = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Tell what took the place of what, in which words of the person; the oldest first."""
    with memory_of(database, config, embeds=False) as memory:
        owner = owner_of(memory, "memory", memory_id, phone)
        chain = fact_history(memory.service, owner, memory_id)
    if as_json:
        print_json({"history": [_document(each, reveal=reveal) for each in chain]})
        return
    for each in chain:
        until = "" if each.over_at is None else f", until {day(each.over_at)}"
        say(f"{each.id}  {day(each.told_at)}  {each.status}{until}", f"  {indented(_text(each))}")
        if each.quote and each.status != "forgotten":
            say(f"  said: “{indented(each.quote)}”")
        if each.superseded_by:
            say(f"  replaced by {each.superseded_by}")


def _text(memory: Memory) -> str:
    """Refuses a memory that was forgotten: nobody is to read it again."""
    return "(forgotten)" if memory.status == "forgotten" else memory.text


def _document(memory: Memory, *, reveal: bool) -> dict[str, Any]:
    document = memory.model_dump() | {"owner": shown(memory.owner, reveal=reveal)}
    if memory.status == "forgotten":
        document |= dict.fromkeys(("text", "quote", "summary_text", "metadata"))
    return document
