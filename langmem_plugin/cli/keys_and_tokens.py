"""`langmem keys` and `token`: the keys that encrypt what is stored of people, and the tokens for access from
outside.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Annotated

import typer
from rich.progress import MofNCompleteColumn, TextColumn, TimeElapsedColumn

from langmem_plugin.cli.command_context import Where, database_with, on, refuse_missing
from langmem_plugin.cli.output import Told, day, print_table, progress, say
from langmem_plugin.database import Database
from langmem_plugin.database.audit_recording import record
from langmem_plugin.database.database_from_settings import open_database
from langmem_plugin.database.encryption.master_keys import new_master_key
from langmem_plugin.errors import ConfigurationError, InvalidInput
from langmem_plugin.identifiers import masked
from langmem_plugin.people.access_tokens import LONGEST, VALID_FOR, Access, AccessTokens
from langmem_plugin.text_sanitizing import visible

app = typer.Typer(no_args_is_help=True, help="The keys that encrypt what is stored of people.")
token_app = typer.Typer(no_args_is_help=True, help="Access tokens: each opens one person's memory, or everybody's.")

_KEPT_APART = (
    "Put it in front of the others in LANGMEM_KEYS, separated by a comma, and keep a copy where no copy of the "
    "database is: without it nothing that it encrypts can be read again, by nobody."
)


@contextmanager
def _with_keys(where: Where) -> Iterator[Database]:
    settings = where.settings()
    if settings.keys is None:
        raise ConfigurationError("there are no keys: `langmem keys new` makes one for LANGMEM_KEYS")
    refuse_missing(settings, where.database)
    with open_database(settings, where.database) as database:
        yield database


@app.command()
def new() -> None:
    """Print a new master key, for LANGMEM_KEYS. Nothing is stored."""
    typer.echo(new_master_key())
    typer.echo(_KEPT_APART, err=True)


@app.command()
@on(_with_keys)
def status(database: Database) -> Told:
    """Show which master key wraps the keys of how many people."""
    found = database.encryption.status()
    wrapped = {found.newest: 0, **found.wrapped}
    lines = ["encrypted: everything"]
    for name, people in sorted(wrapped.items()):
        lines.append(f"{name}: {people} people{', the newest key' if name == found.newest else ''}")
    if not found.wrapped.keys() <= {found.newest}:
        lines.append(f"run `langmem keys rotate` to wrap them all by {found.newest}")
    return Told({"newest_key": found.newest, "people_by_key": wrapped}, lines)


@app.command()
@on(_with_keys)
def rotate(database: Database) -> Told:
    """Wrap the keys of all people by the newest master key. Every service must know that key before."""
    columns = (TextColumn("{task.description}", markup=False), MofNCompleteColumn(), TimeElapsedColumn())
    with progress(*columns) as bar:
        task, done = bar.add_task("wrapped anew", total=None), 0
        for done in database.encryption.rotate():
            bar.update(task, completed=done)
    newest = database.encryption.status().newest
    with database.write() as connection:
        record(connection, "keys.rotated", subject=newest)
    return Told(
        {"newest_key": newest, "wrapped_anew": done},
        [f"all keys of people are wrapped by {newest}: LANGMEM_KEYS needs no other once every service has it"],
    )


@contextmanager
def _tokens(where: Where) -> Iterator[AccessTokens]:
    where.of_a_memory()
    with database_with(where) as (database, _):
        yield AccessTokens(database)


@token_app.command("new")
@on(_tokens)
def new_token(
    tokens: AccessTokens,
    phone: Annotated[str | None, typer.Argument(help="whose memory it opens: a phone or any other identifier")] = None,
    *,
    operator: Annotated[bool, typer.Option("--operator", help="it opens everybody's: the API and the console")] = False,
    days: Annotated[int, typer.Option(min=1, max=LONGEST.days, help="for how long")] = VALID_FOR.days,
) -> None:
    """Make a token and print it, this once: only a digest of it is stored."""
    if operator == (phone is not None):
        raise InvalidInput("give the phone whose memory the token opens, or --operator for everybody's")
    valid_for = timedelta(days=days)
    token, access = tokens.new_operator(valid_for) if phone is None else tokens.new(phone, valid_for)
    say(token)
    typer.echo(visible(f"{access.token_id}, for {_whose(access)}, until {day(access.expires_at)}"), err=True)


@token_app.command("list")
@on(_tokens)
def list_tokens(
    tokens: AccessTokens, phone: Annotated[str | None, typer.Argument(help="only this person's")] = None
) -> None:
    """Tokens that are valid, without their secrets."""
    rows = [
        (each.token_id, each.kind, _whose(each), day(each.created_at), day(each.expires_at))
        for each in tokens.listed(phone)
    ]
    print_table(("token", "kind", "whose", "made", "until"), rows, folded=("whose",))


@token_app.command("revoke")
@on(_tokens)
def revoke_token(
    tokens: AccessTokens, token_id: Annotated[str, typer.Argument(help="as `langmem token list` shows it")]
) -> None:
    """Take a token back: from now on it opens nothing, in any process."""
    tokens.revoke(token_id)
    say(f"{token_id} opens nothing any more")


def _whose(access: Access) -> str:
    return masked(access.identifier) if access.identifier else "everybody"
