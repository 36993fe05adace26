"""`langmem people`: who is who, and which identifiers are one person's."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from langmem_plugin.cli.opening import Config, Url, memory_of, note_read
from langmem_plugin.cli.printing import Json, Reveal, Yes, confirm, print_json, print_table, say, shown
from langmem_plugin.errors import InvalidInput
from langmem_plugin.people import links
from langmem_plugin.people.everybody import everybody

app = typer.Typer(no_args_is_help=True, help="Who is who: people, and what they write from.")
_Who = Annotated[str, typer.Argument(help="any identifier of the person, in any spelling")]


@app.command("list")
def list_people(
    *,
    limit: Annotated[int, typer.Option(min=1)] = 50,
    after: Annotated[str, typer.Option(help="go on behind this key")] = "",
    reveal: Reveal = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Everybody of whom something is stored, by their keys; groups too."""
    with memory_of(database, config, embeds=False) as memory:
        note_read(memory.saver, subject="people")
        with memory.database.read() as connection:
            keys = everybody(connection, after=after, limit=limit)
            linked = {each: links.identifiers_of(connection, each)[1:] for each in keys}
        held = {each: memory.exporter.holdings(each) for each in keys}
    if as_json:
        people = [
            {
                "key": shown(each, reveal=reveal),
                "identifiers": [shown(one, reveal=reveal) for one in linked[each]],
                "sessions": held[each].sessions,
                "memories": held[each].memories,
                "instructions": held[each].instructions,
            }
            for each in keys
        ]
        print_json({"people": people})
        return
    print_table(
        ("person", "also", "sessions", "memories", "instructions"),
        [
            (
                shown(each, reveal=reveal),
                " ".join(shown(one, reveal=reveal) for one in linked[each]),
                held[each].sessions,
                held[each].memories,
                held[each].instructions,
            )
            for each in keys
        ],
        folded=("person", "also"),
    )


@app.command()
def show(
    who: _Who, *, reveal: Reveal = False, as_json: Json = False, database: Url = None, config: Config = None
) -> None:
    """A person's identifiers, settings, consent, and how much is stored of them."""
    with memory_of(database, config, embeds=False) as memory:
        note_read(memory.saver, subject="person", owner=who)
        key = memory.people.typed(who)
        held = memory.exporter.holdings(key)
        if not held.is_something:
            raise InvalidInput("nothing is stored of this person: look at the identifier, and at --database")
        consent = memory.consent.of_owner(key)
        document: dict[str, Any] = {
            "key": shown(key, reveal=reveal),
            "identifiers": [shown(each, reveal=reveal) for each in memory.people.identifiers(who)],
            "time_zone": memory.people.time_zone(who).key,
            "language": memory.people.language(who),
            "consent": {name: given["allowed"] for name, given in asdict(consent).items()},
            "stored": asdict(held),
        }
    if as_json:
        print_json(document)
        return
    say(f"person: {document['key']}", f"identifiers: {', '.join(document['identifiers'])}")
    say(f"time zone: {document['time_zone']}, language: {document['language']}")
    given = {True: "given", False: "refused", None: "never asked"}
    say(f"consent: {', '.join(f'{name} {given[allowed]}' for name, allowed in document['consent'].items())}")
    say(f"stored: {', '.join(f'{many} {kind}' for kind, many in document['stored'].items())}")


@app.command()
def link(
    who: _Who,
    identifier: Annotated[str, typer.Argument(help="what else they write from")],
    *,
    yes: Yes = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """From now on the identifier is this person; what it had is theirs, until it is undone."""
    with memory_of(database, config) as memory:
        confirm(f"Is {identifier} the same person as {who}, who then sees all that is stored of it?", yes=yes)
        _tell(memory.people.link(who, identifier), as_json=as_json)


@app.command()
def unlink(
    identifier: Annotated[str, typer.Argument(help="what is a person of its own again")],
    *,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """The identifier is a person of its own; what was said and remembered stays where it is."""
    with memory_of(database, config) as memory:
        merge_id = memory.people.unlink(identifier)
    if as_json:
        print_json({"merge": merge_id})
    else:
        back = "" if merge_id is None else f"; `langmem people undo {merge_id}` gives back what moved then"
        typer.echo(f"it is a person of its own{back}")


@app.command()
def merge(
    who: _Who,
    other: Annotated[str, typer.Argument(help="any identifier of whom they are one with")],
    *,
    yes: Yes = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Both are one person, who has all that both had, until it is undone."""
    with memory_of(database, config) as memory:
        confirm(f"Are {who} and {other} one person, who then sees all that is stored of both?", yes=yes)
        _tell(memory.people.merge(who, other), as_json=as_json)


@app.command()
def moved(
    who: _Who,
    new: Annotated[str, typer.Argument(help="the identifier that they, or the group, have now")],
    *,
    yes: Yes = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Their number is another one now, or a group's id: the old one is nobody's."""
    with memory_of(database, config) as memory:
        confirm(f"Has {new} from now on all that is stored of {who}, and who writes from {who} nothing?", yes=yes)
        found = memory.people.moved(who, new)
    if as_json:
        print_json({"moved": found})
    else:
        typer.echo("moved" if found else f"nothing is stored of {who}: nothing had to move")


@app.command()
def undo(
    merge_id: Annotated[str, typer.Argument(help="what `link` or `merge` said")],
    *,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Two people again: what moved goes back."""
    with memory_of(database, config) as memory:
        memory.people.undo(merge_id)
    if as_json:
        print_json({"undone": merge_id})
    else:
        typer.echo("they are two people again")


def _tell(merge_id: str | None, *, as_json: bool) -> None:
    if as_json:
        print_json({"merge": merge_id})
    elif merge_id is None:
        typer.echo("they are one person; nothing had to move")
    else:
        typer.echo(f"they are one person; `langmem people undo {merge_id}` parts them")
