"""`langmem expire`, `sweep` and `doctor`: what an operator runs from time to time."""

from dataclasses import asdict
from shutil import disk_usage
from typing import Annotated, NamedTuple

import typer
from sqlalchemy import func, select

from langmem_plugin.cli.opening import Config, Url, in_force, opened, quiet
from langmem_plugin.cli.printing import Json, print_json, say
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.session_manager import SessionManager
from langmem_plugin.conversation.storage.conversation_doctor import examine, examine_beside
from langmem_plugin.conversation.storage.conversation_doctor import rebuild as rebuild_session
from langmem_plugin.database.conversation_tables import message, session
from langmem_plugin.database.memory_tables import memory
from langmem_plugin.database.opening import in_the_open
from langmem_plugin.database.urls import shown
from langmem_plugin.database.writing_tables import extraction_job
from langmem_plugin.errors import SessionRefused, TypeNotAllowed
from langmem_plugin.identifiers import masked
from langmem_plugin.memory.keep.memory_doctor import examine as examine_memories


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
    """What there is, in words."""
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
    """Of rebuilding a session."""

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
