"""`langmem expire`, `doctor`, `reindex` and `worker`: upkeep by hand."""

import shutil
import time
from contextlib import nullcontext
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from sqlalchemy import func, select

from langmem_plugin.cli.command_context import Where, memory_of, on, quiet, saver_of
from langmem_plugin.cli.output import Told, progress
from langmem_plugin.cli.serve_and_mcp import handled
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.session_manager import SessionManager
from langmem_plugin.conversation.storage.session_repair import examine, examine_beside
from langmem_plugin.conversation.storage.session_repair import rebuild as rebuild_session
from langmem_plugin.database.conversation_tables import message, session
from langmem_plugin.database.database_urls import shown
from langmem_plugin.database.encryption.encryption import in_the_open
from langmem_plugin.database.memory_tables import extraction_job
from langmem_plugin.database.memory_tables import memory as memory_table
from langmem_plugin.errors import InvalidInput, SessionRefused, TypeNotAllowed
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.keep.damage_check import examine as examine_memories


@on(nullcontext)
def worker(
    where: Where,
    *,
    once: Annotated[bool, typer.Option("--once", help="work on what is due now, and end")] = False,
    as_json: bool = False,
) -> Told:
    """Read what people said in conversations that are quiet, and store the facts. Any number may run at once.

    SIGTERM or SIGINT lets it do the conversation it is at to its end; killed, another one goes on where it was.
    """
    settings = where.settings()
    if not settings.extracts:
        raise InvalidInput('nothing is extracted by these settings: set extraction to "rules" or to a model\'s name')
    settings = settings.model_copy(update={"sweep_every": None, "search_past_sessions": False})
    stopped: list[int] = []
    with handled(lambda signal, _: stopped.append(signal)), memory_of(where, settings=settings) as memory:
        extraction = memory.extraction
        assert extraction is not None  # noqa: S101 - the settings say so
        typer.echo("ready", err=as_json)
        if once:
            extraction.work_through()
        else:
            extraction.worker.wake()
            while not stopped:  # a wait without an end would not notice a signal that comes just before it begins
                time.sleep(0.2)
        extraction.worker.stop()
        extraction.worker.wait()
        jobs = extraction.jobs.states()
    states = ", ".join(f"{many} {state}" for state, many in sorted(jobs.items()))
    return Told({"jobs": dict(jobs)}, [states or "nothing waits to be taken in"])


@on(nullcontext)
def reindex(where: Where) -> Told:
    """Embed what has no vector of the present model, as after a change of it, and bring the vector indexes up to date.

    What is missing or damaged of an index is made anew. Exit code 1 if something is left to do.
    """
    with memory_of(where, settings=quiet(where.settings())) as memory, _bar() as bar:
        service, work = memory.service, memory.service.reembedding
        waiting = work.waiting()
        task = bar.add_task("embedding", total=waiting)
        work.run(lambda done: bar.update(task, completed=done))
        left = work.waiting()
        owners = [] if service.index is None else service.index.large_owners()
        failed = [each for each in owners if not _indexed(service, each, bar)]
    whole, model = len(owners) - len(failed), service.embedder.model
    lines = [
        f"{waiting - left} texts embedded by {model}, {left} left",
        f"{whole} of {len(owners)} indexes are up to date",
    ]
    if failed:
        lines.append("a running service keeps its Chroma folder to itself and up to date: stop it, or see the warnings")
    document = {"embedded": waiting - left, "left": left, "owners": len(owners), "up_to_date": whole}
    return Told(document, lines, failed=left > 0 or bool(failed))


def _indexed(service: MemoryService, owner: OwnerKey, bar: Progress) -> bool:
    task = bar.add_task(masked(owner), total=None)

    def show(done: int) -> None:
        bar.update(task, completed=done)

    whole = service.reindex(owner, show)
    if whole:
        bar.update(task, total=bar.tasks[task].completed)
    return whole


def _bar() -> Progress:
    return progress(
        TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    )


@on(nullcontext)
def expire(where: Where) -> Told:
    """Do at once what a service does in the background: archive what fell silent, delete what is past its time.

    Where services of this database keep something for longer than these settings say, it is left to them.
    """
    where.of_a_memory()
    with memory_of(where) as memory:
        swept = memory.housekeeping.sweep()
    if swept is None:
        return Told({"held_back": True}, ["another process is sweeping just now"], failed=True)
    return Told(swept, [f"{many:7}  {kind.replace('_', ' ')}" for kind, many in swept.items()])


@on(saver_of)
def doctor(
    opened: tuple[ConversationSaver, SessionManager],
    *,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="rebuild what is damaged from its messages")] = False,
) -> Told:
    """Say what there is, read every session and every memory, and report what is damaged.

    Exit code 1 if something is and stays so.
    """
    saver, _ = opened
    held, open_to_readers = _held(saver), in_the_open(saver.database.encryption)
    memories, refused, damages = examine_memories(saver.database), examine_beside(saver), examine(saver)
    broken = dict.fromkeys(damage.session_id for damage in damages)
    outcomes = {each: _rebuilt(saver, each) for each in broken} if rebuild else {}
    rebuilt = [each for each, (is_rebuilt, _) in outcomes.items() if is_rebuilt]
    is_sound = not (broken.keys() - set(rebuilt) or memories or refused)
    lines = [f"{what:9} {is_there}" for what, is_there in held.items()]
    lines += [f"{row.row_id}  {row.kind} of {masked(row.owner)}: not what was written" for row in memories]
    lines += [f"{masked(each.thread)}  {each.why}" for each in refused]
    lines += [f"{damage.session_id}  {damage.what}: {damage.why}" for damage in damages]
    if not damages:
        lines.append("every session can be read")
    elif not rebuild:
        lines.append("run `langmem doctor --rebuild` to rebuild these sessions from their messages")
    lines += [told for _, told in outcomes.values()]
    if open_to_readers:
        lines.append(open_to_readers)
    if memories:
        lines.append("restore memories from a backup, or forget them; vectors are made anew when they are next read")
    document = {
        "sound": is_sound,
        "held": held,
        "in_the_open": open_to_readers,
        "memories": [{"id": row.row_id, "kind": row.kind, "owner": masked(row.owner)} for row in memories],
        "beside": [{"chat": masked(each.thread), "why": each.why} for each in refused],
        "sessions": [{"id": each.session_id, "what": each.what, "why": str(each.why)} for each in damages],
        "rebuilt": rebuilt,
    }
    return Told(document, lines, failed=not is_sound)


def _held(saver: ConversationSaver) -> dict[str, str]:
    """Return in words what the database holds."""
    database, counted = saver.database, {}
    with database.read() as connection:
        for table in (session, message, memory_table):
            counted[table] = connection.execute(select(func.count()).select_from(table)).scalar_one()
        people = connection.execute(select(func.count(memory_table.c.owner.distinct()))).scalar_one()
        states = connection.execute(select(extraction_job.c.state, func.count()).group_by(extraction_job.c.state)).all()
    file, size = database.path, ""
    if file is not None:
        free = shutil.disk_usage(file.parent).free
        size = f", {file.stat().st_size / 1e6:,.1f} MB, {free / 1e9:,.1f} GB free"
    talks = f"{counted[session]} sessions, {counted[message]} messages"
    return {
        "database": f"{shown(database.url)}{size}",
        "holds": f"{talks}, {counted[memory_table]} memories of {people} people",
        "read": ", ".join(f"{count} {state}" for state, count in states) or "nothing said waits to be read",
    }


def _rebuilt(saver: ConversationSaver, session_id: str) -> tuple[bool, str]:
    """Tell whether the session was rebuilt, and in words what became of it."""
    try:
        kept, lost = rebuild_session(saver, session_id)
    except TypeNotAllowed:
        return False, f"{session_id} left as it is: allow the type it holds, or purge it"
    except SessionRefused:
        told = f"{session_id} left as it is: bring back the key database that it was written with, or purge it"
        return False, told
    return True, f"{session_id} rebuilt: {kept} messages kept, {lost} lost"
