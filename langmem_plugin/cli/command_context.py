"""The objects that a command works on: its settings, the database, and what the services of the database
noted there.
"""

import functools
import inspect
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from sqlalchemy import NullPool, create_engine
from sqlalchemy.exc import DBAPIError

from langmem_plugin.cli.output import Json, Told, tell
from langmem_plugin.config_file import examined
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.session_manager import SessionManager
from langmem_plugin.database import Database
from langmem_plugin.database.audit_recording import record
from langmem_plugin.database.database_from_settings import open_database
from langmem_plugin.database.database_urls import database_url
from langmem_plugin.database.database_urls import shown as shown_url
from langmem_plugin.database.migrations import Transaction, is_made
from langmem_plugin.database.owners_and_erasures import person_in, person_of
from langmem_plugin.database.tenant_locations import database_of
from langmem_plugin.errors import ConfigurationError, InvalidInput
from langmem_plugin.identifiers import OwnerKey, ScopeKey, masked, normalised
from langmem_plugin.settings import Settings
from langmem_plugin.text_sanitizing import visible

if TYPE_CHECKING:
    from langmem_plugin.plugin import PhoneMemory

Url = Annotated[
    str | None,
    typer.Option(
        "--database", help="sqlite:///file.db or postgresql://…; default: as set, $LANGMEM_DATABASE or data/langmem.db"
    ),
]
Config = Annotated[
    Path | None, typer.Option("--config", help="the service's JSON file of settings; LANGMEM_… variables win over it")
]
Create = Annotated[bool, typer.Option("--create", help="make the database that --database names, if it is not there")]
Phone = Annotated[str, typer.Argument(help="whose: a phone or any other identifier, in any spelling")]
Limit = Annotated[int, typer.Option(min=1, max=1_000_000, help="at most so many")]
Whose = Annotated[str | None, typer.Option("--phone", help="whose it is, where several people have this id")]


class Where(NamedTuple):
    """The values of --database and --config."""

    database: str | None
    config: Path | None

    def settings(self) -> Settings:
        """Return the settings of the file, if one is named, and the environment. Raises ConfigurationError for an
        unreadable file.
        """
        if self.config is None:
            return Settings()
        settings, problems = examined(self.config)
        for key, reason in problems.items():
            typer.echo(visible(f"{self.config}: {key}: {reason}"), err=True)
        return settings

    def of_a_memory(self) -> Settings:
        """Return the settings. Raises ConfigurationError where they switch the memory off."""
        settings = self.settings()
        if not settings.enable_memory_system:
            raise ConfigurationError("the memory is switched off: there is nothing that this could work on")
        return settings


def on(
    opens: Callable[..., AbstractContextManager[Any]], **how: Any
) -> Callable[[Callable[..., Told | None]], Callable[..., None]]:
    """Return a decorator that makes a command of a function: its first argument is what `opens(where, **how)` gives,
    all others are options.

    The options --database and --config are added, and --json if the function returns Told. That is printed when
    everything is closed.
    """

    def made(function: Callable[..., Told | None]) -> Callable[..., None]:
        signature = inspect.signature(function)
        own = list(signature.parameters.values())[1:]
        added: list[tuple[str, Any, Any]] = []
        if signature.return_annotation in (Told, Told | None):
            added = [("as_json", Json, False)]
        added += [("database", Url, None), ("config", Config, None)]
        parameters = [each for each in own if each.name != "as_json"] + [
            Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for name, annotation, default in added
        ]

        @functools.wraps(function)
        def command(*, database: str | None, config: Path | None, as_json: bool = False, **options: Any) -> None:
            if "as_json" in signature.parameters:
                options["as_json"] = as_json
            with opens(Where(database, config), **how) as opened:
                found = function(opened, **options)
            if found is not None:
                tell(found, as_json=as_json)

        # Typer reads both, and must not see the argument that is opened.
        command.__signature__ = signature.replace(parameters=parameters, return_annotation=None)  # type: ignore[attr-defined]
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        return command

    return made


@contextmanager
def memory_of(
    where: Where, *, embeds: bool = True, create: bool | None = None, settings: Settings | None = None
) -> Iterator["PhoneMemory"]:
    """Open the memory without background work, or as `settings` say, on a database that exists.

    If it does not `embed`, nothing is searched by meaning or stored, and no model is loaded. `create` is given for a
    command that may make a database: True also allows one that --database names.
    """
    from langmem_plugin.agent.models import NoEmbeddings  # noqa: PLC0415 - what both import takes a second
    from langmem_plugin.plugin import PhoneMemory  # noqa: PLC0415

    settings = settings or quiet(where.settings())
    if settings.enable_memory_system:  # when it is switched off no database is needed
        refuse_missing(settings, where.database, create=create)
    if not embeds:
        settings = settings.model_copy(update={"vector_index": None})
    with PhoneMemory(where.database, settings=settings, embeddings=None if embeds else NoEmbeddings()) as memory:
        memory.database.operations.enabled = False  # a command's times tell nothing about the service
        yield memory


@contextmanager
def saver_of(where: Where) -> Iterator[tuple[ConversationSaver, SessionManager]]:
    """Open the conversations alone."""
    settings = where.settings()
    refuse_missing(settings, where.database)
    with ConversationSaver.from_settings(settings, where.database) as saver:
        yield saver, SessionManager(saver, settings, person_of=functools.partial(person_in, saver.database))


@contextmanager
def database_with(where: Where) -> Iterator[tuple[Database, Settings]]:
    """Open the database alone; give it with its settings."""
    settings = where.settings()
    refuse_missing(settings, where.database)
    with open_database(settings, where.database) as database:
        yield database, settings


def quiet(settings: Settings) -> Settings:
    """Return the settings for a command: nothing runs in its background."""
    return settings.model_copy(update={"sweep_every": None, "search_past_sessions": False, "extraction": "off"})


def refuse_missing(settings: Settings, url: str | None, *, create: bool | None = None) -> None:
    """Raise InvalidInput where there is no file or server's database of ours.

    `create` is given for a command that may make a database: the one of the settings then need not exist, and one that
    `url` names only if `create` is True.
    """
    if create or (create is not None and url is None):
        return
    where, schema = database_of(settings, url)
    parsed = database_url(where)
    if parsed.get_backend_name() == "sqlite":
        if parsed.database is None:
            raise InvalidInput("a database in memory holds nothing when a command begins: name a file by --database")
        path = Path(str(parsed.database))
        is_there = path.exists() and (not path.is_file() or _is_ours(path))
    else:
        is_there = _is_on_server(where, schema)
    if not is_there:
        told_to = ", or say --create to make it" if create is not None else ""
        raise InvalidInput(
            f"there is no database of langmem at {shown_url(parsed)}: look at --database, or start the service{told_to}"
        )


def _is_ours(path: Path) -> bool:
    """Tell whether the file is a database of ours; it is opened read-only, because a file of another program must not
    change.
    """
    if path.stat().st_size == 0:
        return False
    uri = f"{path.absolute().as_uri()}?mode=ro"
    engine = create_engine("sqlite://", creator=lambda: sqlite3.connect(uri, uri=True), poolclass=NullPool)
    with suppress(DBAPIError), engine.connect() as connection:
        return is_made(connection)
    return True  # the later opening reports the fault


def _is_on_server(where: str | Path, schema: str | None) -> bool:
    found: list[bool] = []

    def look(read: Transaction, write: Transaction, *, schema: str | None) -> None:  # noqa: ARG001 - nothing is made
        with read() as connection:
            found.append(is_made(connection, schema))

    Database(where, schema=schema, make_tables=look).close()
    return found[0]


def owner_of(memory: "PhoneMemory", memory_id: str, phone: str | None) -> OwnerKey:
    """Return the key of the person who has this memory, and note that an operator looked.

    Raises InvalidInput where nobody has it, or several have it and `phone` does not say whose is meant.
    """
    from langmem_plugin.memory.keep.changes_and_checksums import owners_of_memory  # noqa: PLC0415 - the memory, that is opened, has it

    with memory.database.read() as connection:
        found = [OwnerKey(each) for each in owners_of_memory(connection, memory_id) if not isinstance(each, ScopeKey)]
    if phone is not None:
        person = memory.people.typed(phone)
        found = [each for each in found if each == person]
    if not found:
        raise InvalidInput(f"there is no memory {memory_id}: `langmem memories list PHONE` shows their ids")
    if len(found) > 1:
        raise InvalidInput(f"{' and '.join(map(masked, found))} have this id: say whose it is by --phone")
    note_read(memory.saver, subject=memory_id, owner=found[0])
    return found[0]


def note_read(
    saver: ConversationSaver, action: str = "operator.read", *, subject: str, owner: str | None = None
) -> None:
    """Note the reading in the audit log, before an operator is shown what people said or what is remembered of them."""
    region = saver.sessions.region
    with saver.database.write() as connection:
        whose = None if owner is None else person_of(connection, normalised(owner, region))
        record(connection, action, owner=whose, subject=subject)
