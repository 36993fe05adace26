"""`langmem expire`, `sweep`, `doctor`, `backup`, `reindex`, `reembed` and `worker`: upkeep by hand."""

import shutil
import signal
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from shutil import disk_usage
from typing import Annotated, NamedTuple

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from sqlalchemy import func, select

from langmem_plugin.cli.opening import Config, Url, chosen, in_force, memory_of, opened, quiet, refuse_missing
from langmem_plugin.cli.printing import Json, print_json, progress, say
from langmem_plugin.conversation.media.media_store import Media
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.session_manager import SessionManager
from langmem_plugin.conversation.storage.conversation_doctor import examine, examine_beside
from langmem_plugin.conversation.storage.conversation_doctor import rebuild as rebuild_session
from langmem_plugin.database.audit_trail import record
from langmem_plugin.database.backup import backup as copied
from langmem_plugin.database.conversation_tables import message, session
from langmem_plugin.database.memory_tables import memory
from langmem_plugin.database.opening import in_the_open, open_database
from langmem_plugin.database.tenants import media_of
from langmem_plugin.database.urls import shown
from langmem_plugin.database.writing_tables import extraction_job
from langmem_plugin.errors import InvalidInput, SessionRefused, TypeNotAllowed
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.keep.stored_tables import examine as examine_memories


def worker(
    once: Annotated[bool, typer.Option("--once", help="work on what is due now, and end")] = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Read what people said in conversations that are quiet, and store the facts. Any number may run at once.

    SIGTERM or SIGINT lets it do the conversation it is at to its end; killed, another one goes on where it was.
    """
    from langmem_plugin.plugin import PhoneMemory  # noqa: PLC0415 - loads the embedding model

    settings = chosen(config)
    if not settings.extracts:
        raise InvalidInput('nothing is extracted by these settings: set extraction to "rules" or to a model\'s name')
    refuse_missing(settings, database)
    settings = settings.model_copy(update={"sweep_every": None, "search_past_sessions": False})
    stopped = SimpleQueue[None]()  # an Event's set() waits for ever in a handler that interrupts its wait()
    before = {each: signal.signal(each, lambda *_: stopped.put(None)) for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        with PhoneMemory(database, settings=settings) as memory:
            extraction = memory.extraction
            assert extraction is not None  # noqa: S101 - the settings say so
            typer.echo("ready", err=as_json)
            if once:
                extraction.work_through()
            else:
                extraction.wake()
                stopped.get()
            extraction.stop()
            extraction.wait()
            jobs = extraction.jobs.states()
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
    if as_json:
        print_json({"jobs": dict(jobs)})
        return
    typer.echo(", ".join(f"{many} {state}" for state, many in sorted(jobs.items())) or "nothing waits to be taken in")


def reindex(
    owner: Annotated[str | None, typer.Option(help="only this phone's memories, however few")] = None,
    store: Annotated[
        str | None,
        typer.Option(help="chroma:FOLDER or pgvector; default: $LANGMEM_VECTOR_INDEX"),
    ] = None,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Bring the vector indexes up to date, and make anew what is missing or damaged. Exit code 1 if one fails."""
    from langmem_plugin.plugin import PhoneMemory  # noqa: PLC0415 - loads the embedding model

    settings = chosen(config)
    named = store or settings.vector_index
    if named is None:
        raise InvalidInput("say which index: --store chroma:FOLDER or --store pgvector")
    settings = quiet(settings.model_copy(update={"vector_index": named}))
    refuse_missing(settings, database)
    with PhoneMemory(database, settings=settings) as memory, _bar() as bar:
        service = memory.service
        if lacking := service.reembedding.waiting():
            typer.echo(
                f"{lacking} texts have no vector of {service.embedder.model}: `langmem reembed` embeds them", err=True
            )
        owners = service.large_owners() if owner is None else [memory.people.typed(owner)]
        failed = [each for each in owners if not _indexed(service, each, bar)]
    whole = len(owners) - len(failed)
    if as_json:
        print_json({"store": named, "owners": len(owners), "up_to_date": whole, "without_a_vector": lacking})
    else:
        typer.echo(f"{whole} of {len(owners)} indexes are up to date in {named}")
    if failed and not as_json:
        typer.echo("a running service keeps its Chroma folder to itself, and up to date: stop it, or see the warnings")
    if failed:
        raise typer.Exit(1)


def reembed(as_json: Json = False, database: Url = None, config: Config = None) -> None:
    """Embed what has no vector of the present model, as after a change of it, and drop the vectors of other models."""
    with memory_of(database, config) as memory, _bar() as bar:
        work = memory.service.reembedding
        waiting = work.waiting()
        task = bar.add_task("embedding", total=waiting)
        work.run(lambda done: bar.update(task, completed=done))
        left, model = work.waiting(), memory.service.embedder.model
    if as_json:
        print_json({"model": model, "embedded": waiting - left, "left": left})
    else:
        typer.echo(f"{waiting - left} texts embedded by {model}, {left} left")
    if left:
        raise typer.Exit(1)


def _indexed(service: MemoryService, owner: OwnerKey, bar: Progress) -> bool:
    if service.index is None:
        return False
    index, task = service.index, bar.add_task(masked(owner), total=None)

    def show(done: int) -> None:
        bar.update(task, completed=done, total=done + index.waiting(owner))

    whole = service.reindex(owner, show)
    if whole:
        bar.update(task, total=bar.tasks[task].completed)
    return whole


def _bar() -> Progress:
    return progress(
        TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    )


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


def expire(as_json: Json = False, database: Url = None, config: Config = None) -> None:
    """Archive the sessions that fell silent and purge the archive of what is too old."""
    if (by := in_force(database, config)) is None:
        return
    if not as_json:
        say(*by.remarks)
    with ConversationSaver.from_settings(by.settings, database) as saver:
        ended, purged = SessionManager(saver, by.settings).expire()
    if as_json:
        print_json({"archived": ended, "purged": purged, "remarks": by.remarks})
    else:
        say(f"{ended} sessions archived, {purged} purged")


def sweep(as_json: Json = False, database: Url = None, config: Config = None) -> None:
    """Do at once what a service does in the background: archive what fell silent, delete what is past its time."""
    from langmem_plugin.plugin import PhoneMemory  # noqa: PLC0415 - loads the embedding model

    if (by := in_force(database, config)) is None:
        return
    if not as_json:
        say(*by.remarks)
    with PhoneMemory(database, settings=quiet(by.settings)) as memory:
        swept = asdict(memory.housekeeping.sweep())
    if held_back := swept.pop("held_back"):
        say(held_back)
        raise typer.Exit(1)
    if as_json:
        print_json({**swept, "remarks": by.remarks})
        return
    for kind, count in swept.items():
        what, _, done = kind.rpartition("_")
        say(f"{count:7}  {what.replace('_', ' ')} {done}")


def doctor(
    rebuild: Annotated[bool, typer.Option("--rebuild", help="rebuild what is damaged from its messages")] = False,
    as_json: Json = False,
    database: Url = None,
    config: Config = None,
) -> None:
    """Say what there is, read every session and every memory, and report what is damaged.

    Exit code 1 if something is and stays so.
    """
    with opened(database, config) as (saver, _):
        held = _held(saver)
        open_to_readers = in_the_open(saver.database)
        memories = examine_memories(saver.database)
        refused = examine_beside(saver)
        damages = examine(saver)
        if not as_json:
            say(*(f"{what:9} {is_there}" for what, is_there in held.items()))
            say(*(f"{row.row_id}  {row.kind} of {masked(row.owner)}: not what was written" for row in memories))
            say(*(f"{masked(each.thread)}  {each.why}" for each in refused))
            say(*(f"{damage.session_id}  {damage.what}: {damage.why}" for damage in damages))
        broken = dict.fromkeys(damage.session_id for damage in damages)
        outcomes = {each: _rebuilt(saver, each) for each in broken} if rebuild else {}
    left = [each for each in broken if each not in outcomes or not outcomes[each].is_rebuilt]
    if as_json:
        print_json(
            {
                "sound": not (left or memories or refused),
                "held": held,
                "in_the_open": open_to_readers,
                "memories": [{"id": row.row_id, "kind": row.kind, "owner": masked(row.owner)} for row in memories],
                "beside": [{"chat": masked(each.thread), "why": each.why} for each in refused],
                "sessions": [{"id": each.session_id, "what": each.what, "why": str(each.why)} for each in damages],
                "rebuilt": [each for each, outcome in outcomes.items() if outcome.is_rebuilt],
            }
        )
    else:
        if not damages:
            say("every session can be read")
        elif not rebuild:
            say("run `langmem doctor --rebuild` to rebuild these sessions from their messages")
        say(*(outcome.told for outcome in outcomes.values()), *filter(None, [open_to_readers]))
        if memories:
            say("restore memories from a backup, or forget them; vectors are made anew when they are next read")
    if left or memories or refused:
        raise typer.Exit(1)


def _held(saver: ConversationSaver) -> dict[str, str]:
    """Says what there is, in words."""
    database, counted = saver.database, {}
    with database.read() as connection:
        for table in (session, message, memory):
            counted[table] = connection.execute(select(func.count()).select_from(table)).scalar_one()
        people = connection.execute(select(func.count(memory.c.owner.distinct()))).scalar_one()
        states = connection.execute(select(extraction_job.c.state, func.count()).group_by(extraction_job.c.state)).all()
    file, size = database.path, ""
    if file is not None:
        size = f", {file.stat().st_size / 1e6:,.1f} MB, {disk_usage(file.parent).free / 1e9:,.1f} GB free"
    talks, facts = (
        f"{counted[session]} sessions, {counted[message]} messages",
        f"{counted[memory]} memories of {people} people",
    )
    return {
        "database": f"{shown(database.url)}{size}",
        "holds": f"{talks}, {facts}",
        "read": ", ".join(f"{count} {state}" for state, count in states) or "nothing said waits to be read",
    }


class _Outcome(NamedTuple):
    """The outcome of rebuilding a session."""

    is_rebuilt: bool
    told: str


def _rebuilt(saver: ConversationSaver, session_id: str) -> _Outcome:
    try:
        kept, lost = rebuild_session(saver, session_id)
    except TypeNotAllowed:
        return _Outcome(False, f"{session_id} left as it is: allow the type it holds, or purge it")
    except SessionRefused:
        told = f"{session_id} left as it is: bring back the key database that it was written with, or purge it"
        return _Outcome(False, told)
    return _Outcome(True, f"{session_id} rebuilt: {kept} messages kept, {lost} lost")
