"""`langmem export`, `import` and `migrate`: one person's data out, and people's data from elsewhere in,
nothing twice.
"""

import csv
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal
from zoneinfo import ZoneInfo

import typer
from rich.progress import TextColumn, TimeElapsedColumn

from langmem_plugin.cli.opening import Create, Phone, Where, memory_of, on, refuse_missing
from langmem_plugin.cli.printing import Told, progress, say
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.database.owners import person_in
from langmem_plugin.errors import InvalidInput, UnreadableImport
from langmem_plugin.people.time_zones import zone_named, zone_of_phone
from langmem_plugin.portability import document_files, source_database
from langmem_plugin.portability.records import ImportReport
from langmem_plugin.portability.sources import SOURCES, langgraph_store, whatsapp
from langmem_plugin.portability.sources.langgraph_saver import StockThreads
from langmem_plugin.portability.thread_migration import ThreadMigration
from langmem_plugin.settings import Settings

if TYPE_CHECKING:
    from langmem_plugin.plugin import PhoneMemory


app = typer.Typer(no_args_is_help=True, help="Take over conversations and memories from elsewhere.")

_Database = Annotated[str, typer.Argument(help="a SQLite file, or postgresql://…; it is only read")]
_PhoneOf = Annotated[
    Path | None,
    typer.Option(
        "--phone-of", help="a CSV file of lines `name there,phone here`; a name that is not in it stays what it is"
    ),
]
_Report = Annotated[Path | None, typer.Option("--report", help="a new JSON file for the whole report")]
_Dry = Annotated[bool, typer.Option("--dry-run", help="say what would be stored, and store nothing")]
_Junk = Annotated[
    Literal["pending", "leave-out"],
    typer.Option("--doubtful", help="what looks like junk elsewhere: ask the person, or leave it out"),
]

_MOST_SHOWN = 20
_FORMATS = ("langmem", *SOURCES)


@on(memory_of)
def export_person(
    memory: "PhoneMemory",
    phone: Phone,
    *,
    form: Annotated[
        Literal["json", "csv"],
        typer.Option("--format", help="one JSON document, or a table for each kind of record"),
    ] = "json",
    to: Annotated[
        Path | None, typer.Option("--to", help="a new file; of csv a .zip or a new folder; default: standard output")
    ] = None,
) -> None:
    """All that is stored of one person, for them to read or to import elsewhere. Nobody else may read a new file."""
    if form == "csv" and to is None:
        raise InvalidInput("tables are several files: name a .zip or a folder by --to")
    person = memory.people.typed(phone)
    if not memory.exporter.holdings(person).is_something:
        raise InvalidInput(f"nothing is stored of {phone}: look at the number, and at --database")
    if to is None:
        memory.export(person, sys.stdout)
        return
    write = document_files.write_csv if form == "csv" else document_files.write_json
    write(memory.exporter, person, to)
    say(f"all that is stored of {phone} is in {to}")


@on(nullcontext)
def import_person(
    where: Where,
    path: Annotated[Path, typer.Argument(help="a file or folder")],
    *,
    source: Annotated[
        str, typer.Option("--from", help=f"its format: {', '.join(_FORMATS)}; auto: it is looked at")
    ] = "auto",
    phone: Annotated[str | None, typer.Option("--phone", help="whose it becomes; default: as it says")] = None,
    phone_of: _PhoneOf = None,
    dry_run: _Dry = False,
    doubtful: _Junk = "pending",
    report: _Report = None,
    create: Create = False,
) -> Told:
    """One person's export, or what another product kept. Nothing is stored twice: a run that broke off is run again."""
    if not path.exists():
        raise InvalidInput(f"there is no {path}: nothing is done")
    if source not in ("auto", *_FORMATS):
        raise InvalidInput(f"{source} is no format that is known: name auto or one of {', '.join(_FORMATS)}")
    kind = _kind_of(path) if source == "auto" else source
    names = _names_in(phone_of)
    if names and kind == "langmem":
        raise InvalidInput("it is one person's own export: say by --phone whose it becomes")
    document = document_files.read(path) if kind == "langmem" else None

    def taken_in(memory: "PhoneMemory", counter: Callable[[int], object]) -> ImportReport:
        whose = None if phone is None else memory.people.typed(phone)
        if document is not None:
            return memory.import_person(document, phone=whose, dry_run=dry_run, progress=counter)
        records = SOURCES[kind].records(path)
        junk = doubtful
        run = memory.importer.run
        return run(records, phone=whose, phone_of=names, dry_run=dry_run, doubtful=junk, progress=counter)

    return _imported(where, taken_in, report, create=None if dry_run else create)


def _kind_of(path: Path) -> str:
    if document_files.recognises(path):
        return "langmem"
    found = next((name for name, source in SOURCES.items() if source.recognises(path)), None)
    if found is None:
        raise UnreadableImport(f"it cannot be told what {path} is: say it by --from ({', '.join(_FORMATS)})")
    return found


@app.command("langgraph-saver")
@on(nullcontext)
def langgraph_saver(
    where: Where,
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
) -> Told:
    """The threads of LangGraph's SqliteSaver or PostgresSaver, with their whole state: they go on where they were.

    A thread id that is a phone is that phone's conversation, any other stays as it is. A person's last thread stays
    their current conversation, older ones are archived.
    """
    settings = where.of_a_memory()
    refuse_missing(settings, where.database, create=create)
    names = _names_in(phone_of)
    _begin(report)
    with (
        ConversationSaver.from_settings(settings, where.database) as saver,
        source_database.opened(source) as connection,
        _counted("threads") as counter,
    ):
        person_of = partial(person_in, saver.database)
        migration = ThreadMigration(saver, phone_of=names, person_of=person_of, as_current=current)
        done = migration.run(StockThreads(connection, saver.serde), counter)
    return _told(done, report)


@app.command("langgraph-store")
@on(nullcontext)
def langgraph_store_(
    where: Where,
    source: _Database,
    *,
    owner_from: Annotated[
        str | None,
        typer.Option(help="whose a namespace is: the number of its part, from 0, or a pattern as users.{owner}.facts"),
    ] = None,
    text_field: Annotated[
        str | None, typer.Option(help="where the text is in a value, as memory or profile.summary")
    ] = None,
    phone: Annotated[str | None, typer.Option("--phone", help="whose all of it becomes, if it is one person's")] = None,
    phone_of: _PhoneOf = None,
    doubtful: _Junk = "pending",
    dry_run: _Dry = False,
    report: _Report = None,
    create: Create = False,
) -> Told:
    """The memories of LangGraph's SqliteStore or PostgresStore."""
    if (owner_from is None) == (phone is None):
        raise InvalidInput("say whose the memories are: --owner-from 0 for a part of the namespace, or --phone for all")
    owner_of = langgraph_store.owner_from(owner_from) if owner_from is not None else lambda _: phone
    records = langgraph_store.records(source, owner_of=owner_of, text_field=text_field)
    names, junk = _names_in(phone_of), doubtful

    def taken_in(memory: "PhoneMemory", counter: Callable[[int], object]) -> ImportReport:
        return memory.importer.run(records, phone_of=names, doubtful=junk, dry_run=dry_run, progress=counter)

    return _imported(where, taken_in, report, create=None if dry_run else create)


@app.command("whatsapp")
@on(nullcontext)
def whatsapp_(
    where: Where,
    file: Annotated[Path, typer.Argument(help="the .txt or .zip that WhatsApp's “Export chat” made")],
    *,
    phone: Annotated[str, typer.Option("--phone", help="the person's")],
    bot: Annotated[str, typer.Option(help="the name or number under which the assistant writes in the chat")],
    person: Annotated[
        str | None, typer.Option(help="the person's name in the chat, if more than one writes in it")
    ] = None,
    dates: Annotated[
        whatsapp.DateOrder | None, typer.Option(help="what comes first; default: as the dates say")
    ] = None,
    time_zone: Annotated[
        str | None, typer.Option(help="of the phone that made the export; default: the person's number's, else as set")
    ] = None,
    dry_run: _Dry = False,
    report: _Report = None,
    create: Create = False,
) -> Told:
    """A chat that WhatsApp exported, as the past conversations of one phone: silence ends each, as set."""
    settings = where.settings()
    records = whatsapp.records(
        file,
        bot=bot,
        phone=phone,
        person=person,
        silence=settings.session_timeout,
        zone=_zone(time_zone, phone, settings),
        order=dates,
    )

    def taken_in(memory: "PhoneMemory", counter: Callable[[int], object]) -> ImportReport:
        new = whatsapp.only_new(records, memory.database, memory.people.typed(phone))
        return memory.importer.run(new, dry_run=dry_run, progress=counter)

    return _imported(where, taken_in, report, create=None if dry_run else create)


def _zone(named: str | None, phone: str, settings: Settings) -> ZoneInfo:
    if named is None:
        return ZoneInfo(zone_of_phone(phone) or settings.time_zone)
    if (known := zone_named(named)) is None:
        raise InvalidInput(f"{named!r} is no time zone: give a name such as Asia/Jerusalem")
    return ZoneInfo(known)


def _names_in(file: Path | None) -> Mapping[str, str]:
    """Return phones by the names of a file. Raises InvalidInput for a line that is no pair, and for a name with two
    phones.
    """
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


def _imported(
    where: Where,
    taken_in: Callable[["PhoneMemory", Callable[[int], object]], ImportReport],
    report: Path | None,
    *,
    create: bool | None,
) -> Told:
    where.of_a_memory()
    with memory_of(where, create=create) as memory, _counted("records") as counter:
        _begin(report)
        done = taken_in(memory, counter)
    return _told(done, report)


def _begin(report: Path | None) -> None:
    """Create the report's file, which nobody else may read. Raises FileExistsError before anything is done."""
    if report is not None:
        report.touch(mode=0o600, exist_ok=False)


@contextmanager
def _counted(what: str) -> Iterator[partial[None]]:
    columns = (TextColumn("{task.completed} " + what, markup=False), TimeElapsedColumn())
    with progress(*columns) as bar:
        yield partial(bar.advance, bar.add_task(what, total=None))


def _told(done: ImportReport, file: Path | None) -> Told:
    document = {
        "stored": dict(done.stored),
        "there_already": dict(done.there_already),
        "skipped": list(map(asdict, done.skipped)),
        "doubted": list(map(asdict, done.doubted)),
    }
    lines, remark = [], ""
    if file is not None:
        try:
            file.write_text(json.dumps(document, ensure_ascii=False, indent=1), encoding="utf-8")
        except OSError as error:  # what was stored must be reported anyway
            remark = f"the report cannot be written to {file} ({error.strerror})"

    for what, counted in (("stored", done.stored), ("there already", done.there_already)):
        told = ", ".join(f"{many} {kind if many == 1 else _several(kind)}" for kind, many in counted.items() if many)
        lines.append(f"{what}: {told or 'nothing'}")
    if done.erased:
        lines.append(f"left out, of people who asked to be erased: {done.erased}")
    for what, remarks in (("skipped", done.skipped), ("doubted", done.doubted)):
        if remarks:
            lines.append(f"{what}: {len(remarks)}")
        lines += [f"  {each.place}: {each.reason}" for each in remarks[:_MOST_SHOWN]]
        if len(remarks) > _MOST_SHOWN:
            lines.append(f"  and {len(remarks) - _MOST_SHOWN} more: --report FILE has them all")
    return Told(document, lines, remark, failed=bool(remark))


def _several(kind: str) -> str:
    return f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"
