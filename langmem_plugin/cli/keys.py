"""`langmem keys` and `token`: the keys that encrypt what is stored of people, and the tokens for access from
outside.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from itertools import chain
from typing import Annotated

import typer
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from langmem_plugin.cli.opening import Where, database_with, on, refuse_missing
from langmem_plugin.cli.printing import Told, Yes, confirm, day, print_table, progress, say
from langmem_plugin.conversation.media.file_conversion import encrypted_files
from langmem_plugin.conversation.media.media_store import Media
from langmem_plugin.database import Database
from langmem_plugin.database.audit_trail import record
from langmem_plugin.database.conversation_tables import media
from langmem_plugin.database.encryption.conversion import encrypted_rows
from langmem_plugin.database.encryption.master_keys import new_master_key
from langmem_plugin.database.opening import note_converting, note_encrypted, open_database, state_of
from langmem_plugin.database.schema import metadata
from langmem_plugin.database.urls import media_of
from langmem_plugin.errors import ConfigurationError, InvalidInput
from langmem_plugin.foreign_text import visible
from langmem_plugin.identifiers import masked
from langmem_plugin.memory.keep.stored_tables import encrypt_stored
from langmem_plugin.people.access_tokens import LONGEST, VALID_FOR, Access, AccessTokens
from langmem_plugin.settings import Settings

app = typer.Typer(no_args_is_help=True, help="The keys that encrypt what is stored of people.")
token_app = typer.Typer(no_args_is_help=True, help="Access tokens: each opens one person's memory, or everybody's.")

_KEPT_APART = (
    "Put it in front of the others in LANGMEM_KEYS, separated by a comma, and keep a copy where no copy of the "
    "database is: without it nothing that it encrypts can be read again, by nobody."
)


@contextmanager
def _with_keys(where: Where, *, converting: bool = False) -> Iterator[Database]:
    with open_database(_settings(where), where.database, converting=converting) as database:
        yield database


def _settings(where: Where) -> Settings:
    settings = where.settings()
    if settings.keys is None:
        raise ConfigurationError("there are no keys: `langmem keys new` makes one for LANGMEM_KEYS")
    refuse_missing(settings, where.database)
    return settings


@app.command()
def new() -> None:
    """Print a new master key, for LANGMEM_KEYS. Nothing is stored."""
    typer.echo(new_master_key())
    typer.echo(_KEPT_APART, err=True)


@app.command()
@on(_with_keys, converting=True)
def status(database: Database) -> Told:
    """Show what is encrypted, and which master key wraps the keys of how many people."""
    found, state = database.encryption.status(), state_of(database)
    wrapped = {found.newest: 0, **found.wrapped}
    lines = [f"encrypted: {state}"]
    for name, people in sorted(wrapped.items()):
        lines.append(f"{name}: {people} people{', the newest key' if name == found.newest else ''}")
    if not found.wrapped.keys() <= {found.newest}:
        lines.append(f"run `langmem keys rotate` to wrap them all by {found.newest}")
    return Told({"encrypted": state, "newest_key": found.newest, "people_by_key": wrapped}, lines)


@app.command()
@on(_with_keys)
def rotate(database: Database) -> Told:
    """Wrap the keys of all people by the newest master key. Every service must know that key before."""
    with _bar() as bar:
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


@app.command()
@on(nullcontext)
def encrypt(where: Where, *, yes: Yes = False) -> Told:
    """Encrypt what was stored in plain. Stop the services before.

    Whatever ends it, nothing is lost: run it again, and it goes on.
    """
    settings = _settings(where)
    confirm("Encrypt what is stored? Without the keys nobody reads it again. Are the services stopped?", yes=yes)
    with open_database(settings, where.database, converting=True) as opened, _bar() as bar:
        with opened.write() as connection:
            note_converting(connection, opened.encryption)
        folder = Media.by_setting(media_of(settings), opened)
        task, total, found = bar.add_task("encrypted", total=None), 0, 1
        while found:  # until nothing is in plain, also nothing that was written meanwhile
            found = 0
            for many in _encrypted(opened, folder):
                found += many
                bar.update(task, completed=total + found)
            total += found
        removed = folder.delete_plain()
        remains = opened.scrub([table.name for table in metadata.sorted_tables])
        with opened.write() as connection:
            note_encrypted(connection, opened.encryption)
    done = f"{total} rows encrypted, {removed} plain files deleted; copies that were made before are as they were"
    return Told(
        {"encrypted_rows": total, "deleted_files": removed, "remains": remains},
        [done, *(f"plain bytes may remain in: {what}" for what in remains)],
    )


def _encrypted(database: Database, folder: Media) -> Iterator[int]:
    return chain(encrypted_rows(database, but=[media]), encrypted_files(database, folder), encrypt_stored(database))


def _bar() -> Progress:
    return progress(TextColumn("{task.description}", markup=False), MofNCompleteColumn(), TimeElapsedColumn())


@contextmanager
def _tokens(where: Where) -> Iterator[AccessTokens]:
    where.of_a_memory()
    with database_with(where) as (database, settings):
        yield AccessTokens(database, region=settings.default_region)


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
