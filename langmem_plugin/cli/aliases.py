"""`langmem aliases`: names that mean the same to one person, such as Dr. L and Dr. Levi."""

from typing import Annotated, Any

import typer

from langmem_plugin.cli.opening import Config, Phone, Url, memory_of, note_read
from langmem_plugin.cli.printing import Json, Reveal, print_json, print_table, say, shown
from langmem_plugin.memory.keep.aliases import Alias

app = typer.Typer(no_args_is_help=True, help="Names that mean the same to one person when they ask.")


@app.command("list")
def list_aliases(
    phone: Phone,
    *,
    every: Annotated[bool, typer.Option("--all", help="also what was removed or does not count now")] = False,
    reveal: Reveal = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Those that count, the first learnt first."""
    with memory_of(database, config, embeds=False) as memory:
        note_read(memory.saver, subject="aliases", owner=phone)
        found = memory.service.aliases.list_aliases(memory.people.typed(phone), include_removed=every)
    if as_json:
        print_json({"aliases": [_document(each, reveal=reveal) for each in found]})
        return
    print_table(
        ("id", "alias", "means", "known from"),
        [(each.id, each.alias, each.name, each.source) for each in found],
        folded=("alias", "means"),
    )


@app.command()
def add(
    phone: Phone,
    alias: Annotated[str, typer.Argument(help='such as "k8s"')],
    name: Annotated[str, typer.Argument(help='such as "Kubernetes"')],
    *,
    reveal: Reveal = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Take two names for each other in all this person asks."""
    with memory_of(database, config, embeds=False) as memory:
        made = memory.service.aliases.add(memory.people.typed(phone), alias, name)
    _tell(made, "counts", reveal=reveal, as_json=as_json)


@app.command()
def remove(
    phone: Phone,
    alias_id: Annotated[str, typer.Argument(help="the alias's id, as `langmem aliases list` shows it")],
    *,
    reveal: Reveal = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """It counts no more, and is not learnt again from the same words; `add` brings it back."""
    with memory_of(database, config, embeds=False) as memory:
        removed = memory.service.aliases.remove(memory.people.typed(phone), alias_id)
    _tell(removed, "counts no more", reveal=reveal, as_json=as_json)


def _tell(alias: Alias, what: str, *, reveal: bool, as_json: bool) -> None:
    if as_json:
        print_json({"alias": _document(alias, reveal=reveal)})
    else:
        say(f"{alias.id} {what}: {alias.alias} means {alias.name}")


def _document(alias: Alias, *, reveal: bool) -> dict[str, Any]:
    return vars(alias) | {"owner": shown(alias.owner, reveal=reveal)}
