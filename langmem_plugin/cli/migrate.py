"""`langmem migrate`: what people have elsewhere is taken over by one command; a second run takes only what is new."""

from collections.abc import Mapping
from enum import StrEnum
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Annotated
from zoneinfo import ZoneInfo

import typer

from langmem_plugin.cli.opening import Config, Create, Url, chosen, memory_of, refuse_missing_if_named
from langmem_plugin.cli.portability import Doubtful, Dry, Junk, PhoneOf, Report, begun, counted, names_in, tell
from langmem_plugin.cli.printing import Json
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.database.owners import person_in
from langmem_plugin.errors import InvalidInput
from langmem_plugin.people.time_zones import zone_named, zone_of_phone
from langmem_plugin.portability import source_database
from langmem_plugin.portability.grown_sessions import only_new
from langmem_plugin.portability.records import ImportedRecords
from langmem_plugin.portability.sources import langgraph_store, whatsapp
from langmem_plugin.portability.sources.langgraph_saver import StockThreads
from langmem_plugin.portability.thread_migration import ThreadMigration
from langmem_plugin.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Take over conversations and memories from elsewhere.")

_Database = Annotated[str, typer.Argument(help="a SQLite file, or postgresql://…; it is only read")]
_Phone = Annotated[str | None, typer.Option("--phone", help="whose all of it becomes, if it is one person's")]


class Dates(StrEnum):
    """The part that comes first in a chat's dates."""

    DAY_FIRST = "day-first"
    MONTH_FIRST = "month-first"
    YEAR_FIRST = "year-first"


@app.command("langgraph-saver")
def langgraph_saver(
    source: _Database,
    *,
    phone_of: PhoneOf = None,
    current: Annotated[
        bool,
        typer.Option(
            "--current", help="each person's last conversation goes on at their next message, however old it is"
        ),
    ] = False,
    report: Report = None,
    create: Create = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """The threads of LangGraph's SqliteSaver or PostgresSaver, with their whole state: they go on where they were.

    A thread id that is a phone is that phone's conversation, any other stays as it is. A person's last thread stays
    their current conversation, older ones are archived.
    """
    settings = _settings(config)
    refuse_missing_if_named(settings, database, create=create)
    names = names_in(phone_of)
    begun(report)
    with (
        ConversationSaver.from_settings(settings, database) as saver,
        source_database.opened(source) as connection,
        counted("threads") as progress,
    ):
        person_of = partial(person_in, saver.database)
        migration = ThreadMigration(saver, phone_of=names, person_of=person_of, as_current=current)
        done = migration.run(StockThreads(connection, saver.serde), progress)
    tell(done, report, as_json=as_json)


@app.command("langgraph-store")
def langgraph_store_(
    source: _Database,
    *,
    owner_from: Annotated[
        str | None,
        typer.Option(help="whose a namespace is: the number of its part, from 0, or a pattern as users.{owner}.facts"),
    ] = None,
    text_field: Annotated[
        str | None, typer.Option(help="where the text is in a value, as memory or profile.summary")
    ] = None,
    phone: _Phone = None,
    phone_of: PhoneOf = None,
    doubtful: Junk = Doubtful.PENDING,
    dry_run: Dry = False,
    report: Report = None,
    create: Create = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """The memories of LangGraph's SqliteStore or PostgresStore."""
    if (owner_from is None) == (phone is None):
        raise InvalidInput("say whose the memories are: --owner-from 0 for a part of the namespace, or --phone for all")
    owner_of = langgraph_store.owner_from(owner_from) if owner_from is not None else lambda _: phone
    records = langgraph_store.records(source, owner_of=owner_of, text_field=text_field)
    _import(
        records,
        phone_of=names_in(phone_of),
        doubtful=doubtful,
        report=report,
        create=create,
        as_json=as_json,
        database=database,
        config=config,
        dry_run=dry_run,
    )


@app.command("whatsapp")
def whatsapp_(
    file: Annotated[Path, typer.Argument(help="the .txt or .zip that WhatsApp's “Export chat” made")],
    *,
    phone: Annotated[str, typer.Option("--phone", help="the person's")],
    bot: Annotated[str, typer.Option(help="the name or number under which the assistant writes in the chat")],
    person: Annotated[
        str | None, typer.Option(help="the person's name in the chat, if more than one writes in it")
    ] = None,
    dates: Annotated[Dates | None, typer.Option(help="what comes first; default: as the dates say")] = None,
    time_zone: Annotated[
        str | None, typer.Option(help="of the phone that made the export; default: the person's number's, else as set")
    ] = None,
    dry_run: Dry = False,
    report: Report = None,
    create: Create = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """A chat that WhatsApp exported, as the past conversations of one phone: silence ends each, as set."""
    settings = _settings(config)
    records = whatsapp.records(
        file,
        bot=bot,
        phone=phone,
        person=person,
        silence=settings.session_timeout,
        zone=_zone(time_zone, phone, settings),
        order=None if dates is None else dates.value,
    )
    _import(
        records,
        doubtful=Doubtful.PENDING,
        report=report,
        create=create,
        as_json=as_json,
        database=database,
        config=config,
        dry_run=dry_run,
        talks_of=phone,
    )


def _import(
    records: ImportedRecords,
    *,
    doubtful: Doubtful,
    report: Path | None,
    create: bool,
    as_json: bool,
    database: str | None,
    config: Path | None,
    dry_run: bool,
    phone_of: Mapping[str, str] = MappingProxyType({}),
    talks_of: str | None = None,
) -> None:
    """`talks_of` is whose conversations the records are: of those that are there already, what is new is taken."""
    _settings(config)
    with (
        memory_of(database, config, create=None if dry_run else create) as memory,
        counted("records") as progress,
    ):
        begun(report)
        if talks_of is not None:
            records = only_new(records, memory.database, memory.people.typed(talks_of))
        done = memory.importer.run(
            records, phone_of=phone_of, doubtful=doubtful.manner, dry_run=dry_run, progress=progress
        )
    tell(done, report, as_json=as_json)


def _settings(config: Path | None) -> Settings:
    settings = chosen(config)
    if not settings.enable_memory_system:
        raise InvalidInput("the memory is switched off: nothing can be taken over")
    return settings


def _zone(named: str | None, phone: str, settings: Settings) -> ZoneInfo:
    if named is None:
        return ZoneInfo(zone_of_phone(phone) or settings.time_zone)
    if (known := zone_named(named)) is None:
        raise InvalidInput(f"{named!r} is no time zone: give a name such as Asia/Jerusalem")
    return ZoneInfo(known)
