"""`langmem export` and `import`: one person's data out, and people's data in, from here or elsewhere, nothing twice."""

import csv
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast
from zoneinfo import ZoneInfo

import typer
from rich.console import Console
from rich.status import Status

from langmem_plugin.cli.command_context import Create, Phone, Where, memory_of, on, refuse_missing
from langmem_plugin.cli.output import Told, say
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.database.owners_and_erasures import person_in
from langmem_plugin.errors import InvalidInput, UnreadableImport
from langmem_plugin.people.time_zones import zone_of_phone
from langmem_plugin.portability import document_files, source_database
from langmem_plugin.portability.imported_records import ImportedRecords, ImportReport
from langmem_plugin.portability.sources import SOURCES, langgraph_store, whatsapp
from langmem_plugin.portability.sources.langgraph_saver import StockThreads
from langmem_plugin.portability.thread_migration import ThreadMigration
from langmem_plugin.settings import Settings

if TYPE_CHECKING:
    from langmem_plugin.plugin import PhoneMemory

_MOST_SHOWN = 20
_FORMATS = ("langmem", "langgraph-saver", "langgraph-store", "whatsapp", *SOURCES)


@on(memory_of)
def export_person(
    memory: "PhoneMemory",
    phone: Phone,
    *,
    form: Annotated[
        Literal["json", "csv"],
        typer.Option("--format", help="one JSON document, or a zip with a table for each kind of record"),
    ] = "json",
    to: Annotated[Path | None, typer.Option("--to", help="a new file; default: standard output")] = None,
) -> None:
    """All that is stored of one person, for them to read or to import elsewhere. Nobody else may read a new file."""
    if form == "csv" and to is None:
        raise InvalidInput("tables are several files: name a .zip by --to")
    person = memory.people.typed(phone)
    if not memory.exporter.holdings(person).is_something:
        raise InvalidInput(f"nothing is stored of {phone}: look at the number, and at --database")
    if to is None:
        memory.exporter.write(person, sys.stdout)
        return
    write = document_files.write_csv if form == "csv" else document_files.write_json
    write(memory.exporter, person, to)
    say(f"all that is stored of {phone} is in {to}")


@on(nullcontext)
def import_person(
    where: Where,
    source: Annotated[str, typer.Argument(help="a file, a folder, or postgresql://…; it is only read")],
    *,
    form: Annotated[
        str, typer.Option("--from", help=f"its format: {', '.join(_FORMATS)}; auto: it is looked at")
    ] = "auto",
    phone: Annotated[str | None, typer.Option("--phone", help="whose it becomes; default: as it says")] = None,
    phone_of: Annotated[
        Path | None,
        typer.Option(
            "--phone-of", help="a CSV file of lines `name there,phone here`; a name that is not in it stays what it is"
        ),
    ] = None,
    owner_at: Annotated[
        int | None, typer.Option(help="of a LangGraph store: which part of a namespace names whose it is, from 0")
    ] = None,
    bot: Annotated[
        str | None, typer.Option(help="of a WhatsApp chat: the name or number under which the assistant writes")
    ] = None,
    dates: Annotated[
        whatsapp.DateOrder | None, typer.Option(help="of a WhatsApp chat: what comes first; default: as the dates say")
    ] = None,
    create: Create = False,
) -> Told:
    """One person's export, or what another product kept. Nothing is stored twice: a run that broke off is run again.

    Threads of LangGraph's savers go on where they were: a thread id that is a phone is that phone's conversation, any
    other stays as it is; a person's last thread stays their current conversation, older ones are archived.
    """
    settings = where.of_a_memory()
    if form not in ("auto", *_FORMATS):
        raise InvalidInput(f"{form} is no format that is known: name auto or one of {', '.join(_FORMATS)}")
    is_file = "://" not in source
    if is_file and not Path(source).exists():
        raise InvalidInput(f"there is no {source}: nothing is done")
    kind = form if form != "auto" else _kind_of(source, is_chat=bot is not None)
    names = {} if phone_of is None else _names_in(phone_of)
    if kind == "langgraph-saver":
        if phone is not None:
            raise InvalidInput("its threads are of several people: say by --phone-of which thread is whose")
        return _threads(where, source, names, create=create)
    if kind == "langmem":
        if names:
            raise InvalidInput("it is one person's own export: say by --phone whose it becomes")
        document = document_files.read(Path(source))
        with memory_of(where, create=create) as memory, _busy():
            whose = None if phone is None else memory.people.typed(phone)
            return _told(memory.import_person(document, phone=whose))
    records = _records(kind, source, phone, owner_at=owner_at, bot=bot, dates=dates, settings=settings)
    with memory_of(where, create=create) as memory, _busy():
        whose = None if phone is None else memory.people.typed(phone)
        return _told(memory.importer.run(records, phone=whose, phone_of=names))


def _kind_of(source: str, *, is_chat: bool) -> str:
    if is_chat:
        return "whatsapp"
    tables = source_database.tables_in(source)
    path = Path(source)
    if "checkpoints" in tables:
        return "langgraph-saver"
    if "store" in tables:
        return "langgraph-store"
    if not tables and document_files.recognises(path):
        return "langmem"
    found = next((name for name, each in SOURCES.items() if not tables and each.recognises(path)), None)
    if found is None:
        raise UnreadableImport(f"it cannot be told what {path} is: say it by --from ({', '.join(_FORMATS)})")
    return found


def _records(
    kind: str,
    source: str,
    phone: str | None,
    *,
    owner_at: int | None,
    bot: str | None,
    dates: whatsapp.DateOrder | None,
    settings: Settings,
) -> ImportedRecords:
    if kind == "langgraph-store":
        if (owner_at is None) == (phone is None):
            raise InvalidInput("say whose it is: --owner-at 0 for the first part of a namespace, or --phone for all")
        return langgraph_store.records(source, owner_at=owner_at)
    if kind != "whatsapp":
        return cast("ImportedRecords", SOURCES[kind].records(Path(source)))
    if phone is None or bot is None:
        raise InvalidInput("say who is who in the chat: --phone for the person, --bot for the assistant's name in it")
    zone = ZoneInfo(zone_of_phone(phone) or settings.time_zone)
    silence = settings.session_timeout
    return whatsapp.records(Path(source), bot=bot, phone=phone, silence=silence, zone=zone, order=dates)


def _threads(where: Where, source: str, names: Mapping[str, str], *, create: bool) -> Told:
    settings = where.settings()
    refuse_missing(settings, where.database, create=create)
    with (
        ConversationSaver.from_settings(settings, where.database) as saver,
        source_database.opened(source) as connection,
        _busy(),
    ):
        migration = ThreadMigration(saver, phone_of=names, person_of=partial(person_in, saver.database))
        return _told(migration.run(StockThreads(connection, saver.serde)))


def _names_in(file: Path) -> Mapping[str, str]:
    """Return phones by the names of a file. Raises InvalidInput for a line that is no pair, and for a name with two
    phones.
    """
    names: dict[str, str] = {}
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


def _busy() -> Status:
    return Console(stderr=True).status("importing")


def _told(done: ImportReport) -> Told:
    document = {
        "stored": dict(done.stored),
        "there_already": dict(done.there_already),
        "skipped": list(map(asdict, done.skipped)),
        "doubted": list(map(asdict, done.doubted)),
    }
    lines = []
    for what, counted in (("stored", done.stored), ("there already", done.there_already)):
        told = ", ".join(f"{many} {kind if many == 1 else _several(kind)}" for kind, many in counted.items() if many)
        lines.append(f"{what}: {told or 'nothing'}")
    for what, remarks in (("skipped", done.skipped), ("doubted", done.doubted)):
        if remarks:
            lines.append(f"{what}: {len(remarks)}")
        lines += [f"  {each.place}: {each.reason}" for each in remarks[:_MOST_SHOWN]]
        if len(remarks) > _MOST_SHOWN:
            lines.append(f"  and {len(remarks) - _MOST_SHOWN} more: --json has them all")
    return Told(document, lines)


def _several(kind: str) -> str:
    return f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"
