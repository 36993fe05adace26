"""`langmem migrate`: what people have elsewhere is taken over by one command; a second run takes only what is new."""

import csv
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

import typer
from rich.progress import TextColumn, TimeElapsedColumn

from langmem_plugin.cli.opening import Config, Create, Url, chosen, memory_of, refuse_missing_if_named
from langmem_plugin.cli.portability import Doubtful, as_document
from langmem_plugin.cli.printing import Json, print_json, progress
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.database.owners import person_in
from langmem_plugin.errors import InvalidInput
from langmem_plugin.people.time_zones import zone_named, zone_of_phone
from langmem_plugin.portability import source_database
from langmem_plugin.portability.grown_sessions import only_new
from langmem_plugin.portability.import_report import ImportReport
from langmem_plugin.portability.records import ImportedRecords
from langmem_plugin.portability.sources import langgraph_store, mem0, whatsapp
from langmem_plugin.portability.sources.langgraph_saver import StockThreads
from langmem_plugin.portability.thread_migration import ThreadMigration
from langmem_plugin.settings import Settings
from langmem_plugin.terminal import visible

app = typer.Typer(no_args_is_help=True, help="Take over conversations and memories from elsewhere.")

_Database = Annotated[str, typer.Argument(help="a SQLite file, or postgresql://…; it is only read")]
_PhoneOf = Annotated[
    Path | None,
    typer.Option(
        "--phone-of", help="a CSV file of lines `name there,phone here`; a name that is not in it stays what it is"
    ),
]
_Phone = Annotated[str | None, typer.Option("--phone", help="whose all of it becomes, if it is one person's")]
_Report = Annotated[Path | None, typer.Option("--report", help="a new JSON file for the whole report")]
_Dry = Annotated[bool, typer.Option("--dry-run", help="say what would be stored, and store nothing")]
_Doubtful = Annotated[Doubtful, typer.Option(help="what looks like junk: ask the person, or leave it out")]


class Dates(StrEnum):
    """The part that comes first in a chat's dates."""

    DAY_FIRST = "day-first"
    MONTH_FIRST = "month-first"
    YEAR_FIRST = "year-first"


_MOST_SHOWN = 20


@app.command("langgraph-saver")
def langgraph_saver(
    source: _Database,
    *,
    phone_of: _PhoneOf = None,
    current: Annotated[
        bool,
        typer.Option(
            "--current", help="each person's last conversation goes on at their next message, however old it is"
        ),
    ] = False,
    report: _Report = None,
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
    names = _mapping(phone_of)
    _begun(report)
    with (
        ConversationSaver.from_settings(settings, database) as saver,
        source_database.opened(source) as connection,
        _counted("threads") as progress,
    ):
        person_of = partial(person_in, saver.database)
        migration = ThreadMigration(saver, phone_of=names, person_of=person_of, as_current=current)
        done = migration.run(StockThreads(connection, saver.serde), progress)
    _tell(done, report, as_json=as_json)


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
    phone_of: _PhoneOf = None,
    doubtful: _Doubtful = Doubtful.PENDING,
    dry_run: _Dry = False,
    report: _Report = None,
    create: Create = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """The memories of LangGraph's SqliteStore or PostgresStore."""
    if (owner_from is None) == (phone is None):
        raise InvalidInput("say whose the memories are: --owner-from 0 for a part of the namespace, or --phone for all")
    owner_of = langgraph_store.owner_from(owner_from) if owner_from is not None else lambda _: phone
    names = _mapping(phone_of)
    records = langgraph_store.records(source, owner_of=owner_of, phone_of=names, text_field=text_field)
    _import(
        records,
        phone=None,
        doubtful=doubtful,
        report=report,
        create=create,
        as_json=as_json,
        database=database,
        config=config,
        dry_run=dry_run,
    )


@app.command("mem0")
def mem0_(
    file: Annotated[Path, typer.Argument(help="what mem0's get_all() gives, as JSON")],
    *,
    phone: _Phone = None,
    phone_of: _PhoneOf = None,
    doubtful: _Doubtful = Doubtful.PENDING,
    dry_run: _Dry = False,
    report: _Report = None,
    create: Create = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """The memories of a mem0 export, each its user_id's."""
    records = mem0.records(file, phone_of=_mapping(phone_of))
    _import(
        records,
        phone=phone,
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
    dry_run: _Dry = False,
    report: _Report = None,
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
        phone=None,
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
    phone: str | None,
    doubtful: Doubtful,
    report: Path | None,
    create: bool,
    as_json: bool,
    database: str | None,
    config: Path | None,
    dry_run: bool,
    talks_of: str | None = None,
) -> None:
    """`talks_of` is whose conversations the records are: of those that are there already, what is new is taken."""
    _settings(config)
    with (
        memory_of(database, config, create=None if dry_run else create) as memory,
        _counted("records") as progress,
    ):
        _begun(report)
        if talks_of is not None:
            records = only_new(records, memory.database, memory.people.typed(talks_of))
        whose = None if phone is None else memory.people.typed(phone)
        manner: Literal["pending", "leave out"] = "pending" if doubtful is Doubtful.PENDING else "leave out"
        done = memory.importer.run(records, phone=whose, doubtful=manner, dry_run=dry_run, progress=progress)
    _tell(done, report, as_json=as_json)


def _settings(config: Path | None) -> Settings:
    settings = chosen(config)
    if not settings.enable_memory_system:
        raise InvalidInput("the memory is switched off: nothing can be taken over")
    return settings


def _mapping(file: Path | None) -> Mapping[str, str]:
    """Raises InvalidInput for a line that is no pair, and for a name that stands for two."""
    names: dict[str, str] = {}
    if file is None:
        return names
    try:
        lines = list(csv.reader(file.read_text(encoding="utf-8-sig").splitlines()))
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidInput(f"{file.name} is no CSV file in UTF-8 ({error})") from error
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        if len(line) != 2 or not all(each.strip() for each in line):  # noqa: PLR2004 - a name and a phone
            raise InvalidInput(f"{file.name}:{number}: a line is `name there,phone here`")
        name, phone = line[0], line[1].strip()
        if names.setdefault(name, phone) != phone:
            raise InvalidInput(f"{file.name}:{number}: {name!r} stands for another phone above")
    return names


def _zone(named: str | None, phone: str, settings: Settings) -> ZoneInfo:
    if named is None:
        return ZoneInfo(zone_of_phone(phone) or settings.time_zone)
    if (known := zone_named(named)) is None:
        raise InvalidInput(f"{named!r} is no time zone: give a name such as Asia/Jerusalem")
    return ZoneInfo(known)


@contextmanager
def _counted(what: str) -> Iterator[partial[None]]:
    columns = (TextColumn("{task.completed} " + what, markup=False), TimeElapsedColumn())
    with progress(*columns) as bar:
        yield partial(bar.advance, bar.add_task(what, total=None))


def _tell(done: ImportReport, file: Path | None, *, as_json: bool) -> None:
    if file is not None:
        file.write_text(json.dumps(as_document(done), ensure_ascii=False, indent=1), encoding="utf-8")
    if as_json:
        print_json(as_document(done))
        return
    for what, counted in (("stored", done.stored), ("there already", done.there_already)):
        told = ", ".join(f"{many} {kind if many == 1 else _several(kind)}" for kind, many in counted.items() if many)
        typer.echo(f"{what}: {told or 'nothing'}")
    if done.erased:
        typer.echo(f"left out, of people who asked to be erased: {done.erased}")
    for what, remarks in (("skipped", done.skipped), ("doubted", done.doubted)):
        if remarks:
            typer.echo(f"{what}: {len(remarks)}")
        for each in remarks[:_MOST_SHOWN]:
            typer.echo(visible(f"  {each.place}: {each.reason}"))
        if len(remarks) > _MOST_SHOWN:
            typer.echo(f"  and {len(remarks) - _MOST_SHOWN} more: --report FILE has them all")


def _begun(report: Path | None) -> None:
    """The file is for nobody else to read. Raises FileExistsError before anything is done."""
    if report is not None:
        report.touch(mode=0o600, exist_ok=False)


def _several(kind: str) -> str:
    return f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"
