"""`langmem backup`: the database and its pictures, copied while services go on."""

import shutil
from pathlib import Path
from typing import Annotated

import typer

from langmem_plugin.cli.existing import refuse_missing
from langmem_plugin.cli.opening import Config, Url, chosen
from langmem_plugin.cli.printing import Json, print_json, say
from langmem_plugin.conversation.media.media_store import Media
from langmem_plugin.database.audit_trail import record
from langmem_plugin.database.backup import backup as copied
from langmem_plugin.database.opening import open_database
from langmem_plugin.database.tenants import media_of

_WITHOUT_KEYS = "the keys of people are not in it: without the key database and LANGMEM_KEYS nothing encrypted is read"


def backup(
    folder: Annotated[Path, typer.Argument(help="a new folder")],
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Copy the database and the pictures of one moment, while services go on. Nobody else may read the copy.

    To restore, stop the services and put what is in the folder where it came from; a .dump goes back by pg_restore.
    A vector index is not in it: `langmem reindex` makes it anew.
    """
    settings = chosen(config)
    refuse_missing(settings, database)
    with open_database(settings, database) as opened:
        made = copied(opened, folder, Media.by_setting(media_of(settings), opened).folder)
        try:
            with opened.write() as connection:
                record(connection, "data.exported", subject="backup")
        except BaseException:  # nothing goes out unnoted
            shutil.rmtree(made.folder)
            raise
    if as_json:
        print_json(
            {
                "folder": str(made.folder),
                "database": str(made.database),
                "pictures": made.pictures,
                "missing": made.missing,
                "bytes": made.bytes,
                "keys": False,
            }
        )
        return
    say(f"{made.database} and {made.pictures} pictures, {made.bytes:,} bytes")
    for each in made.missing:
        say(f"missing, also where it was copied from: {each}")
    if settings.keys is not None:
        say(_WITHOUT_KEYS)
