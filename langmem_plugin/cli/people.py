"""`langmem people`: people and their identifiers, which can be linked and merged."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from langmem_plugin.cli.command_context import Limit, memory_of, note_read, on
from langmem_plugin.cli.output import Reveal, Rows, Told, Yes, confirm, shown
from langmem_plugin.errors import InvalidInput
from langmem_plugin.people import links
from langmem_plugin.people.people_listing import everybody

if TYPE_CHECKING:
    from langmem_plugin.plugin import PhoneMemory

app = typer.Typer(no_args_is_help=True, help="Who is who: people, and what they write from.")
_Who = Annotated[str, typer.Argument(help="any identifier of the person, in any spelling")]


@app.command("list")
@on(memory_of, embeds=False)
def list_people(
    memory: "PhoneMemory",
    *,
    limit: Limit = 50,
    after: Annotated[str, typer.Option(help="go on behind this key")] = "",
    reveal: Reveal = False,
) -> Told:
    """Everybody of whom something is stored, by their keys; groups too."""
    note_read(memory.saver, subject="people")
    with memory.database.read() as connection:
        keys = everybody(connection, after=after, limit=limit)
        linked = {each: links.identifiers_of(connection, each)[1:] for each in keys}
    people: list[dict[str, Any]] = []
    for key in keys:
        held = memory.exporter.holdings(key)
        others = [shown(each, reveal=reveal) for each in linked[key]]
        stored = {"sessions": held.sessions, "memories": held.memories, "instructions": held.instructions}
        people.append({"key": shown(key, reveal=reveal), "identifiers": others, **stored})
    columns = ("person", "also", "sessions", "memories", "instructions")
    rows = [(key, " ".join(also), *numbers) for key, also, *numbers in (each.values() for each in people)]
    return Told({"people": people}, [Rows(columns, rows, folded=("person", "also"))])


@app.command()
@on(memory_of, embeds=False)
def show(memory: "PhoneMemory", who: _Who, *, reveal: Reveal = False) -> Told:
    """A person's identifiers, settings, consent, and how much is stored of them."""
    note_read(memory.saver, subject="person", owner=who)
    key = memory.people.typed(who)
    held = memory.exporter.holdings(key)
    if not held.is_something:
        raise InvalidInput("nothing is stored of this person: look at the identifier, and at --database")
    document: dict[str, Any] = {
        "key": shown(key, reveal=reveal),
        "identifiers": [shown(each, reveal=reveal) for each in memory.people.identifiers(who)],
        "time_zone": memory.people.time_zone(who).key,
        "language": memory.people.language(who),
        "consent": {name: given["allowed"] for name, given in asdict(memory.consent.of_owner(key)).items()},
        "stored": asdict(held),
    }
    given = {True: "given", False: "refused", None: "never asked"}
    return Told(
        document,
        [
            f"person: {document['key']}",
            f"identifiers: {', '.join(document['identifiers'])}",
            f"time zone: {document['time_zone']}, language: {document['language']}",
            f"consent: {', '.join(f'{name} {given[allowed]}' for name, allowed in document['consent'].items())}",
            f"stored: {', '.join(f'{many} {kind}' for kind, many in document['stored'].items()).replace('_', ' ')}",
        ],
    )


@app.command()
@on(memory_of)
def link(
    memory: "PhoneMemory",
    who: _Who,
    identifier: Annotated[str, typer.Argument(help="what else they write from")],
    *,
    yes: Yes = False,
) -> Told:
    """From now on the identifier is this person; what it had is theirs, until it is unlinked."""
    confirm(f"Is {identifier} the same person as {who}, who then sees all that is stored of it?", yes=yes)
    merged = memory.people.link(*(links.typed(memory.database, each) for each in (who, identifier))) is not None
    return Told({"merged": merged}, [f"one person; {'what both had is theirs' if merged else 'nothing had to move'}"])


@app.command()
@on(memory_of)
def unlink(
    memory: "PhoneMemory", identifier: Annotated[str, typer.Argument(help="what is a person of its own again")]
) -> Told:
    """The identifier is a person of its own; what came with it goes back, what came after stays where it is."""
    memory.people.unlink(identifier)
    return Told({"unlinked": True}, ["it is a person of its own"])


@app.command()
@on(memory_of)
def moved(
    memory: "PhoneMemory",
    who: _Who,
    new: Annotated[str, typer.Argument(help="the identifier that they, or the group, have now")],
    *,
    yes: Yes = False,
) -> Told:
    """Their number is another one now, or a group's id: the old one is nobody's."""
    confirm(f"Has {new} from now on all that is stored of {who}, and who writes from {who} nothing?", yes=yes)
    found = memory.people.moved(*(links.typed(memory.database, each) for each in (who, new)))
    return Told({"moved": found}, ["moved" if found else f"nothing is stored of {who}: nothing had to move"])
