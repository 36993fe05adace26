"""`langmem keys`: make a key, show who is wrapped by which, wrap anew, encrypt what was stored in plain."""

from collections.abc import Iterator
from itertools import chain

import typer
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from langmem_plugin.cli.opening import Config, Url, chosen, refuse_missing
from langmem_plugin.cli.printing import Json, Yes, confirm, print_json, progress
from langmem_plugin.conversation.media.file_conversion import encrypted_files
from langmem_plugin.conversation.media.media_store import Media
from langmem_plugin.database import Database
from langmem_plugin.database.audit_trail import record
from langmem_plugin.database.conversation_tables import media
from langmem_plugin.database.encryption.conversion import encrypted_rows
from langmem_plugin.database.encryption.master_keys import new_master_key
from langmem_plugin.database.opening import note_converting, note_encrypted, open_database, state_of
from langmem_plugin.database.schema import metadata
from langmem_plugin.database.tenants import media_of
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.memory.keep.stored_tables import encrypt_stored
from langmem_plugin.settings import Settings

app = typer.Typer(no_args_is_help=True, help="The keys that encrypt what is stored of people.")

_KEPT_APART = (
    "Put it in front of the others in LANGMEM_KEYS, separated by a comma, and keep a copy where no copy of the "
    "database is: without it nothing that it encrypts can be read again, by nobody."
)


@app.command()
def new() -> None:
    """Print a new master key, for LANGMEM_KEYS. Nothing is stored."""
    typer.echo(new_master_key())
    typer.echo(_KEPT_APART, err=True)


@app.command()
def status(as_json: Json = False, database: Url = None, config: Config = None) -> None:
    """Show what is encrypted, and which master key wraps the keys of how many people."""
    with open_database(_with_keys(config, database), database, converting=True) as opened:
        found = opened.encryption.status()
        state = state_of(opened)
    if as_json:
        wrapped = {found.newest: 0, **found.wrapped}
        print_json({"encrypted": state, "newest_key": found.newest, "people_by_key": wrapped})
        return
    typer.echo(f"encrypted: {state}")
    for name, people in sorted({found.newest: 0, **found.wrapped}.items()):
        typer.echo(f"{name}: {people} people{', the newest key' if name == found.newest else ''}")
    if not found.wrapped.keys() <= {found.newest}:
        typer.echo(f"run `langmem keys rotate` to wrap them all by {found.newest}")


@app.command()
def rotate(as_json: Json = False, database: Url = None, config: Config = None) -> None:
    """Wrap the keys of all people by the newest master key. Every service must know that key before."""
    with open_database(_with_keys(config, database), database) as opened, _bar() as bar:
        task, done = bar.add_task("wrapped anew", total=None), 0
        for done in opened.encryption.rotate():
            bar.update(task, completed=done)
        newest = opened.encryption.status().newest
        with opened.write() as connection:
            record(connection, "keys.rotated", subject=newest)
    if as_json:
        print_json({"newest_key": newest, "wrapped_anew": done})
        return
    typer.echo(f"all keys of people are wrapped by {newest}: LANGMEM_KEYS needs no other once every service has it")


@app.command()
def encrypt(yes: Yes = False, as_json: Json = False, database: Url = None, config: Config = None) -> None:
    """Encrypt what was stored in plain. Stop the services before.

    Whatever ends it, nothing is lost: run it again, and it goes on.
    """
    settings = _with_keys(config, database)
    confirm("Encrypt what is stored? Without the keys nobody reads it again. Are the services stopped?", yes=yes)
    with open_database(settings, database, converting=True) as opened, _bar() as bar:
        with opened.write() as connection:
            note_converting(connection, opened.encryption)
        folder = Media.by_setting(media_of(settings), opened)
        task, total, found = bar.add_task("encrypted", total=None), 0, 1
        while found:  # until nothing is left, also of what was written meanwhile
            found = 0
            for many in _encrypted(opened, folder):
                found += many
                bar.update(task, completed=total + found)
            total += found
        removed = folder.delete_plain()
        remains = opened.scrub([table.name for table in metadata.sorted_tables])
        with opened.write() as connection:
            note_encrypted(connection, opened.encryption)
    if as_json:
        print_json({"encrypted_rows": total, "deleted_files": removed, "remains": remains})
        return
    typer.echo(f"{total} rows encrypted, {removed} plain files deleted; copies that were made before are as they were")
    for what in remains:
        typer.echo(f"plain bytes may remain in: {what}")


def _encrypted(database: Database, folder: Media) -> Iterator[int]:
    return chain(encrypted_rows(database, but=[media]), encrypted_files(database, folder), encrypt_stored(database))


def _with_keys(config: Config, url: str | None) -> Settings:
    settings = chosen(config)
    if settings.keys is None:
        raise ConfigurationError("there are no keys: `langmem keys new` makes one for LANGMEM_KEYS")
    refuse_missing(settings, url)
    return settings


def _bar() -> Progress:
    return progress(TextColumn("{task.description}", markup=False), MofNCompleteColumn(), TimeElapsedColumn())
